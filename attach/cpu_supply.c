/* SPDX-License-Identifier: Apache-2.0 */
#include "attach/cpu_supply.h"

#include "attach/cgroup_folder.h"
#include "common/clock.h"

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* From here on a count is one that nobody has waited for. */
#define COUNT_MAX (UINT64_MAX / NS_PER_SECOND)

uint64_t cpu_supply_throttled_ns(const char *text)
{
	uint64_t us = cgroup_line_value(text, "throttled_usec");

	if (us)
		return us < COUNT_MAX ? us * NS_PER_US : 0;
	return cgroup_line_value(text, "throttled_time");
}

void cpu_supply_machine(const char *text, uint64_t ticks_per_second, uint64_t *ret_idle_ns,
			uint64_t *ret_all_ns)
{
	/* user nice system idle iowait irq softirq steal; guests are part of user. */
	uint64_t ticks[8] = { 0 }, all = 0;
	const char *at = text + 3;

	*ret_idle_ns = *ret_all_ns = 0;
	if (strncmp(text, "cpu ", 4) != 0 || !ticks_per_second)
		return;
	for (size_t i = 0; i < 8; i++) {
		char *end;

		ticks[i] = strtoull(at, &end, 10);
		if (end == at || ticks[i] >= COUNT_MAX / 8)
			return;
		at = end;
		all += ticks[i];
	}
	*ret_idle_ns = (ticks[3] + ticks[4]) * (NS_PER_SECOND / ticks_per_second);
	*ret_all_ns = all * (NS_PER_SECOND / ticks_per_second);
}

static void take_throttled(void *context, const struct cgroup_folder *folder)
{
	uint64_t *most_ns = context, ns;
	char text[CGROUP_FILE_SIZE];

	if (!cgroup_folder_read(folder, "cpu.stat", text))
		return;
	ns = cpu_supply_throttled_ns(text);
	*most_ns = ns > *most_ns ? ns : *most_ns;
}

struct runtime_search {
	char *path;
	size_t path_size;
	bool none;
};

/* Version 2 has no such file. */
static void look_for_runtime(void *context, const struct cgroup_folder *folder)
{
	struct runtime_search *search = context;
	char text[CGROUP_FILE_SIZE];

	if (search->none || !folder->own || folder->version != 1 ||
	    !cgroup_folder_read(folder, "cpu.rt_runtime_us", text) || strcmp(text, "0\n") != 0)
		return;
	search->none = (size_t)snprintf(search->path, search->path_size, "%s/cpu.rt_runtime_us",
					folder->path) < search->path_size;
}

bool cpu_supply_realtime_refused(pid_t pid, char *path, size_t path_size)
{
	struct runtime_search search = { path, path_size, false };

	cgroup_folders_visit(pid, "cpu", look_for_runtime, &search);
	return search.none;
}

void cpu_supply_read(pid_t pid, struct cpu_supply *ret_supply)
{
	const struct cgroup_folder proc = { .path = "/proc" };
	char text[CGROUP_FILE_SIZE];
	long ticks = sysconf(_SC_CLK_TCK);

	*ret_supply = (struct cpu_supply){ 0 };
	cgroup_folders_visit(pid, "cpu", take_throttled, &ret_supply->throttled_ns);
	/* The first line is all that is needed. */
	if (ticks > 0 && cgroup_folder_read(&proc, "stat", text))
		cpu_supply_machine(text, (uint64_t)ticks, &ret_supply->idle_ns,
				   &ret_supply->all_ns);
}

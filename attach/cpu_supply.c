/* SPDX-License-Identifier: Apache-2.0 */
#include "attach/cpu_supply.h"

#include "attach/procfs.h"
#include "common/clock.h"

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* Of cpu.stat, and of /proc/stat, whose first line is all that is needed. */
#define STAT_BYTES_MAX 4096
#define PATH_BYTES_MAX 2048
/* From here on a count is one that nobody has waited for. */
#define COUNT_MAX (UINT64_MAX / NS_PER_SECOND)

/* Where the hierarchy with the controller is; of version 2 behind "0::". */
static const char *const mounts_v2[] = { "/sys/fs/cgroup", "/sys/fs/cgroup/unified", NULL };
static const char *const mounts_v1[] = { "/sys/fs/cgroup/cpu", "/sys/fs/cgroup/cpu,cpuacct",
					 "/sys/fs/cgroup/cpuacct,cpu", NULL };

static uint64_t line_value(const char *text, const char *name)
{
	size_t length = strlen(name);

	for (const char *line = text; line; line = strchr(line, '\n')) {
		line += *line == '\n';
		if (!strncmp(line, name, length) && line[length] == ' ')
			return strtoull(line + length, NULL, 10);
	}
	return 0;
}

uint64_t cpu_supply_throttled_ns(const char *text)
{
	uint64_t us = line_value(text, "throttled_usec");

	if (us)
		return us < COUNT_MAX ? us * NS_PER_US : 0;
	return line_value(text, "throttled_time");
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

/* The first bytes of a small file as a string; false: it cannot be read. */
static bool read_stat(const char *path, char text[STAT_BYTES_MAX])
{
	FILE *file = fopen(path, "re");
	size_t size;

	if (!file)
		return false;
	size = fread(text, 1, STAT_BYTES_MAX - 1, file);
	fclose(file);
	text[size] = '\0';
	return size > 0;
}

/*
 * As much of the group's path as leads somewhere below the mount. In a container without a
 * namespace of groups the path begins further out than what is mounted: at the host's root.
 */
static const char *seen_from_here(const char *mount, const char *group)
{
	char path[PATH_BYTES_MAX];

	for (const char *rest = group; rest; rest = strchr(rest + 1, '/'))
		if (snprintf(path, sizeof(path), "%s%s", mount, rest) < (int)sizeof(path) &&
		    !access(path, F_OK))
			return rest;
	return "";
}

/* Of the group and all above it. */
static uint64_t most_throttled(const char *mount, const char *group)
{
	char path[PATH_BYTES_MAX], file[PATH_BYTES_MAX + 16], text[STAT_BYTES_MAX];
	uint64_t most_ns = 0;

	if (snprintf(path, sizeof(path), "%s%s", mount, seen_from_here(mount, group)) >=
	    (int)sizeof(path))
		return 0;
	do {
		snprintf(file, sizeof(file), "%s/cpu.stat", path);
		if (read_stat(file, text)) {
			uint64_t ns = cpu_supply_throttled_ns(text);

			most_ns = ns > most_ns ? ns : most_ns;
		}
		*strrchr(path, '/') = '\0';
	} while (strlen(path) >= strlen(mount));
	return most_ns;
}

static bool has_controller(const char *controllers, const char *end)
{
	while (controllers < end) {
		size_t length = strcspn(controllers, ",:");

		if (length == 3 && !strncmp(controllers, "cpu", 3))
			return true;
		controllers += length + 1;
	}
	return false;
}

/*
 * Of a line of /proc/PID/cgroup, "ID:CONTROLLERS:PATH", the path, and where it may be
 * mounted. NULL: it is not about the CPU, or leads nowhere that is known.
 */
static const char *find_group(const char *line, const char *const **ret_mounts)
{
	const char *controllers = strchr(line, ':');
	const char *group = controllers ? strchr(controllers + 1, ':') : NULL;

	/* A path out of the namespace of groups. */
	if (!group || group[1] != '/' || strstr(group, "/../") || strstr(group, "/./"))
		return NULL;
	if (!strncmp(line, "0::", 3))
		*ret_mounts = mounts_v2;
	else if (has_controller(controllers + 1, group))
		*ret_mounts = mounts_v1;
	else
		return NULL;
	return group + 1;
}

static uint64_t line_throttled(const char *line)
{
	const char *const *mounts;
	const char *group = find_group(line, &mounts);
	uint64_t most_ns = 0;

	for (; group && *mounts; mounts++) {
		uint64_t ns = most_throttled(*mounts, group);

		most_ns = ns > most_ns ? ns : most_ns;
	}
	return most_ns;
}

/* Lines, as one string. */
static bool read_groups(pid_t pid, char groups[PROCFS_CGROUPS_MAX])
{
	size_t size;

	if (procfs_read_cgroups(pid, groups, &size))
		return false;
	groups[size < PROCFS_CGROUPS_MAX ? size : PROCFS_CGROUPS_MAX - 1] = '\0';
	return true;
}

static bool has_no_runtime(const char *mount, const char *group, char *path, size_t path_size)
{
	char text[STAT_BYTES_MAX];

	return (size_t)snprintf(path, path_size, "%s%s/cpu.rt_runtime_us", mount,
				seen_from_here(mount, group)) < path_size &&
	       read_stat(path, text) && !strcmp(text, "0\n");
}

bool cpu_supply_realtime_refused(pid_t pid, char *path, size_t path_size)
{
	char groups[PROCFS_CGROUPS_MAX], *saved = NULL;

	if (!read_groups(pid, groups))
		return false;
	for (char *line = strtok_r(groups, "\n", &saved); line;
	     line = strtok_r(NULL, "\n", &saved)) {
		const char *const *mounts;
		const char *group = find_group(line, &mounts);

		/* Version 2 has no such file. */
		if (!group || mounts != mounts_v1)
			continue;
		for (; *mounts; mounts++)
			if (has_no_runtime(*mounts, group, path, path_size))
				return true;
	}
	return false;
}

void cpu_supply_read(pid_t pid, struct cpu_supply *ret_supply)
{
	char groups[PROCFS_CGROUPS_MAX], text[STAT_BYTES_MAX], *saved = NULL;
	long ticks = sysconf(_SC_CLK_TCK);

	*ret_supply = (struct cpu_supply){ 0 };
	if (read_groups(pid, groups)) {
		for (char *line = strtok_r(groups, "\n", &saved); line;
		     line = strtok_r(NULL, "\n", &saved)) {
			uint64_t ns = line_throttled(line);

			if (ns > ret_supply->throttled_ns)
				ret_supply->throttled_ns = ns;
		}
	}
	if (ticks > 0 && read_stat("/proc/stat", text))
		cpu_supply_machine(text, (uint64_t)ticks, &ret_supply->idle_ns,
				   &ret_supply->all_ns);
}

/* SPDX-License-Identifier: Apache-2.0 */
/* Of mpi_probes.h: page faults, which the kernel's counters report to a program of ours. */
#include "attach/mpi_probes.h"
#include "attach/mpi_probes_parts.h"

#include <bpf/bpf.h>
#include <bpf/libbpf.h>
#include <errno.h>
#include <linux/perf_event.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

/* What is counted, the program that is called each time, and what it is told. */
static const struct counted {
	uint64_t config;
	const char *program;
	uint64_t cookie;
} counted[] = {
	/* The ends first: what begins then is also seen to end. */
	{ PERF_COUNT_SW_PAGE_FAULTS_MIN, "on_fault_end", FAULT_MINOR },
	{ PERF_COUNT_SW_PAGE_FAULTS_MAJ, "on_fault_end", FAULT_MAJOR },
	{ PERF_COUNT_SW_PAGE_FAULTS, "on_fault_begin", 0 },
};

#define COUNTED (sizeof(counted) / sizeof(counted[0]))

int mpi_probes_choose_faults(struct mpi_probes *probes)
{
	for (size_t i = 1; i < COUNTED; i++) {
		struct bpf_program *program =
			bpf_object__find_program_by_name(probes->object, counted[i].program);
		int error =
			program ? bpf_program__set_autoload(program, probes->faults >= 0) : -ENOENT;

		if (error)
			return error;
	}
	return 0;
}

/* On one processor. The descriptor that keeps it, or a negative errno. */
static int open_counter(const struct mpi_probes *probes, const struct counted *what, int processor)
{
	/* Never with PERF_SAMPLE_PERIOD: attach/clock_hub.c. */
	struct perf_event_attr attributes = {
		.size = sizeof(attributes),
		.type = PERF_TYPE_SOFTWARE,
		.config = what->config,
		.sample_period = 1,
		.exclude_hv = 1,
	};
	DECLARE_LIBBPF_OPTS(bpf_link_create_opts, options, .perf_event.bpf_cookie = what->cookie);
	const struct bpf_program *program =
		bpf_object__find_program_by_name(probes->object, what->program);
	long event =
		syscall(SYS_perf_event_open, &attributes, -1, processor, -1, PERF_FLAG_FD_CLOEXEC);
	int link;

	if (event < 0)
		return -errno;
	link = bpf_link_create(bpf_program__fd(program), (int)event, BPF_PERF_EVENT, &options);
	/* The link holds the event. */
	close((int)event);
	return link;
}

static int open_counters(struct mpi_probes *probes, int processors)
{
	probes->fault_links = calloc((size_t)processors * COUNTED, sizeof(probes->fault_links[0]));
	if (!probes->fault_links)
		return -ENOMEM;
	for (size_t i = 0; i < COUNTED; i++)
		for (int processor = 0; processor < processors; processor++) {
			int link = open_counter(probes, &counted[i], processor);

			/* One that is offline. */
			if (link == -ENODEV || link == -ENXIO)
				continue;
			if (link < 0)
				return link;
			probes->fault_links[probes->fault_link_count++] = link;
		}
	return 0;
}

int mpi_probes_find_faults(struct mpi_probes *probes)
{
	int processors = libbpf_num_possible_cpus();

	if (probes->faults < 0)
		return 0;
	probes->fault_targets_fd = bpf_object__find_map_fd_by_name(probes->object, "fault_targets");
	if (probes->fault_targets_fd < 0)
		return -ENOENT;
	return processors > 0 ? open_counters(probes, processors) : -ENODEV;
}

void mpi_probes_end_faults(struct mpi_probes *probes)
{
	for (size_t i = 0; i < probes->fault_link_count; i++)
		close(probes->fault_links[i]);
	free(probes->fault_links);
	probes->fault_links = NULL;
	probes->fault_link_count = 0;
}

int mpi_probes_add_faults(struct mpi_probes *probes, unsigned slot, pid_t pid)
{
	uint32_t key = (uint32_t)pid, place;

	if (probes->faults < 0)
		return -ENOTSUP;
	place = (uint32_t)probe_cookie(slot, (unsigned)probes->faults);
	if (bpf_map_update_elem(probes->fault_targets_fd, &key, &place, BPF_ANY))
		return -errno;
	probes->processes[slot].faults_of = key;
	return 0;
}

void mpi_probes_remove_faults(struct mpi_probes *probes, unsigned slot)
{
	uint32_t *key = &probes->processes[slot].faults_of;

	if (*key)
		(void)bpf_map_delete_elem(probes->fault_targets_fd, key);
	*key = 0;
}

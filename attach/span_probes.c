/* SPDX-License-Identifier: Apache-2.0 */
/* Of mpi_probes.h: functions that are not MPI's, and what lies between two places. */
#include "attach/mpi_probes.h"
#include "attach/mpi_probes_parts.h"
#include "common/array.h"

#include <bpf/bpf.h>
#include <bpf/libbpf.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* struct span_key of bpf/span.h */
#define SPAN_KEY_BYTES 16

int mpi_probes_find_spans(struct mpi_probes *probes)
{
	struct bpf_program *begin =
		bpf_object__find_program_by_name(probes->object, "on_span_begin");
	struct bpf_program *end = bpf_object__find_program_by_name(probes->object, "on_span_end");

	probes->spans_fd = bpf_object__find_map_fd_by_name(probes->object, "spans");
	probes->configs_fd = bpf_object__find_map_fd_by_name(probes->object, "span_configs");
	probes->counters_fd = bpf_object__find_map_fd_by_name(probes->object, "span_counters");
	if (!begin || !end || probes->spans_fd < 0 || probes->configs_fd < 0 ||
	    probes->counters_fd < 0)
		return -ENOENT;
	probes->begin_fd = bpf_program__fd(begin);
	probes->end_fd = bpf_program__fd(end);
	return 0;
}

int mpi_probes_configure_span(struct mpi_probes *probes, unsigned span, uint64_t least_ns)
{
	const struct span_config config = { .least_ns = least_ns };

	if (span >= SPANS_MAX)
		return -E2BIG;
	return bpf_map_update_elem(probes->configs_fd, &span, &config, BPF_ANY) ? -errno : 0;
}

/* The end first: what begins then is also seen to end. */
int mpi_probes_add_span(struct mpi_probes *probes, unsigned slot, pid_t pid, int fd,
			const struct span_place *place, unsigned span)
{
	struct probed_process *process = &probes->processes[slot];
	uint64_t cookie = probe_cookie(slot, span) | (place->between ? SPAN_AT_PLACES : 0);
	char path[PROBE_PATH_BYTES];

	if (span >= SPANS_MAX)
		return -E2BIG;
	probe_path(fd, path);
	for (int i = 1; i >= 0; i--) {
		uint64_t offset = i && place->between ? place->end : place->begin;
		const uint64_t *counter = place->counters[i] ? &place->counters[i] : NULL;
		const struct probe probe = { .pid = pid,
					     .path = path,
					     .program_fd = i ? probes->end_fd : probes->begin_fd,
					     .at_return = i && !place->between };
		int link;

		if (!ARRAY_ROOM(process->spans, process->span_count, process->span_capacity))
			return -ENOMEM;
		link = mpi_probes_open(probes, &probe, &offset, &cookie, counter, 1);
		if (link < 0) {
			mpi_probes_remove_span(probes, slot, span);
			return link;
		}
		process->spans[process->span_count++] = (struct span_link){ link, span };
	}
	return 0;
}

void mpi_probes_remove_span(struct mpi_probes *probes, unsigned slot, unsigned span)
{
	struct probed_process *process = &probes->processes[slot];
	size_t kept = 0;

	for (size_t i = 0; i < process->span_count; i++) {
		if (process->spans[i].span != span)
			process->spans[kept++] = process->spans[i];
		else
			close(process->spans[i].fd);
	}
	process->span_count = kept;
}

struct span_counts mpi_probes_span_counts(const struct mpi_probes *probes, unsigned slot,
					  unsigned span)
{
	uint32_t key = slot * SPANS_MAX + span;
	struct span_counts counts;

	if (slot >= MPI_TARGETS_MAX || span >= SPANS_MAX ||
	    bpf_map_lookup_elem(probes->counters_fd, &key, &counts))
		return (struct span_counts){ 0 };
	return counts;
}

void mpi_probes_read_open_spans(const struct mpi_probes *probes, const struct mpi_taker *taker,
				uint64_t now_ns)
{
	uint8_t key[SPAN_KEY_BYTES], next[SPAN_KEY_BYTES];
	void *last = NULL;

	for (unsigned i = 0;
	     i < CALLS_OPEN_MAX && !bpf_map_get_next_key(probes->spans_fd, last, next); i++) {
		struct span_record span;

		memcpy(key, next, sizeof(key));
		last = key;
		if (bpf_map_lookup_elem(probes->spans_fd, key, &span))
			continue;
		span.end_ns = now_ns;
		span.flags |= SPAN_IS_OPEN;
		taker->span(taker->context, &span);
	}
}

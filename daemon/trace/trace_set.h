/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Traces of several nodes, or of single processes, as one: read from their files
 * (trace_recording.h), with the clocks of the nodes aligned (clock_alignment.h). Events go to files
 * without names again (trace_file.h), never all into memory. The files are hostile input.
 */
#ifndef PIEPROFD_DAEMON_TRACE_TRACE_SET_H
#define PIEPROFD_DAEMON_TRACE_TRACE_SET_H

#include "common/error.h"
#include "daemon/trace/clock_alignment.h"
#include "daemon/trace/trace.h"

#define TRACE_SET_PROCESSES_MAX 65536
/* Of all processes together: 16 GB of files without names. */
#define TRACE_SET_EVENTS_MAX 200000000

struct trace_set {
	struct trace trace;
	struct call_paths paths;
	struct span_list spans;
	struct trace_node *nodes;
	size_t node_count, node_capacity;
	uint32_t *node_of; /* by process */
	size_t process_capacity, node_of_capacity;
	struct mpi_library **libraries;
	size_t library_count, library_capacity;
	struct clock_alignment clocks;
	uint64_t events_left;
	bool pids_differ; /* from those that processes had: two nodes had the same */
};

/* 0, or -1 with *error filled; deinit in any case. */
__attribute__((warn_unused_result)) int trace_set_read(struct trace_set *set,
						       const char *const *paths, size_t count,
						       struct error *error);
void trace_set_deinit(struct trace_set *set);

#endif

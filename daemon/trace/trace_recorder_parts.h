/* SPDX-License-Identifier: Apache-2.0 */
/* Between trace_recorder.c and trace_taker.c: what a recorder is made of. */
#ifndef PIEPROFD_DAEMON_TRACE_TRACE_RECORDER_PARTS_H
#define PIEPROFD_DAEMON_TRACE_TRACE_RECORDER_PARTS_H

#include "attach/mpi_probes.h"
#include "common/pid_list.h"
#include "daemon/trace/library_list.h"
#include "daemon/trace/trace.h"

struct candidate;

struct trace_recorder {
	struct impersonator *impersonator;
	const struct span_list *spans;
	struct mpi_probes *probes;
	struct trap_cost trap_cost; /* where functions are traced */
	struct library_list libraries;
	struct candidate *candidates;
	size_t candidate_count, candidate_capacity;
	struct trace_process **processes;
	size_t process_count, process_capacity;
	struct trace_process *by_slot[MPI_TARGETS_MAX];
	pid_t followed;   /* 0: none */
	uint64_t look_ns; /* when /proc is looked at again */
	struct pid_list found;
	struct call_paths paths;
	uint64_t began_ns;
	uint64_t events_left; /* that are kept, of all processes */
	uint64_t refused;
	struct error refusal;
	uint64_t spans_refused; /* in processes that a launcher started */
	struct error span_refusal;
};

/* Gives what the probes report to the processes of the recorder. */
struct mpi_taker trace_taker(struct trace_recorder *recorder);

/* All that has been reported; waits so long when that is nothing. */
void trace_recorder_take(struct trace_recorder *recorder, int timeout_ms);

#endif

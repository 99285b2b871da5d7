/* SPDX-License-Identifier: Apache-2.0 */
/* A trace that is complete: its processes, each with its events. What writers and analysis read. */
#ifndef PIEPROFD_DAEMON_TRACE_TRACE_H
#define PIEPROFD_DAEMON_TRACE_TRACE_H

#include "daemon/trace/call_path.h"
#include "daemon/trace/counter_watch.h"
#include "daemon/trace/function_watch.h"
#include "daemon/trace/mpi_decoder.h"
#include "daemon/trace/span_watch.h"
#include "daemon/trace/trace_file.h"
#include "daemon/trace/trace_node.h"

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

struct trace_process {
	pid_t pid;
	uint64_t start_time; /* as of procfs_read_times() */
	int32_t rank;        /* as the launcher has numbered it, else in order of pid */
	int32_t size;        /* of its job; 0: not known */
	bool rank_known;
	bool from_beginning; /* no message can have been sent or received before */
	bool ended;          /* before the trace did */
	uint64_t begin_ns;   /* recorded since then */
	uint64_t end_ns;
	uint64_t calls;
	uint64_t open_calls;
	uint64_t span_events;
	char name[64];                     /* what it runs, such as "python3 solve.py" */
	const struct mpi_library *library; /* NULL: none was found in it */
	unsigned slot;
	struct mpi_target counts; /* of the program in the kernel, at the end */
	struct mpi_decoder decoder;
	struct trace_file file;
	uint64_t *events_left;           /* of the whole trace; borrowed */
	struct path_reader *path_reader; /* NULL: its Python lines are not read, or not yet */
	uint64_t python_next_ns, python_pause_ns; /* when that is tried again */
	struct span_watch spans[SPANS_MAX];       /* as the trace has them */
	struct function_watch functions;          /* of Python */
	struct counter_watch counters;
	uint64_t spans_next_ns, spans_pause_ns; /* when what is not loaded is sought again */
	bool complete;                          /* nothing is sought */
};

struct clock_alignment;

struct trace {
	struct trace_process **processes; /* by rank */
	size_t count;
	bool ranks_known; /* of all of them */
	uint64_t begin_ns, end_ns;
	struct trace_node node; /* where it was recorded */
	/* All is there from the beginning, and clocks are of several nodes: what belongs together
	 * is told by its order alone. */
	bool by_order;
	/* Of a trace that was merged; NULL: of one machine. Borrowed. */
	const struct clock_alignment *clocks;
	const struct trace_node *nodes; /* as clocks has them */
	const struct call_paths *paths; /* borrowed; NULL: none were read */
	const struct span_list *spans;  /* borrowed; NULL: none were asked for */
};

/* Sorts them. Of two that have the same rank, say of two jobs, neither's is known, and all are
 * numbered in that order. */
void trace_number_ranks(struct trace *trace);

/* What a TRACE_SPAN is of; NULL: its number is none. */
const struct span *trace_span(const struct trace *trace, const struct trace_event *event);

/* How people call an event of a span: its name, that of the Python function, or why the thread is
 * off the processor, in words that are put together there. */
const char *trace_span_name(const struct trace *trace, const struct span *span,
			    const struct trace_event *event, char words[static SPAN_NAME_BYTES]);

/* "rank 3: python3 solve.py", or without the rank where there is no MPI. The name is the target's.
 */
void trace_process_title(const struct trace_process *process, char *ret_title, size_t size);

/* Of the first process that has one; NULL: none calls MPI. */
const struct mpi_library *trace_library(const struct trace *trace);

#endif

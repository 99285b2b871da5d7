/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What a trace says of a parallel program, by the POP project's metrics (pop-coe.eu,
 * "Multiplicative metrics"): useful time is what a rank spends outside of MPI.
 *
 *   load balance              = average useful time / largest useful time
 *   communication efficiency  = largest useful time / run time
 *   parallel efficiency       = their product
 *
 * Communication efficiency is split in serialisation and transfer by ideal_run.h, all but that by
 * region in trace_region.h.
 *
 * All is of the time in which every rank ran: from when the last one had left MPI_Init (where that
 * was not seen, from its first call) to when the first one called MPI_Finalize, or ended. A rank's
 * time in MPI is that of the thread that spent most in it. Pure.
 */
#ifndef PIEPROFD_DAEMON_TRACE_TRACE_ANALYSIS_H
#define PIEPROFD_DAEMON_TRACE_TRACE_ANALYSIS_H

#include "daemon/trace/collective.h"
#include "daemon/trace/counter_analysis.h"
#include "daemon/trace/detail_analysis.h"
#include "daemon/trace/function_analysis.h"
#include "daemon/trace/ideal_run.h"
#include "daemon/trace/message.h"
#include "daemon/trace/span_analysis.h"
#include "daemon/trace/sum_table.h"
#include "daemon/trace/trace.h"
#include "daemon/trace/trace_region.h"
#include "daemon/trace/wait_blame.h"

#define TRACE_SIZES_MAX 12 /* powers of ten: 0, 1 to 9, 10 to 99 bytes ... */

struct rank_figures {
	bool called;        /* MPI, at all: the others are not judged */
	uint32_t thread;    /* that is meant */
	unsigned threads;   /* that called MPI */
	uint64_t mpi_ns;    /* in the time that all ran */
	uint64_t useful_ns; /* the rest of it */
	uint64_t calls;
	uint64_t waits_ns;      /* for others */
	uint64_t waited_for_ns; /* by others */
	uint64_t holds_up_ns;   /* others, itself or through those who waited for it */
	uint64_t sent, sent_bytes, received;
};

/* Of calls, of all ranks. */
struct call_sums {
	uint64_t calls, ns, longest_ns, bytes;
	uint64_t waits_ns; /* of it: for others */
};

struct function_figures {
	uint16_t function;
	struct call_sums sums;
};

/* By MPI function and the Python lines from which it was called. */
struct path_figures {
	uint32_t path; /* of call_path.h; CALL_PATH_NONE: not known */
	uint16_t function;
	struct call_sums sums;
};

/* Who waited for whom, in receives or in collective operations. */
struct wait_figures {
	uint32_t who, whom; /* places of the processes in the trace */
	uint16_t function;
	uint32_t path, late_path; /* of the call that waited, and of what it waited for */
	uint64_t count, ns;
};

struct size_figures {
	uint64_t messages, bytes;
};

struct trace_analysis {
	const struct trace *trace;
	struct communicators communicators;
	struct messages messages;
	struct collectives collectives;
	struct span_analysis spans;
	struct detail_analysis switches, faults;
	struct counter_analysis counters;
	struct function_analysis python;
	uint64_t begin_ns, end_ns;  /* of the time that all ran; equal: there was none */
	struct rank_figures *ranks; /* as the trace has its processes */
	size_t judged;              /* of them */
	double load_balance, communication_efficiency, parallel_efficiency;
	struct ideal_run ideal;
	struct trace_regions regions;
	double serialisation_efficiency, transfer_efficiency; /* where the ideal run is known */
	struct function_figures *functions;                   /* the one that took longest first */
	size_t function_count;
	struct path_figures *paths; /* likewise */
	size_t path_count, path_capacity;
	struct sum_table paths_found, waits_found; /* which are there */
	struct wait_figures *waits;                /* likewise */
	size_t wait_count, wait_capacity;
	struct wait_list wait_list; /* one by one */
	struct size_figures sizes[TRACE_SIZES_MAX];
	uint64_t calls, mpi_ns, waits_ns;
	bool from_beginning; /* of all ranks */
	bool failed;         /* no memory */
	/* What is missing. */
	uint64_t unknown_paths; /* calls */
	uint64_t unrecorded_calls, left_out_events, left_out_requests;
};

/* trace is borrowed. 0 or -ENOMEM; deinit in any case. */
__attribute__((warn_unused_result)) int trace_analysis_init(struct trace_analysis *analysis,
							    const struct trace *trace);
void trace_analysis_deinit(struct trace_analysis *analysis);

/* The rank that held others up the most; its place, or SIZE_MAX: nobody waited. */
size_t trace_analysis_latest(const struct trace_analysis *analysis);

#endif

/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What a trace says of what the kernel notes of threads: that they are off the processor, or that
 * it serves a page fault of theirs. For how long, by the detail that the kernel gives (why, which
 * kind), by the Python lines at which it was, and by thread. Pure.
 */
#ifndef PIEPROFD_DAEMON_TRACE_DETAIL_ANALYSIS_H
#define PIEPROFD_DAEMON_TRACE_DETAIL_ANALYSIS_H

#include "daemon/trace/span_analysis.h"

/* Of one reason, in all threads. */
struct detail_reason {
	int32_t detail; /* of span_record.h: a system call's number, SWITCH_..., FAULT_... */
	struct span_sums sums;
};

/* Of one reason and the lines at which it was. */
struct detail_path {
	int32_t detail;
	uint32_t path; /* of call_path.h; CALL_PATH_NONE: not known */
	struct span_sums sums;
};

/* Of one thread, for all reasons, or one of them. */
struct detail_thread {
	uint32_t process; /* place in the trace */
	uint32_t thread;
	int32_t detail;
	struct span_sums sums;
};

struct detail_analysis {
	enum span_kind kind;
	int span; /* of the trace's list; -1: that was not traced */
	struct span_sums sums;
	struct detail_reason *reasons; /* the longest first */
	size_t reason_count, reason_capacity;
	struct detail_path *paths; /* likewise */
	size_t path_count, path_capacity;
	struct detail_thread *threads; /* likewise: each with all reasons */
	size_t thread_count, thread_capacity;
	struct detail_thread *parts; /* likewise: with one */
	size_t part_count, part_capacity;
	struct sum_table reasons_found, paths_found, threads_found, parts_found;
};

/* 0 or -ENOMEM; deinit in any case. */
__attribute__((warn_unused_result)) int detail_analysis_init(struct detail_analysis *analysis,
							     const struct trace *trace,
							     enum span_kind kind);
void detail_analysis_deinit(struct detail_analysis *analysis);

#endif

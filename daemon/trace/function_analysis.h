/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What a trace says of Python functions: how often each was called, its time, and what of that it
 * did not spend in others that were traced. Pure.
 */
#ifndef PIEPROFD_DAEMON_TRACE_FUNCTION_ANALYSIS_H
#define PIEPROFD_DAEMON_TRACE_FUNCTION_ANALYSIS_H

#include "daemon/trace/sum_table.h"
#include "daemon/trace/trace.h"

struct function_row {
	uint32_t path;       /* of call_path.h: the function itself */
	uint64_t calls;      /* that were seen to begin; of a generator, how often it went on */
	uint64_t raised;     /* left by an exception */
	uint64_t partly;     /* seen without their beginning or their end */
	uint64_t ns;         /* of calls in itself, the outermost one */
	uint64_t self_ns;    /* not in other functions that were traced */
	uint64_t longest_ns; /* of those seen whole */
};

struct function_analysis {
	int span;                  /* of the trace's list; -1: functions were not traced */
	struct function_row *rows; /* most time of their own first */
	size_t count, capacity;
	struct sum_table found;
	uint64_t calls;
	uint64_t self_ns;     /* of all: as long as threads were in any */
	uint64_t observed_ns; /* for which processes were watched */
	uint64_t asked_ns;    /* and would have been without a limit */
	uint64_t probes_ns;   /* what the probes took of the processes' time, by their number */
	uint64_t pauses;
	uint64_t unknown; /* calls of functions whose names could not be read */
	uint64_t crossed; /* events that do not lie in each other: none, or something is wrong */
	struct function_counts counts; /* of all processes */
};

/* 0 or -ENOMEM; deinit in any case. */
__attribute__((warn_unused_result)) int function_analysis_init(struct function_analysis *analysis,
							       const struct trace *trace);
void function_analysis_deinit(struct function_analysis *analysis);

#endif

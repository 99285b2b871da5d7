/* SPDX-License-Identifier: Apache-2.0 */
/* What a trace says of counters (counter_watch.h): sums, of all threads and of each. Pure. */
#ifndef PIEPROFD_DAEMON_TRACE_COUNTER_ANALYSIS_H
#define PIEPROFD_DAEMON_TRACE_COUNTER_ANALYSIS_H

#include "daemon/trace/sum_table.h"
#include "daemon/trace/trace.h"

struct counter_row {
	enum counter_kind kind;
	uint32_t process; /* place in the trace */
	uint32_t thread;
	uint64_t sum;
	uint64_t events;
};

struct counter_analysis {
	unsigned kinds; /* that there are, or were asked for; a bit each */
	uint64_t sums[COUNTER_KINDS];
	struct counter_row *rows; /* by kind, the most first */
	size_t count, capacity;
	uint64_t threads_left_out;
	struct sum_table found;
};

/* 0 or -ENOMEM; deinit in any case. */
__attribute__((warn_unused_result)) int counter_analysis_init(struct counter_analysis *analysis,
							      const struct trace *trace);
void counter_analysis_deinit(struct counter_analysis *analysis);

#endif

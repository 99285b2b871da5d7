/* SPDX-License-Identifier: Apache-2.0 */
/* Of trace_paraver.c and trace_paraver_labels.c: the numbers in Paraver's files, and what each is.
 */
#ifndef PIEPROFD_DAEMON_TRACE_TRACE_PARAVER_NUMBERS_H
#define PIEPROFD_DAEMON_TRACE_TRACE_PARAVER_NUMBERS_H

#include "attach/counter_set.h"
#include "daemon/trace/call_path.h"
#include "daemon/trace/span.h"
#include "daemon/trace/sum_table.h"

enum paraver_type {
	TYPE_POINT_TO_POINT = 50000001,
	TYPE_COLLECTIVE = 50000002,
	TYPE_OTHER = 50000003,
	TYPE_CALLER = 70000001,      /* the function that called it */
	TYPE_CALLER_LINE = 80000001, /* and its line */
	TYPE_USER_FUNCTION = 60000019,
	TYPE_PYTHON = 60000100,
	/* Extrae's of PAPI, which has the PMU's counters by these numbers. */
	TYPE_INSTRUCTIONS = 42000050,
	TYPE_CYCLES = 42000059,
	/* Not Extrae's. */
	TYPE_COLLECTION = 62000001,
	TYPE_GIL = 62000002,
	TYPE_SWITCH = 62000003,
	TYPE_FAULT = 62000004,
	TYPE_COUNTER = 62000010, /* and following: by kind of counter */
};

/* Of each path's own frame: numbers of its function and its line, by path. */
struct caller_numbers {
	uint32_t *functions, *lines;
	uint32_t count; /* 0: there are no paths */
	struct sum_table found_functions, found_lines;
};

/* Of a function of MPI, below mpi_function_count. */
enum paraver_type paraver_type(unsigned function);
enum paraver_type paraver_span_type(enum span_kind kind);
int paraver_counter_type(enum counter_kind kind);
/* Numbers of a kind's values; of what the interpreter does there is one, of reasons to be off the
 * processor, kinds of page faults and Python functions one each. */
uint64_t paraver_span_value(const struct span *span, unsigned number, int32_t detail);

/* 0 or -ENOMEM; deinit in any case. paths: NULL: there are none. */
__attribute__((warn_unused_result)) int caller_numbers_init(struct caller_numbers *callers,
							    const struct call_paths *paths);
void caller_numbers_deinit(struct caller_numbers *callers);

#endif

/* SPDX-License-Identifier: Apache-2.0 */
#include "daemon/trace/trace_paraver_numbers.h"

#include "daemon/trace/mpi_function.h"

#include <errno.h>
#include <stdlib.h>

enum paraver_type paraver_type(unsigned function)
{
	enum mpi_class class = mpi_functions[function].class;

	if (mpi_class_is_collective(class))
		return TYPE_COLLECTIVE;
	return class >= MPI_SEND && class <= MPI_FORGET ? TYPE_POINT_TO_POINT : TYPE_OTHER;
}

enum paraver_type paraver_span_type(enum span_kind kind)
{
	static const enum paraver_type types[] = { [SPAN_FUNCTION] = TYPE_USER_FUNCTION,
						   [SPAN_COLLECTION] = TYPE_COLLECTION,
						   [SPAN_GIL] = TYPE_GIL,
						   [SPAN_SWITCH] = TYPE_SWITCH,
						   [SPAN_FAULT] = TYPE_FAULT,
						   [SPAN_PYTHON] = TYPE_PYTHON };

	return types[kind];
}

int paraver_counter_type(enum counter_kind kind)
{
	return kind == COUNTER_INSTRUCTIONS ? (int)TYPE_INSTRUCTIONS
	       : kind == COUNTER_CYCLES     ? (int)TYPE_CYCLES
					    : (int)TYPE_COUNTER + (int)kind;
}

uint64_t paraver_span_value(const struct span *span, unsigned number, int32_t detail)
{
	if (span->kind == SPAN_SWITCH)
		return (uint64_t)((int64_t)detail - SWITCH_READY + 1);
	if (span->kind == SPAN_FAULT)
		return detail == FAULT_MAJOR ? 2 : 1;
	/* Its path. */
	if (span->kind == SPAN_PYTHON)
		return (uint32_t)detail;
	return span->kind == SPAN_FUNCTION ? number + 1 : 1;
}

/* ---- Python lines ---- */

void caller_numbers_deinit(struct caller_numbers *callers)
{
	free(callers->functions);
	free(callers->lines);
	sum_table_deinit(&callers->found_functions);
	sum_table_deinit(&callers->found_lines);
	*callers = (struct caller_numbers){ 0 };
}

/* From 1. A name is there once: its address tells it from others. */
static int number(struct sum_table *found, const char *file, const char *function, int line,
		  uint32_t *ret_number)
{
	uintptr_t a = (uintptr_t)file, b = (uintptr_t)function;
	const struct sum_key key = { { (uint32_t)a, (uint32_t)(a >> 32), (uint32_t)b,
				       (uint32_t)(b >> 32), (uint32_t)line } };
	size_t place;
	int error = sum_table_find(found, &key, &place);

	if (!error)
		*ret_number = (uint32_t)place + 1;
	return error;
}

int caller_numbers_init(struct caller_numbers *callers, const struct call_paths *paths)
{
	int error = 0;

	*callers = (struct caller_numbers){ 0 };
	if (!paths || !paths->count)
		return 0;
	callers->functions = calloc(paths->count, sizeof(callers->functions[0]));
	callers->lines = calloc(paths->count, sizeof(callers->lines[0]));
	if (!callers->functions || !callers->lines)
		return -ENOMEM;
	callers->count = paths->count;
	for (uint32_t i = 1; i < paths->count && !error; i++) {
		const struct call_frame *frame = call_paths_own(paths, i);

		error = number(&callers->found_functions, frame->file, frame->function, 0,
			       &callers->functions[i]);
		if (!error)
			error = number(&callers->found_lines, frame->file, NULL, frame->line,
				       &callers->lines[i]);
	}
	return error;
}

/* SPDX-License-Identifier: Apache-2.0 */
/* Of trace_recorder.h: what has been called, by records of the program in the kernel. */
#include "daemon/trace/path_reader.h"
#include "daemon/trace/trace_process.h"
#include "daemon/trace/trace_recorder_parts.h"

static void take_call(void *context, const struct mpi_record *call)
{
	struct trace_recorder *recorder = context;
	struct trace_process *process =
		call->slot < MPI_TARGETS_MAX ? recorder->by_slot[call->slot] : NULL;
	struct mpi_record known;

	if (!process)
		return;
	known = *call;
	known.path = process->path_reader ? path_reader_find(process->path_reader, call->path)
					  : CALL_PATH_NONE;
	mpi_decoder_call(&process->decoder, &known);
}

static void take_chunk(void *context, const struct mpi_chunk *chunk)
{
	struct trace_recorder *recorder = context;
	struct trace_process *process =
		chunk->slot < MPI_TARGETS_MAX ? recorder->by_slot[chunk->slot] : NULL;

	if (process && path_reader_wants(chunk)) {
		if (process->path_reader)
			path_reader_take(process->path_reader, chunk);
	} else if (process) {
		mpi_decoder_chunk(&process->decoder, chunk);
	}
}

static void take_span(void *context, const struct span_record *span)
{
	struct trace_recorder *recorder = context;
	struct trace_process *process =
		span->slot < MPI_TARGETS_MAX ? recorder->by_slot[span->slot] : NULL;

	if (!process || span->span >= recorder->spans->count || span->end_ns < span->begin_ns)
		return;
	trace_process_add(process, &(struct trace_event){
					   .begin_ns = span->begin_ns,
					   .end_ns = span->end_ns,
					   .wait_ns = span->begin_ns,
					   .thread = span->tid,
					   .kind = TRACE_SPAN,
					   .function = span->span,
					   .flags = span->flags & SPAN_IS_OPEN ? TRACE_OPEN : 0,
					   .peer = -1,
					   .tag = span->detail,
					   .path = process->path_reader
							   ? path_reader_find(process->path_reader,
									      span->path)
							   : CALL_PATH_NONE,
				   });
}

static void take_function(void *context, const struct function_record *function)
{
	struct trace_recorder *recorder = context;
	struct trace_process *process =
		function->slot < MPI_TARGETS_MAX ? recorder->by_slot[function->slot] : NULL;
	struct trace_event event;

	if (process && function_watch_event(&process->functions, function, &event))
		trace_process_add(process, &event);
}

static void take_code(void *context, const struct function_code_record *code)
{
	struct trace_recorder *recorder = context;
	struct trace_process *process =
		code->slot < MPI_TARGETS_MAX ? recorder->by_slot[code->slot] : NULL;

	if (process)
		function_watch_code(&process->functions, code);
}

struct mpi_taker trace_taker(struct trace_recorder *recorder)
{
	return (struct mpi_taker){ take_call,     take_chunk, take_span,
				   take_function, take_code,  recorder };
}

void trace_recorder_take(struct trace_recorder *recorder, int timeout_ms)
{
	const struct mpi_taker taker = trace_taker(recorder);

	mpi_probes_read(recorder->probes, &taker, timeout_ms);
}

/* SPDX-License-Identifier: Apache-2.0 */
/* Traces to test on: calls of ranks as the program in the kernel would report them. */
#ifndef PIEPROFD_TESTS_UNIT_TRACE_SAMPLE_H
#define PIEPROFD_TESTS_UNIT_TRACE_SAMPLE_H

#include "daemon/trace/mpi_function.h"
#include "daemon/trace/trace_analysis.h"
#include "tests/must.h"

#include <string.h>

#define SAMPLE_UNUSED __attribute__((unused)) static

#define SAMPLE_RANKS_MAX 8
#define SAMPLE_WORLD     0x7000
#define SAMPLE_SELF      0x7100
#define SAMPLE_NULL      0x7200
#define SAMPLE_DOUBLE    0x8000
#define SAMPLE_FUNCTION  0x100 /* address of every function, in the file and in the process */
#define ANY              (-1)

struct trace_sample {
	struct mpi_library library;
	struct trace_process processes[SAMPLE_RANKS_MAX];
	struct trace_process *pointers[SAMPLE_RANKS_MAX];
	struct trace trace;
	uint64_t events_left;
};

SAMPLE_UNUSED unsigned sample_function(const char *name)
{
	for (unsigned i = 0; i < mpi_function_count; i++)
		if (!strcmp(mpi_functions[i].name, name))
			return i;
	must(!"no such function");
	return 0;
}

SAMPLE_UNUSED void sample_take(void *context, const struct trace_event *event)
{
	struct trace_process *process = context;

	process->calls += event->kind == TRACE_CALL;
	trace_file_add(&process->file, event);
}

SAMPLE_UNUSED void sample_library(struct mpi_library *library, enum mpi_kind kind)
{
	*library = (struct mpi_library){
		.fd = -1,
		.kind = kind,
		.layout = { .handle_bytes = 8, .status_bytes = 24, .status_tag = 4, .limit = 5000 },
		.world_address = SAMPLE_WORLD,
		.self_address = SAMPLE_SELF,
		.null_address = SAMPLE_NULL,
	};
	if (kind == MPI_KIND_MPICH) {
		library->layout.handle_bytes = 4;
		library->layout.status_bytes = 20;
		library->layout.status_source = 8;
		library->layout.status_tag = 12;
	}
	for (unsigned i = 0; i < MPI_FUNCTIONS_MAX; i++)
		library->addresses[i] = SAMPLE_FUNCTION;
}

SAMPLE_UNUSED void sample_begin(struct trace_sample *sample, size_t ranks)
{
	*sample = (struct trace_sample){ 0 };
	sample_library(&sample->library, MPI_KIND_OPEN_MPI);
	for (size_t i = 0; i < ranks; i++) {
		struct trace_process *process = &sample->processes[i];

		process->pid = (pid_t)(100 + i);
		process->rank = (int32_t)i;
		process->size = (int32_t)ranks;
		process->rank_known = process->from_beginning = true;
		process->library = &sample->library;
		snprintf(process->name, sizeof(process->name), "python3 solve.py");
		must(trace_file_open(&process->file) == 0);
		mpi_decoder_init(&process->decoder, &sample->library, sample_take, process);
		sample->pointers[i] = process;
	}
	sample->trace = (struct trace){ .processes = sample->pointers,
					.count = ranks,
					.ranks_known = true };
}

/* A call of this rank, from then to then; words: its arguments. */
SAMPLE_UNUSED struct mpi_record sample_record(size_t rank, const char *function, uint64_t begin_ns,
					      uint64_t end_ns)
{
	return (struct mpi_record){
		.kind = MPI_RECORD_CALL,
		.slot = (uint16_t)rank,
		.function = (uint16_t)sample_function(function),
		.tid = (uint32_t)(100 + rank),
		.flags = MPI_HAS_STACK | MPI_HAS_SIZE_0 | MPI_HAS_SIZE_1 | MPI_IS_MAIN,
		.begin_ns = begin_ns,
		.end_ns = end_ns,
		.ip = SAMPLE_FUNCTION,
		.sizes = { 8, 8 },
	};
}

SAMPLE_UNUSED void sample_call(struct trace_sample *sample, const struct mpi_record *record)
{
	mpi_decoder_call(&sample->processes[record->slot].decoder, record);
}

/* MPI_Send and MPI_Recv, in MPI_COMM_WORLD, of 8-byte items. */
SAMPLE_UNUSED void sample_message(struct trace_sample *sample, const char *function, size_t rank,
				  uint64_t begin_ns, uint64_t end_ns, int peer, int tag, int count)
{
	struct mpi_record record = sample_record(rank, function, begin_ns, end_ns);

	record.words[1] = (uint32_t)count;
	record.words[2] = SAMPLE_DOUBLE;
	record.words[3] = (uint32_t)peer;
	record.words[4] = (uint32_t)tag;
	record.words[5] = SAMPLE_WORLD;
	sample_call(sample, &record);
}

/* MPI_Barrier, MPI_Init, MPI_Finalize. */
SAMPLE_UNUSED void sample_plain(struct trace_sample *sample, const char *function, size_t rank,
				uint64_t begin_ns, uint64_t end_ns)
{
	struct mpi_record record = sample_record(rank, function, begin_ns, end_ns);

	record.words[0] = SAMPLE_WORLD;
	sample_call(sample, &record);
}

SAMPLE_UNUSED void sample_chunk(struct trace_sample *sample, const struct mpi_record *record,
				uint32_t kind, const void *words, uint16_t count, size_t bytes)
{
	struct mpi_chunk chunk = { .kind = kind,
				   .slot = record->slot,
				   .count = count,
				   .tid = record->tid,
				   .begin_ns = record->begin_ns };

	memcpy(chunk.words, words, bytes);
	mpi_decoder_chunk(&sample->processes[record->slot].decoder, &chunk);
}

/* All is recorded; the analysis is to be deinitialised. */
SAMPLE_UNUSED void sample_end(struct trace_sample *sample, uint64_t end_ns,
			      struct trace_analysis *ret_analysis)
{
	sample->trace.end_ns = end_ns;
	for (size_t i = 0; i < sample->trace.count; i++) {
		sample->processes[i].end_ns = end_ns;
		sample->processes[i].counts = sample->library.layout;
		must(trace_file_map(&sample->processes[i].file) == 0);
	}
	must(trace_analysis_init(ret_analysis, &sample->trace) == 0);
}

SAMPLE_UNUSED void sample_free(struct trace_sample *sample, struct trace_analysis *analysis)
{
	trace_analysis_deinit(analysis);
	for (size_t i = 0; i < sample->trace.count; i++) {
		mpi_decoder_deinit(&sample->processes[i].decoder);
		trace_file_close(&sample->processes[i].file);
	}
}

#endif

/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Calls of MPI functions with any arguments, times, handles and arrays, of a few ranks, as the
 * program in the kernel would report them; and what the analysis and every format make of them. The
 * environment that tells a rank is text at the end.
 */
#include "daemon/trace/mpi_decoder.h"
#include "daemon/trace/mpi_function.h"
#include "daemon/trace/rank.h"
#include "daemon/trace/trace_writer.h"
#include "tests/fuzz/fuzz.h"

#define RANKS     3
#define CALLS_MAX 400
#define WORLD     0x40

struct job {
	struct mpi_library library;
	struct trace_process processes[RANKS];
	struct trace_process *pointers[RANKS];
};

static void take_event(void *context, const struct trace_event *event)
{
	struct trace_process *process = context;

	fuzz_must(event->end_ns >= event->begin_ns);
	fuzz_must(event->function < mpi_function_count);
	process->calls += event->kind == TRACE_CALL;
	trace_file_add(&process->file, event);
}

/* Few values, so that calls have to do with each other. */
static uint64_t draw_word(struct fuzz_input *input)
{
	uint8_t choice = (uint8_t)fuzz_number(input, 1);

	if (choice < 200)
		return choice % 8;
	if (choice < 250)
		return WORLD + choice % 4;
	return fuzz_number(input, 8);
}

static struct mpi_record draw_call(struct fuzz_input *input, uint64_t *now_ns)
{
	struct mpi_record record = { .kind = MPI_RECORD_CALL, .ip = 0x10 };

	record.slot = (uint8_t)fuzz_number(input, 1) % RANKS;
	record.function = (uint8_t)fuzz_number(input, 1);
	record.tid = 1 + (uint8_t)fuzz_number(input, 1) % 3;
	record.flags = (uint8_t)fuzz_number(input, 1);
	record.begin_ns = *now_ns += (uint8_t)fuzz_number(input, 1);
	record.end_ns = record.begin_ns + (uint8_t)fuzz_number(input, 1);
	if ((uint8_t)fuzz_number(input, 1) > 250)
		record.end_ns = fuzz_number(input, 8);
	for (size_t i = 0; i < MPI_WORDS; i++)
		record.words[i] = draw_word(input);
	record.sizes[0] = draw_word(input);
	record.sizes[1] = draw_word(input);
	record.handle_in = draw_word(input);
	record.handle_out = draw_word(input);
	record.source = (int32_t)draw_word(input) - 2;
	record.tag = (int32_t)draw_word(input) - 2;
	record.flag = (int32_t)draw_word(input);
	record.index = (int32_t)draw_word(input) - 1;
	record.result = (uint8_t)fuzz_number(input, 1) > 240;
	return record;
}

static void draw_chunk(struct fuzz_input *input, const struct mpi_record *record,
		       struct mpi_decoder *decoder)
{
	struct mpi_chunk chunk = { .kind = (uint8_t)fuzz_number(input, 1) % 6,
				   .slot = record->slot,
				   .count = (uint16_t)draw_word(input),
				   .tid = record->tid,
				   .first = (uint32_t)draw_word(input) & ~1u,
				   .begin_ns = record->begin_ns };

	for (size_t i = 0; i < 12; i++)
		chunk.words[i] = draw_word(input);
	mpi_decoder_chunk(decoder, &chunk);
}

static void draw_job(struct fuzz_input *input, struct job *job)
{
	uint64_t now_ns = 1000;

	for (unsigned i = 0; i < CALLS_MAX && input->left; i++) {
		struct mpi_record record = draw_call(input, &now_ns);
		struct mpi_decoder *decoder = &job->processes[record.slot].decoder;

		for (unsigned k = (uint8_t)fuzz_number(input, 1) % 4; k > 0; k--)
			draw_chunk(input, &record, decoder);
		mpi_decoder_call(decoder, &record);
	}
}

static void begin(struct job *job, uint8_t kind)
{
	*job = (struct job){ 0 };
	job->library.kind = kind % 2 ? MPI_KIND_MPICH : MPI_KIND_OPEN_MPI;
	job->library.layout = (struct mpi_target){ .handle_bytes = kind % 2 ? 4 : 8,
						   .status_bytes = kind % 2 ? 20 : 24,
						   .status_source = kind % 2 ? 8 : 0,
						   .status_tag = kind % 2 ? 12 : 4,
						   .limit = 5000 };
	job->library.world_address = WORLD;
	for (size_t i = 0; i < MPI_FUNCTIONS_MAX; i++)
		job->library.addresses[i] = 0x10;
	for (size_t i = 0; i < RANKS; i++) {
		struct trace_process *process = &job->processes[i];

		process->pid = (pid_t)i + 1;
		process->rank = (int32_t)i;
		process->from_beginning = kind & 4;
		process->library = &job->library;
		fuzz_must(trace_file_open(&process->file) == 0);
		mpi_decoder_init(&process->decoder, &job->library, take_event, process);
		job->pointers[i] = process;
	}
}

static void check_messages(const struct trace_analysis *analysis)
{
	for (size_t i = 0; i < analysis->messages.count; i++) {
		const struct message *message = &analysis->messages.items[i];

		fuzz_must(message->from < RANKS && message->to < RANKS);
		fuzz_must(message->send->tag == message->receive->tag);
		fuzz_must(message->receive->end_ns >= message->send->begin_ns);
		fuzz_must(message->late_ns <= message->receive->end_ns - message->receive->wait_ns);
	}
	for (size_t i = 0; i < RANKS; i++)
		fuzz_must(analysis->ranks[i].useful_ns + analysis->ranks[i].mpi_ns ==
			  analysis->end_ns - analysis->begin_ns);
}

static void check_analysis(const struct trace *trace)
{
	static const struct writer_options options;
	struct trace_analysis analysis;
	char *text = NULL;
	size_t size;
	FILE *file = open_memstream(&text, &size);

	fuzz_must(file && trace_analysis_init(&analysis, trace) == 0);
	check_messages(&analysis);
	fuzz_must(trace_chrome_write(&analysis, file) == 0);
	fuzz_must(trace_html_write(&analysis, file) == 0);
	fuzz_must(trace_perfetto_write(&analysis, file) == 0);
	fuzz_must(trace_prv_write(&analysis, file) == 0);
	fuzz_must(trace_row_write(&analysis, file) == 0);
	fuzz_must(trace_json_write(&analysis, file) == 0);
	fuzz_must(trace_text_write(&analysis, &options, file) == 0);
	fclose(file);
	free(text);
	trace_analysis_deinit(&analysis);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct fuzz_input input = { data, size };
	static struct job job;
	struct trace trace = { .processes = job.pointers, .count = RANKS, .ranks_known = true };
	struct rank rank;

	if (rank_parse((const char *)data, size, &rank) == 0)
		fuzz_must(rank.number >= 0 && rank.number <= RANK_MAX && rank.size >= 0);
	begin(&job, (uint8_t)fuzz_number(&input, 1));
	draw_job(&input, &job);
	trace.begin_ns = 1000;
	trace.end_ns = UINT64_MAX / 2;
	for (size_t i = 0; i < RANKS; i++) {
		job.processes[i].end_ns = trace.end_ns;
		fuzz_must(trace_file_map(&job.processes[i].file) == 0);
	}
	check_analysis(&trace);
	for (size_t i = 0; i < RANKS; i++) {
		mpi_decoder_deinit(&job.processes[i].decoder);
		trace_file_close(&job.processes[i].file);
	}
	return 0;
}

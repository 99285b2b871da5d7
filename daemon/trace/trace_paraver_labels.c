/* SPDX-License-Identifier: Apache-2.0 */
/* Beside Paraver's .prv (trace_paraver.c): .pcf with what its numbers mean, .row with names. */
#include "daemon/report/encode/escape.h"
#include "daemon/trace/mpi_function.h"
#include "daemon/trace/trace_paraver_numbers.h"
#include "daemon/trace/trace_thread.h"
#include "daemon/trace/trace_writer.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>

#define WORDS_MAX 400 /* of a function's place */

static void put_type(FILE *file, enum paraver_type type, const char *label)
{
	fprintf(file, "EVENT_TYPE\n9    %d    %s\nVALUES\n", (int)type, label);
	for (unsigned i = 0; i < mpi_function_count; i++)
		if (paraver_type(i) == type)
			fprintf(file, "%u   %s\n", i + 1, mpi_functions[i].name);
	fputs("0   Outside MPI\n\n\n", file);
}

/* A name of the target's stays in its line. */
static void put_name(FILE *file, const char *name)
{
	char *words = escape_printable(name, '\0');

	fputs(words ? words : "?", file);
	free(words);
}

static void put_spans(FILE *file, const struct span_list *spans, enum span_kind kind,
		      const char *label)
{
	bool any = false;

	for (unsigned i = 0; spans && i < spans->count; i++) {
		if (spans->items[i].kind != kind)
			continue;
		if (!any)
			fprintf(file, "EVENT_TYPE\n9    %d    %s\nVALUES\n0   End\n",
				(int)paraver_span_type(kind), label);
		any = true;
		fprintf(file, "%" PRIu64 "   ", paraver_span_value(&spans->items[i], i, 0));
		put_name(file, spans->items[i].name);
		fputc('\n', file);
	}
	if (any)
		fputs("\n\n", file);
}

static void put_details(FILE *file, const struct detail_analysis *details, const char *label)
{
	if (!details->reason_count)
		return;
	fprintf(file, "EVENT_TYPE\n9    %d    %s\nVALUES\n0   End\n",
		(int)paraver_span_type(details->kind), label);
	for (size_t i = 0; i < details->reason_count; i++) {
		int32_t detail = details->reasons[i].detail;
		char words[SPAN_NAME_BYTES];

		span_detail_words(details->kind, detail, words);
		fprintf(file, "%" PRIu64 "   %s\n",
			paraver_span_value(&(struct span){ .kind = details->kind }, 0, detail),
			words);
	}
	fputs("\n\n", file);
}

static void put_python(FILE *file, const struct trace_analysis *analysis)
{
	const struct function_analysis *functions = &analysis->python;

	if (!functions->count)
		return;
	fprintf(file, "EVENT_TYPE\n9    %d    Python function\nVALUES\n0   End\n",
		(int)TYPE_PYTHON);
	for (size_t i = 0; i < functions->count; i++) {
		char words[WORDS_MAX] = "?";

		call_paths_words(analysis->trace->paths, functions->rows[i].path, words,
				 sizeof(words));
		fprintf(file, "%" PRIu32 "   ", functions->rows[i].path);
		put_name(file, words);
		fputc('\n', file);
	}
	fputs("\n\n", file);
}

static void put_counters(FILE *file, unsigned kinds)
{
	for (int i = 0; i < COUNTER_KINDS; i++)
		if (kinds >> i & 1)
			fprintf(file, "EVENT_TYPE\n7    %d    %s\n\n\n",
				paraver_counter_type((enum counter_kind)i),
				counter_name((enum counter_kind)i));
}

static int put_callers(FILE *file, const struct call_paths *paths)
{
	struct caller_numbers callers;
	int error = caller_numbers_init(&callers, paths);
	uint32_t shown = 0;

	if (callers.count)
		fprintf(file, "EVENT_TYPE\n9    %d    Caller at level 1\nVALUES\n0   End\n",
			(int)TYPE_CALLER);
	/* The first path that has a number comes before those with higher ones. */
	for (uint32_t i = 1; i < callers.count && !error; i++) {
		if (callers.functions[i] <= shown)
			continue;
		shown = callers.functions[i];
		fprintf(file, "%" PRIu32 "   ", shown);
		put_name(file, call_paths_own(paths, i)->function);
		fputs(" [", file);
		put_name(file, path_last(call_paths_own(paths, i)->file));
		fputs("]\n", file);
	}
	if (callers.count)
		fprintf(file,
			"\n\nEVENT_TYPE\n9    %d    Caller line at level 1\nVALUES\n0   End\n",
			(int)TYPE_CALLER_LINE);
	shown = 0;
	for (uint32_t i = 1; i < callers.count && !error; i++) {
		if (callers.lines[i] <= shown)
			continue;
		shown = callers.lines[i];
		fprintf(file, "%" PRIu32 "   %d (", shown, call_paths_own(paths, i)->line);
		put_name(file, path_last(call_paths_own(paths, i)->file));
		fputs(")\n", file);
	}
	if (callers.count)
		fputs("\n\n", file);
	caller_numbers_deinit(&callers);
	return error;
}

int trace_pcf_write(const struct trace_analysis *analysis, FILE *file)
{
	fputs("DEFAULT_OPTIONS\n\nLEVEL               THREAD\nUNITS               NANOSEC\n"
	      "LOOK_BACK           100\nSPEED               1\nFLAG_ICONS          ENABLED\n"
	      "NUM_OF_STATE_COLORS 1000\nYMAX_SCALE          37\n\n\nDEFAULT_SEMANTIC\n\n"
	      "THREAD_FUNC          State As Is\n\n\nSTATES\n0    Idle\n1    Running\n"
	      "2    Not created\n3    Waiting a message\n4    Blocking Send\n5    Synchronization\n"
	      "6    Test/Probe\n7    Scheduling and Fork/Join\n8    Wait/WaitAll\n9    Blocked\n"
	      "10    Immediate Send\n11    Immediate Receive\n12    I/O\n"
	      "13    Group Communication\n14    Tracing Disabled\n15    Others\n"
	      "16    Send Receive\n\n\n"
	      "STATES_COLOR\n0    {117,195,255}\n1    {0,0,255}\n2    {255,255,255}\n"
	      "3    {255,0,0}\n4    {255,0,174}\n5    {179,0,0}\n6    {0,255,0}\n"
	      "7    {255,255,0}\n8    {235,0,0}\n9    {0,162,0}\n10    {255,0,255}\n"
	      "11    {100,100,177}\n12    {172,174,41}\n13    {255,144,26}\n"
	      "14    {2,255,177}\n15    {192,224,0}\n16    {66,66,66}\n\n\n",
	      file);
	put_type(file, TYPE_POINT_TO_POINT, "MPI Point-to-point");
	put_type(file, TYPE_COLLECTIVE, "MPI Collective Comm");
	put_type(file, TYPE_OTHER, "MPI Other");
	put_spans(file, analysis->trace->spans, SPAN_FUNCTION, "User function");
	put_spans(file, analysis->trace->spans, SPAN_COLLECTION, "Garbage collection");
	put_spans(file, analysis->trace->spans, SPAN_GIL, "Wait for the GIL");
	put_details(file, &analysis->switches, "Off the processor");
	put_details(file, &analysis->faults, "Page fault");
	put_python(file, analysis);
	put_counters(file, analysis->counters.kinds);
	return put_callers(file, analysis->trace->paths);
}

int trace_row_write(const struct trace_analysis *analysis, FILE *file)
{
	const struct trace *trace = analysis->trace;
	struct trace_threads *threads = calloc(trace->count + 1, sizeof(threads[0]));
	unsigned total = 0;

	if (!threads)
		return -ENOMEM;
	for (size_t i = 0; i < trace->count; i++) {
		trace_threads_find(analysis, i, &threads[i]);
		total += threads[i].count;
	}
	fprintf(file, "LEVEL CPU SIZE %zu\n", trace->count);
	for (size_t i = 0; i < trace->count; i++)
		fprintf(file, "%zu.this-machine\n", i + 1);
	fputs("\nLEVEL NODE SIZE 1\nthis-machine\n", file);
	fprintf(file, "\nLEVEL TASK SIZE %zu\n", trace->count);
	for (size_t i = 0; i < trace->count; i++)
		fprintf(file, "RANK %d\n", (int)trace->processes[i]->rank);
	fprintf(file, "\nLEVEL THREAD SIZE %u\n", total);
	for (size_t i = 0; i < trace->count; i++)
		for (unsigned k = 0; k < threads[i].count; k++)
			fprintf(file, "RANK %d.%u\n", (int)trace->processes[i]->rank, k + 1);
	free(threads);
	return 0;
}

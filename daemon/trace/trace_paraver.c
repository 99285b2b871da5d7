/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Paraver's files: .prv with records sorted by time, .pcf with what their numbers mean, .row with
 * names.
 *
 *   1:cpu:appl:task:thread:begin:end:state               running, or in MPI in one way or another
 *   2:cpu:appl:task:thread:time:type:value[:type:value]   a function entered, and 0 when it is left
 *                                                         where it is known, with its Python line
 *   3:cpu:appl:task:thread:sent:sent, the same of the receiver, :size:tag        a message
 *
 * Types and states are Extrae's, which Paraver's own configurations look for; what a value means
 * stands in the .pcf. Tasks are ranks and count from 1, as all does there. On which processor a
 * rank ran is not known: each has one of its own.
 */
#include "daemon/report/encode/escape.h"
#include "daemon/trace/mpi_function.h"
#include "daemon/trace/trace_thread.h"
#include "daemon/trace/trace_writer.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum state {
	STATE_RUNNING = 1,
	STATE_WAITING = 3,
	STATE_SENDING = 4,
	STATE_SYNCHRONISING = 5,
	STATE_TESTING = 6,
	STATE_WAIT = 8,
	STATE_IMMEDIATE_SEND = 10,
	STATE_IMMEDIATE_RECEIVE = 11,
	STATE_INPUT_OUTPUT = 12,
	STATE_GROUP = 13,
	STATE_OTHER = 15,
	STATE_SEND_RECEIVE = 16,
};

enum type {
	TYPE_POINT_TO_POINT = 50000001,
	TYPE_COLLECTIVE = 50000002,
	TYPE_OTHER = 50000003,
	TYPE_CALLER = 70000001,      /* the function that called it */
	TYPE_CALLER_LINE = 80000001, /* and its line */
	TYPE_USER_FUNCTION = 60000019,
	TYPE_PYTHON = 60000100,
	/* Not Extrae's. */
	TYPE_COLLECTION = 62000001,
	TYPE_GIL = 62000002,
	TYPE_SWITCH = 62000003,
	TYPE_FAULT = 62000004,
};

/* Values of event records from here on are spans, those below are functions of MPI. */
#define SPAN_FIRST 65536u
/* Above it, such a value has the span's detail. */
#define SPAN_DETAIL_SHIFT 32
#define WORDS_MAX         400 /* of a function's place */

/* What a record of the .prv is made of, in a trace file of their own, to be sorted there. */
enum record {
	RECORD_EVENT_END, /* of those at one time, the first */
	RECORD_STATE,
	RECORD_EVENT_BEGIN,
	RECORD_MESSAGE,
};

/* Of each path's own frame: numbers of its function and its line, by path. */
struct caller_numbers {
	uint32_t *functions, *lines;
	uint32_t count; /* 0: there are no paths */
	struct sum_table found_functions, found_lines;
};

struct sheet {
	const struct trace_analysis *analysis;
	struct trace_threads *threads; /* by process */
	unsigned *cpus;                /* the first one of each process, from 1 */
	struct caller_numbers callers;
	struct trace_file records;
	uint64_t begin_ns, end_ns;
	FILE *file;
};

static enum state state_of(unsigned function)
{
	enum mpi_class class = mpi_functions[function].class;
	const char *name = mpi_functions[function].name;

	if (!strncmp(name, "MPI_File_", 9))
		return STATE_INPUT_OUTPUT;
	if (strstr(name, "est") && class >= MPI_WAIT && class <= MPI_WAIT_SOME)
		return STATE_TESTING; /* MPI_Test, Testall ... */
	switch (class) {
	case MPI_SEND:
		return STATE_SENDING;
	case MPI_SEND_REQUEST:
		return STATE_IMMEDIATE_SEND;
	case MPI_RECEIVE:
	case MPI_RECEIVE_MESSAGE:
		return STATE_WAITING;
	case MPI_PROBE:
		return STATE_TESTING;
	case MPI_RECEIVE_REQUEST:
	case MPI_RECEIVE_MESSAGE_REQUEST:
		return STATE_IMMEDIATE_RECEIVE;
	case MPI_SENDRECV:
	case MPI_SENDRECV_REPLACE:
		return STATE_SEND_RECEIVE;
	case MPI_WAIT:
	case MPI_WAIT_ALL:
	case MPI_WAIT_ANY:
	case MPI_WAIT_SOME:
		return STATE_WAIT;
	default:
		if (!strcmp(name, "MPI_Barrier"))
			return STATE_SYNCHRONISING;
		return mpi_class_is_collective(class) ? STATE_GROUP : STATE_OTHER;
	}
}

static enum type type_of(unsigned function)
{
	enum mpi_class class = mpi_functions[function].class;

	if (mpi_class_is_collective(class))
		return TYPE_COLLECTIVE;
	return class >= MPI_SEND && class <= MPI_FORGET ? TYPE_POINT_TO_POINT : TYPE_OTHER;
}

static enum type type_of_span(enum span_kind kind)
{
	static const enum type types[] = { [SPAN_FUNCTION] = TYPE_USER_FUNCTION,
					   [SPAN_COLLECTION] = TYPE_COLLECTION,
					   [SPAN_GIL] = TYPE_GIL,
					   [SPAN_SWITCH] = TYPE_SWITCH,
					   [SPAN_FAULT] = TYPE_FAULT,
					   [SPAN_PYTHON] = TYPE_PYTHON };

	return types[kind];
}

/* Numbers of a kind's values; of what the interpreter does there is one, of reasons to be off the
 * processor, kinds of page faults and Python functions one each. */
static uint64_t value_of_span(const struct span *span, unsigned number, int32_t detail)
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

static void callers_deinit(struct caller_numbers *callers)
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

/* 0 or -ENOMEM; deinit in any case. */
static int callers_init(struct caller_numbers *callers, const struct call_paths *paths)
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

/* ---- records ---- */

static uint64_t since(const struct sheet *sheet, uint64_t ns)
{
	if (ns <= sheet->begin_ns)
		return 0;
	return (ns < sheet->end_ns ? ns : sheet->end_ns) - sheet->begin_ns;
}

static void add(struct sheet *sheet, enum record record, uint64_t begin_ns, uint64_t end_ns,
		size_t process, unsigned thread, uint64_t value, uint32_t path)
{
	const struct trace_event event = {
		.kind = (uint16_t)record,
		.begin_ns = begin_ns,
		.end_ns = end_ns,
		.order = process,
		.thread = thread,
		.bytes = value,
		.path = path,
	};

	trace_file_add(&sheet->records, &event);
}

/* They may lie in calls, and in each other. */
static void add_spans(struct sheet *sheet, size_t place)
{
	const struct trace_process *process = sheet->analysis->trace->processes[place];

	for (uint64_t i = 0; i < process->file.count; i++) {
		const struct trace_event *event = &process->file.events[i];
		unsigned thread = trace_threads_place(&sheet->threads[place], event->thread);
		uint64_t value = (uint64_t)(uint32_t)event->tag << SPAN_DETAIL_SHIFT |
				 (SPAN_FIRST + event->function);

		if (event->kind != TRACE_SPAN || !trace_span(sheet->analysis->trace, event))
			continue;
		add(sheet, RECORD_EVENT_BEGIN, event->begin_ns, 0, place, thread, value,
		    event->path);
		add(sheet, RECORD_EVENT_END, event->end_ns, 0, place, thread, value, event->path);
	}
}

/* A thread's calls in turn, and what it does between them. */
static void add_thread(struct sheet *sheet, size_t place, unsigned thread)
{
	const struct trace_process *process = sheet->analysis->trace->processes[place];
	uint64_t until_ns = process->begin_ns;

	for (uint64_t i = 0; i < process->file.count; i++) {
		const struct trace_event *event = &process->file.events[i];

		if (event->kind != TRACE_CALL || event->function >= mpi_function_count ||
		    trace_threads_place(&sheet->threads[place], event->thread) != thread)
			continue;
		if (event->begin_ns > until_ns)
			add(sheet, RECORD_STATE, until_ns, event->begin_ns, place, thread,
			    STATE_RUNNING, CALL_PATH_NONE);
		add(sheet, RECORD_STATE, event->begin_ns, event->end_ns, place, thread,
		    (uint64_t)state_of(event->function), CALL_PATH_NONE);
		add(sheet, RECORD_EVENT_BEGIN, event->begin_ns, 0, place, thread, event->function,
		    event->path);
		add(sheet, RECORD_EVENT_END, event->end_ns, 0, place, thread, event->function,
		    event->path);
		until_ns = event->end_ns;
	}
	if (process->end_ns > until_ns)
		add(sheet, RECORD_STATE, until_ns, process->end_ns, place, thread, STATE_RUNNING,
		    CALL_PATH_NONE);
}

static void put_object(const struct sheet *sheet, size_t process, unsigned thread)
{
	fprintf(sheet->file, "%u:1:%zu:%u", sheet->cpus[process], process + 1, thread + 1);
}

static void put_message(const struct sheet *sheet, const struct message *message)
{
	fputs("3:", sheet->file);
	put_object(sheet, message->from,
		   trace_threads_place(&sheet->threads[message->from], message->send->thread));
	fprintf(sheet->file, ":%" PRIu64 ":%" PRIu64 ":", since(sheet, message->send->begin_ns),
		since(sheet, message->send->begin_ns));
	put_object(sheet, message->to,
		   trace_threads_place(&sheet->threads[message->to], message->receive->thread));
	fprintf(sheet->file, ":%" PRIu64 ":%" PRIu64 ":%" PRIu64 ":%d\n",
		since(sheet, message->receive->wait_ns), since(sheet, message->receive->end_ns),
		message->send->bytes, (int)message->send->tag);
}

static void put_call(const struct sheet *sheet, const struct trace_event *record)
{
	bool begins = record->kind == RECORD_EVENT_BEGIN;
	enum type type;
	uint64_t value = record->bytes + 1;

	if (record->bytes >= SPAN_FIRST) {
		unsigned number = (uint32_t)record->bytes - SPAN_FIRST;
		const struct span *span = &sheet->analysis->trace->spans->items[number];

		type = type_of_span(span->kind);
		value = value_of_span(span, number, (int32_t)(record->bytes >> SPAN_DETAIL_SHIFT));
	} else {
		type = type_of((unsigned)record->bytes);
	}
	fprintf(sheet->file, ":%" PRIu64 ":%d:%" PRIu64, since(sheet, record->begin_ns), (int)type,
		begins ? value : 0);
	if (record->path && record->path < sheet->callers.count)
		fprintf(sheet->file, ":%d:%" PRIu32 ":%d:%" PRIu32, (int)TYPE_CALLER,
			begins ? sheet->callers.functions[record->path] : 0, (int)TYPE_CALLER_LINE,
			begins ? sheet->callers.lines[record->path] : 0);
	fputc('\n', sheet->file);
}

static void put_record(const struct sheet *sheet, const struct trace_event *record)
{
	if (record->kind == RECORD_MESSAGE) {
		put_message(sheet, &sheet->analysis->messages.items[record->bytes]);
		return;
	}
	fputs(record->kind == RECORD_STATE ? "1:" : "2:", sheet->file);
	put_object(sheet, record->order, record->thread);
	if (record->kind == RECORD_STATE)
		fprintf(sheet->file, ":%" PRIu64 ":%" PRIu64 ":%" PRIu64 "\n",
			since(sheet, record->begin_ns), since(sheet, record->end_ns),
			record->bytes);
	else
		put_call(sheet, record);
}

/* ---- the file ---- */

static void put_header(const struct sheet *sheet)
{
	const struct trace *trace = sheet->analysis->trace;
	time_t now = time(NULL);
	struct tm local;
	char date[64];

	if (!localtime_r(&now, &local) ||
	    !strftime(date, sizeof(date), "%d/%m/%Y at %H:%M", &local))
		snprintf(date, sizeof(date), "01/01/1970 at 00:00");
	fprintf(sheet->file, "#Paraver (%s):%" PRIu64 "_ns:1(%u):1:%zu(", date,
		since(sheet, sheet->end_ns), sheet->cpus[trace->count] - 1, trace->count);
	for (size_t i = 0; i < trace->count; i++)
		fprintf(sheet->file, "%s%u:1", i ? "," : "", sheet->threads[i].count);
	fputs(")\n", sheet->file);
}

static int sheet_init(struct sheet *sheet, const struct trace_analysis *analysis, FILE *file)
{
	const struct trace *trace = analysis->trace;

	*sheet = (struct sheet){ .analysis = analysis,
				 .records.fd = -1,
				 .begin_ns = trace->begin_ns,
				 .end_ns = trace->end_ns,
				 .file = file };
	sheet->threads = calloc(trace->count + 1, sizeof(sheet->threads[0]));
	sheet->cpus = calloc(trace->count + 1, sizeof(sheet->cpus[0]));
	if (!sheet->threads || !sheet->cpus)
		return -ENOMEM;
	if (callers_init(&sheet->callers, trace->paths))
		return -ENOMEM;
	sheet->cpus[0] = 1;
	for (size_t i = 0; i < trace->count; i++) {
		trace_threads_find(analysis, i, &sheet->threads[i]);
		sheet->cpus[i + 1] = sheet->cpus[i] + 1;
	}
	return trace_file_open(&sheet->records);
}

static void sheet_deinit(struct sheet *sheet)
{
	trace_file_close(&sheet->records);
	callers_deinit(&sheet->callers);
	free(sheet->threads);
	free(sheet->cpus);
}

int trace_prv_write(const struct trace_analysis *analysis, FILE *file)
{
	struct sheet *sheet = malloc(sizeof(*sheet));
	int error = sheet ? sheet_init(sheet, analysis, file) : -ENOMEM;

	for (size_t i = 0; !error && i < analysis->trace->count; i++)
		for (unsigned thread = 0; thread < sheet->threads[i].count; thread++)
			add_thread(sheet, i, thread);
	for (size_t i = 0; !error && i < analysis->trace->count; i++)
		add_spans(sheet, i);
	for (size_t i = 0; !error && i < analysis->messages.count; i++)
		add(sheet, RECORD_MESSAGE, analysis->messages.items[i].send->begin_ns, 0,
		    analysis->messages.items[i].from, 0, i, CALL_PATH_NONE);
	if (!error)
		error = trace_file_map(&sheet->records);
	if (!error)
		error = sheet->records.error;
	if (!error) {
		put_header(sheet);
		for (uint64_t i = 0; i < sheet->records.count; i++)
			put_record(sheet, &sheet->records.events[i]);
	}
	if (sheet)
		sheet_deinit(sheet);
	free(sheet);
	return error;
}

/* ---- what its numbers mean ---- */

static void put_type(FILE *file, enum type type, const char *label)
{
	fprintf(file, "EVENT_TYPE\n9    %d    %s\nVALUES\n", (int)type, label);
	for (unsigned i = 0; i < mpi_function_count; i++)
		if (type_of(i) == type)
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
				(int)type_of_span(kind), label);
		any = true;
		fprintf(file, "%" PRIu64 "   ", value_of_span(&spans->items[i], i, 0));
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
		(int)type_of_span(details->kind), label);
	for (size_t i = 0; i < details->reason_count; i++) {
		int32_t detail = details->reasons[i].detail;
		char words[SPAN_NAME_BYTES];

		span_detail_words(details->kind, detail, words);
		fprintf(file, "%" PRIu64 "   %s\n",
			value_of_span(&(struct span){ .kind = details->kind }, 0, detail), words);
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

static int put_callers(FILE *file, const struct call_paths *paths)
{
	struct caller_numbers callers;
	int error = callers_init(&callers, paths);
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
	callers_deinit(&callers);
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

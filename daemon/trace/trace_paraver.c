/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Paraver's files: .prv with records sorted by time, .pcf with what their numbers mean, .row with
 * names.
 *
 *   1:cpu:appl:task:thread:begin:end:state               running, or in MPI in one way or another
 *   2:cpu:appl:task:thread:time:type:value[:type:value]   a function entered, and 0 when it is left
 *                                                         where it is known, with its Python line;
 *                                                         by how much a counter moved on
 *   3:cpu:appl:task:thread:sent:sent, the same of the receiver, :size:tag        a message
 *
 * Types and states are Extrae's, which Paraver's own configurations look for; what a value means
 * stands in the .pcf. Tasks are ranks and count from 1, as all does there. On which processor a
 * rank ran is not known: each has one of its own.
 */
#include "daemon/report/encode/escape.h"
#include "daemon/trace/mpi_function.h"
#include "daemon/trace/trace_paraver_numbers.h"
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

/* Values of event records from here on are spans, those below are functions of MPI. */
#define SPAN_FIRST 65536u
/* Above it, such a value has the span's detail. */
#define SPAN_DETAIL_SHIFT 32

/* What a record of the .prv is made of, in a trace file of their own, to be sorted there. */
enum record {
	RECORD_EVENT_END, /* of those at one time, the first */
	RECORD_STATE,
	RECORD_EVENT_BEGIN,
	RECORD_MESSAGE,
	RECORD_COUNTER,
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

/* As Extrae has them: by how much since the last one. */
static void add_counters(struct sheet *sheet, size_t place)
{
	const struct trace_process *process = sheet->analysis->trace->processes[place];

	for (uint64_t i = 0; i < process->file.count; i++) {
		const struct trace_event *event = &process->file.events[i];

		if (event->kind == TRACE_COUNTER && event->function < COUNTER_KINDS)
			add(sheet, RECORD_COUNTER, event->end_ns,
			    (uint64_t)paraver_counter_type((enum counter_kind)event->function),
			    place, trace_threads_place(&sheet->threads[place], event->thread),
			    event->bytes, CALL_PATH_NONE);
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
	enum paraver_type type;
	uint64_t value = record->bytes + 1;

	if (record->bytes >= SPAN_FIRST) {
		unsigned number = (uint32_t)record->bytes - SPAN_FIRST;
		const struct span *span = &sheet->analysis->trace->spans->items[number];

		type = paraver_span_type(span->kind);
		value = paraver_span_value(span, number,
					   (int32_t)(record->bytes >> SPAN_DETAIL_SHIFT));
	} else {
		type = paraver_type((unsigned)record->bytes);
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
	else if (record->kind == RECORD_COUNTER)
		fprintf(sheet->file, ":%" PRIu64 ":%" PRIu64 ":%" PRIu64 "\n",
			since(sheet, record->begin_ns), record->end_ns, record->bytes);
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
	if (caller_numbers_init(&sheet->callers, trace->paths))
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
	caller_numbers_deinit(&sheet->callers);
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
	for (size_t i = 0; !error && i < analysis->trace->count; i++)
		add_counters(sheet, i);
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

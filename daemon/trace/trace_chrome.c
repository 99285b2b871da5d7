/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Chrome's JSON ("Trace Event Format"), which ui.perfetto.dev and chrome://tracing open: a slice
 * ("X") for each call, and for each message an arrow from the call that sent it to the one that
 * completed its receive ("s", "f"). Times are in microseconds from the beginning of the trace.
 */
#include "daemon/report/encode/escape.h"
#include "daemon/trace/mpi_function.h"
#include "daemon/trace/trace_thread.h"
#include "daemon/trace/trace_writer.h"

#include <inttypes.h>
#include <stdlib.h>

static void put_us(FILE *file, uint64_t ns)
{
	fprintf(file, "%" PRIu64 ".%03u", ns / 1000, (unsigned)(ns % 1000));
}

/* What began before the trace is shown from its beginning on. */
static uint64_t since(const struct trace_analysis *analysis, uint64_t ns)
{
	return ns > analysis->trace->begin_ns ? ns - analysis->trace->begin_ns : 0;
}

static void put_process(const struct trace_analysis *analysis, size_t place, FILE *file)
{
	const struct trace_process *process = analysis->trace->processes[place];
	struct trace_threads threads;
	char name[128];

	trace_process_title(process, name, sizeof(name));
	fprintf(file, "%s\n{\"ph\":\"M\",\"pid\":%d,\"name\":\"process_name\",\"args\":{\"name\":",
		place ? "," : "", (int)process->pid);
	escape_json(file, name);
	fprintf(file,
		"}},\n{\"ph\":\"M\",\"pid\":%d,\"name\":\"process_sort_index\",\"args\":"
		"{\"sort_index\":%d}}",
		(int)process->pid, (int)process->rank);
	trace_threads_find(analysis, place, &threads);
	for (unsigned i = 0; i < threads.count; i++)
		fprintf(file,
			",\n{\"ph\":\"M\",\"pid\":%d,\"tid\":%" PRIu32
			",\"name\":\"thread_name\",\"args\":{\"name\":\"thread %" PRIu32 "\"}}",
			(int)process->pid, threads.items[i], threads.items[i]);
}

static void put_call(const struct trace_analysis *analysis, size_t place,
		     const struct trace_event *event, FILE *file)
{
	const struct trace_process *process = analysis->trace->processes[place];
	uint32_t communicator =
		communicators_find(&analysis->communicators, place, event->communicator);
	char words[400] = "";

	if (analysis->trace->paths)
		call_paths_words(analysis->trace->paths, event->path, words, sizeof(words));

	fprintf(file,
		",\n{\"ph\":\"X\",\"cat\":\"mpi\",\"name\":\"%s\",\"pid\":%d,\"tid\":%" PRIu32
		",\"ts\":",
		mpi_function_name(event->function), (int)process->pid, event->thread);
	put_us(file, since(analysis, event->begin_ns));
	fputs(",\"dur\":", file);
	put_us(file, since(analysis, event->end_ns) - since(analysis, event->begin_ns));
	fprintf(file, ",\"args\":{\"rank\":%d,\"bytes\":%" PRIu64, (int)process->rank,
		event->bytes);
	if (event->tag != -1 || event->peer != -1)
		fprintf(file, ",\"peer\":%d,\"tag\":%d", (int)event->peer, (int)event->tag);
	if (communicator)
		fprintf(file, ",\"communicator\":%" PRIu32, communicator);
	if (words[0]) {
		fputs(",\"line\":", file);
		escape_json(file, words);
	}
	fprintf(file, "%s}}", event->flags & TRACE_OPEN ? ",\"returned\":false" : "");
}

static void put_span(const struct trace_analysis *analysis, size_t place,
		     const struct trace_event *event, FILE *file)
{
	const struct trace_process *process = analysis->trace->processes[place];
	const struct span *span = trace_span(analysis->trace, event);
	char name[SPAN_NAME_BYTES];
	char words[400] = "";

	if (!span)
		return;
	if (analysis->trace->paths)
		call_paths_words(analysis->trace->paths, event->path, words, sizeof(words));
	fprintf(file, ",\n{\"ph\":\"X\",\"cat\":\"%s\",\"name\":", span_kind_name(span->kind));
	escape_json(file, trace_span_name(analysis->trace, span, event, name));
	fprintf(file, ",\"pid\":%d,\"tid\":%" PRIu32 ",\"ts\":", (int)process->pid, event->thread);
	put_us(file, since(analysis, event->begin_ns));
	fputs(",\"dur\":", file);
	put_us(file, since(analysis, event->end_ns) - since(analysis, event->begin_ns));
	fprintf(file, ",\"args\":{\"rank\":%d", (int)process->rank);
	if (words[0]) {
		fputs(",\"line\":", file);
		escape_json(file, words);
	}
	fprintf(file, "%s%s%s}}", event->flags & TRACE_OPEN ? ",\"returned\":false" : "",
		event->flags & TRACE_BEFORE ? ",\"began_before\":true" : "",
		event->flags & TRACE_RAISED ? ",\"raised\":true" : "");
}

/* A viewer draws it from here to the next one: it stands at the beginning of its time. */
static void put_counter(const struct trace_analysis *analysis, size_t place,
			const struct trace_event *event, FILE *file)
{
	const struct trace_process *process = analysis->trace->processes[place];
	const char *name = counter_name((enum counter_kind)event->function);

	fprintf(file,
		",\n{\"ph\":\"C\",\"cat\":\"counter\",\"name\":\"%s of thread %" PRIu32
		"\",\"pid\":%d,\"tid\":%" PRIu32 ",\"ts\":",
		name, event->thread, (int)process->pid, event->thread);
	put_us(file, since(analysis, event->begin_ns));
	fprintf(file, ",\"args\":{\"%s\":%" PRIu64 "}}", name, event->bytes);
}

static void put_event(const struct trace_analysis *analysis, size_t place,
		      const struct trace_event *event, FILE *file)
{
	if (event->kind == TRACE_CALL)
		put_call(analysis, place, event, file);
	else if (event->kind == TRACE_SPAN)
		put_span(analysis, place, event, file);
	else if (event->kind == TRACE_COUNTER && event->function < COUNTER_KINDS)
		put_counter(analysis, place, event, file);
}

static void put_message(const struct trace_analysis *analysis, size_t number, FILE *file)
{
	const struct message *message = &analysis->messages.items[number];
	const struct trace_process *from = analysis->trace->processes[message->from];
	const struct trace_process *to = analysis->trace->processes[message->to];

	fprintf(file,
		",\n{\"ph\":\"s\",\"cat\":\"message\",\"name\":\"message\",\"id\":%zu,\"pid\":%d,"
		"\"tid\":%" PRIu32 ",\"ts\":",
		number + 1, (int)from->pid, message->send->thread);
	put_us(file, since(analysis, message->send->begin_ns));
	fprintf(file,
		",\"args\":{\"from\":%d,\"to\":%d,\"tag\":%d,\"bytes\":%" PRIu64
		",\"late_us\":%" PRIu64 "}}",
		(int)from->rank, (int)to->rank, (int)message->send->tag, message->send->bytes,
		message->late_ns / 1000);
	fprintf(file,
		",\n{\"ph\":\"f\",\"bp\":\"e\",\"cat\":\"message\",\"name\":\"message\",\"id\":%zu,"
		"\"pid\":%d,\"tid\":%" PRIu32 ",\"ts\":",
		number + 1, (int)to->pid, message->receive->thread);
	put_us(file, since(analysis, message->receive->end_ns));
	fputc('}', file);
}

int trace_chrome_write(const struct trace_analysis *analysis, FILE *file)
{
	const struct trace *trace = analysis->trace;

	fputs("{\"displayTimeUnit\":\"ns\",\"otherData\":{\"tool\":\"pieprofd " PIEPROFD_VERSION
	      "\"},\"traceEvents\":[",
	      file);
	for (size_t i = 0; i < trace->count; i++)
		put_process(analysis, i, file);
	for (size_t i = 0; i < trace->count; i++)
		for (uint64_t k = 0; k < trace->processes[i]->file.count; k++)
			put_event(analysis, i, &trace->processes[i]->file.events[k], file);
	for (size_t i = 0; i < analysis->messages.count; i++)
		put_message(analysis, i, file);
	fputs("\n]}\n", file);
	return 0;
}

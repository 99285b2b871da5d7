/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Perfetto's own format (perfetto.dev, "TracePacket" and "TrackEvent"): a track for each thread, a
 * slice for each call, and for each message two instants, joined by a flow: in the call that sent
 * it and in the one that completed its receive.
 */
#include "daemon/report/encode/protobuf.h"
#include "daemon/trace/mpi_function.h"
#include "daemon/trace/trace_thread.h"
#include "daemon/trace/trace_writer.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

/* Field numbers of protos/perfetto/trace. */
enum {
	TRACE_PACKET = 1,
	PACKET_TIMESTAMP = 8,
	PACKET_SEQUENCE = 10,
	PACKET_TRACK_EVENT = 11,
	PACKET_TRACK = 60,
	TRACK_UUID = 1,
	TRACK_NAME = 2,
	TRACK_PROCESS = 3,
	TRACK_THREAD = 4,
	TRACK_PARENT = 5,
	TRACK_COUNTER = 8,
	PROCESS_PID = 1,
	PROCESS_NAME = 6,
	THREAD_PID = 1,
	THREAD_TID = 2,
	THREAD_NAME = 5,
	EVENT_ANNOTATION = 4,
	EVENT_TYPE = 9,
	EVENT_TRACK = 11,
	EVENT_CATEGORY = 22,
	EVENT_NAME = 23,
	EVENT_COUNTER_VALUE = 30,
	EVENT_FLOW = 47,
	EVENT_FLOW_END = 48,
	ANNOTATION_NUMBER = 4,
	ANNOTATION_TEXT = 6,
	ANNOTATION_NAME = 10,
};

enum event_type {
	SLICE_BEGIN = 1,
	SLICE_END,
	INSTANT,
	COUNTER,
};

#define SEQUENCE 1
/* Numbers of tracks: of processes, then of their threads. */
#define TRACK_OF_PROCESS(place)        ((place) + 1)
#define TRACK_OF_THREAD(place, thread) (((place) + 1) << 16 | ((thread) + 1))
#define TRACK_OF_COUNTER(place, thread, kind)                                                      \
	((uint64_t)((kind) + 1) << 48 | TRACK_OF_THREAD(place, thread))

struct sheet {
	const struct trace_analysis *analysis;
	struct trace_threads *threads;
	struct protobuf packet, inner, part; /* used again and again */
	FILE *file;
	bool failed; /* no memory */
};

/* The packet so far, with what stands in inner as that field. */
static void put_packet(struct sheet *sheet, unsigned field)
{
	struct protobuf outer = { 0 };

	protobuf_number(&sheet->packet, PACKET_SEQUENCE, SEQUENCE);
	protobuf_submessage(&sheet->packet, field, &sheet->inner);
	protobuf_submessage(&outer, TRACE_PACKET, &sheet->packet);
	sheet->failed |= outer.failed;
	if (!outer.failed)
		fwrite(outer.bytes, 1, outer.size, sheet->file);
	protobuf_deinit(&outer);
	protobuf_clear(&sheet->packet);
	protobuf_clear(&sheet->inner);
}

static void put_tracks(struct sheet *sheet, size_t place)
{
	const struct trace_process *process = sheet->analysis->trace->processes[place];
	char name[128];

	trace_process_title(process, name, sizeof(name));
	protobuf_number(&sheet->part, PROCESS_PID, (uint64_t)process->pid);
	protobuf_text(&sheet->part, PROCESS_NAME, name);
	protobuf_number(&sheet->inner, TRACK_UUID, TRACK_OF_PROCESS(place));
	protobuf_submessage(&sheet->inner, TRACK_PROCESS, &sheet->part);
	protobuf_clear(&sheet->part);
	put_packet(sheet, PACKET_TRACK);
	for (unsigned i = 0; i < sheet->threads[place].count; i++) {
		snprintf(name, sizeof(name), "thread %u", sheet->threads[place].items[i]);
		protobuf_number(&sheet->part, THREAD_PID, (uint64_t)process->pid);
		protobuf_number(&sheet->part, THREAD_TID, sheet->threads[place].items[i]);
		protobuf_text(&sheet->part, THREAD_NAME, name);
		protobuf_number(&sheet->inner, TRACK_UUID, TRACK_OF_THREAD(place, i));
		protobuf_number(&sheet->inner, TRACK_PARENT, TRACK_OF_PROCESS(place));
		protobuf_submessage(&sheet->inner, TRACK_THREAD, &sheet->part);
		protobuf_clear(&sheet->part);
		put_packet(sheet, PACKET_TRACK);
	}
}

/* Of those of its counters that there are. */
static void put_counter_tracks(struct sheet *sheet, size_t place)
{
	const struct counter_analysis *counters = &sheet->analysis->counters;

	for (size_t i = 0; i < counters->count; i++) {
		const struct counter_row *row = &counters->rows[i];
		unsigned thread = trace_threads_place(&sheet->threads[place], row->thread);

		if (row->process != place)
			continue;
		protobuf_number(&sheet->inner, TRACK_UUID,
				TRACK_OF_COUNTER(place, thread, row->kind));
		protobuf_text(&sheet->inner, TRACK_NAME, counter_name(row->kind));
		protobuf_number(&sheet->inner, TRACK_PARENT, TRACK_OF_THREAD(place, thread));
		protobuf_submessage(&sheet->inner, TRACK_COUNTER, &sheet->part);
		put_packet(sheet, PACKET_TRACK);
	}
}

/* A viewer draws it from here to the next one: it stands at the beginning of its time. */
static void put_counter(struct sheet *sheet, size_t place, const struct trace_event *event)
{
	unsigned thread = trace_threads_place(&sheet->threads[place], event->thread);

	protobuf_number(&sheet->packet, PACKET_TIMESTAMP, event->begin_ns);
	protobuf_number(&sheet->inner, EVENT_TYPE, COUNTER);
	protobuf_number(&sheet->inner, EVENT_TRACK,
			TRACK_OF_COUNTER(place, thread, event->function));
	protobuf_present_number(&sheet->inner, EVENT_COUNTER_VALUE, event->bytes);
	put_packet(sheet, PACKET_TRACK_EVENT);
}

static void annotate(struct sheet *sheet, const char *name, int64_t value)
{
	protobuf_text(&sheet->part, ANNOTATION_NAME, name);
	protobuf_present_number(&sheet->part, ANNOTATION_NUMBER, (uint64_t)value);
	protobuf_submessage(&sheet->inner, EVENT_ANNOTATION, &sheet->part);
	protobuf_clear(&sheet->part);
}

static void annotate_text(struct sheet *sheet, const char *name, const char *text)
{
	protobuf_text(&sheet->part, ANNOTATION_NAME, name);
	protobuf_text(&sheet->part, ANNOTATION_TEXT, text);
	protobuf_submessage(&sheet->inner, EVENT_ANNOTATION, &sheet->part);
	protobuf_clear(&sheet->part);
}

/* name: NULL: of an end, which has none. What is annotated already stays. */
static void put_event(struct sheet *sheet, enum event_type type, uint64_t ns, uint64_t track,
		      const char *category, const char *name)
{
	protobuf_number(&sheet->packet, PACKET_TIMESTAMP, ns);
	protobuf_number(&sheet->inner, EVENT_TYPE, (uint64_t)type);
	protobuf_number(&sheet->inner, EVENT_TRACK, track);
	if (name) {
		protobuf_text(&sheet->inner, EVENT_CATEGORY, category);
		protobuf_text(&sheet->inner, EVENT_NAME, name);
	}
	put_packet(sheet, PACKET_TRACK_EVENT);
}

static void annotate_line(struct sheet *sheet, uint32_t path)
{
	char words[400] = "";

	if (sheet->analysis->trace->paths)
		call_paths_words(sheet->analysis->trace->paths, path, words, sizeof(words));
	if (words[0])
		annotate_text(sheet, "line", words);
}

static void put_call(struct sheet *sheet, size_t place, const struct trace_event *event)
{
	uint64_t track =
		TRACK_OF_THREAD(place, trace_threads_place(&sheet->threads[place], event->thread));

	uint32_t communicator =
		communicators_find(&sheet->analysis->communicators, place, event->communicator);

	annotate(sheet, "bytes", (int64_t)event->bytes);
	if (event->tag != -1 || event->peer != -1) {
		annotate(sheet, "peer", event->peer);
		annotate(sheet, "tag", event->tag);
	}
	if (communicator)
		annotate(sheet, "communicator", communicator);
	annotate_line(sheet, event->path);
	put_event(sheet, SLICE_BEGIN, event->begin_ns, track, "mpi",
		  mpi_function_name(event->function));
	put_event(sheet, SLICE_END, event->end_ns, track, NULL, NULL);
}

static void put_span(struct sheet *sheet, size_t place, const struct trace_event *event)
{
	uint64_t track =
		TRACK_OF_THREAD(place, trace_threads_place(&sheet->threads[place], event->thread));
	const struct span *span = trace_span(sheet->analysis->trace, event);
	char name[SPAN_NAME_BYTES];

	if (!span)
		return;
	annotate_line(sheet, event->path);
	put_event(sheet, SLICE_BEGIN, event->begin_ns, track, span_kind_name(span->kind),
		  trace_span_name(sheet->analysis->trace, span, event, name));
	put_event(sheet, SLICE_END, event->end_ns, track, NULL, NULL);
}

static void annotate_message(struct sheet *sheet, const struct message *message)
{
	annotate(sheet, "from", sheet->analysis->trace->processes[message->from]->rank);
	annotate(sheet, "to", sheet->analysis->trace->processes[message->to]->rank);
	annotate(sheet, "tag", message->send->tag);
	annotate(sheet, "bytes", (int64_t)message->send->bytes);
	annotate(sheet, "late_ns", (int64_t)message->late_ns);
}

static void put_message(struct sheet *sheet, size_t number)
{
	const struct message *message = &sheet->analysis->messages.items[number];
	const struct trace_event *send = message->send, *receive = message->receive;
	/* Before the call ends, so that it is in it. */
	uint64_t received_ns =
		receive->end_ns > receive->wait_ns ? receive->end_ns - 1 : receive->end_ns;

	annotate_message(sheet, message);
	protobuf_fixed64(&sheet->inner, EVENT_FLOW, number + 1);
	put_event(sheet, INSTANT, send->begin_ns,
		  TRACK_OF_THREAD(message->from, trace_threads_place(&sheet->threads[message->from],
								     send->thread)),
		  "message", "send");
	annotate_message(sheet, message);
	protobuf_fixed64(&sheet->inner, EVENT_FLOW_END, number + 1);
	put_event(sheet, INSTANT, received_ns,
		  TRACK_OF_THREAD(message->to, trace_threads_place(&sheet->threads[message->to],
								   receive->thread)),
		  "message", "receive");
}

int trace_perfetto_write(const struct trace_analysis *analysis, FILE *file)
{
	const struct trace *trace = analysis->trace;
	struct sheet sheet = { .analysis = analysis, .file = file };

	sheet.threads = calloc(trace->count + 1, sizeof(sheet.threads[0]));
	if (!sheet.threads)
		return -ENOMEM;
	for (size_t i = 0; i < trace->count; i++) {
		trace_threads_find(analysis, i, &sheet.threads[i]);
		put_tracks(&sheet, i);
		put_counter_tracks(&sheet, i);
	}
	for (size_t i = 0; i < trace->count; i++)
		for (uint64_t k = 0; k < trace->processes[i]->file.count; k++) {
			const struct trace_event *event = &trace->processes[i]->file.events[k];

			if (event->kind == TRACE_CALL)
				put_call(&sheet, i, event);
			else if (event->kind == TRACE_SPAN)
				put_span(&sheet, i, event);
			else if (event->kind == TRACE_COUNTER && event->function < COUNTER_KINDS)
				put_counter(&sheet, i, event);
		}
	for (size_t i = 0; i < analysis->messages.count; i++)
		put_message(&sheet, i);
	free(sheet.threads);
	protobuf_deinit(&sheet.packet);
	protobuf_deinit(&sheet.inner);
	protobuf_deinit(&sheet.part);
	return sheet.failed ? -ENOMEM : 0;
}

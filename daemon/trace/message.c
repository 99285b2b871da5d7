/* SPDX-License-Identifier: Apache-2.0 */
#include "daemon/trace/message.h"

#include "common/array.h"
#include "daemon/trace/mpi_function.h"

#include <errno.h>
#include <stdlib.h>

/* A send or a receive, with what its channel is. */
struct half {
	const struct trace_event *event;
	uint32_t from, to, communicator;
	int32_t tag;
};

struct halves {
	struct half *items;
	size_t count, capacity;
};

/* A rank that has received from anybody, we do not know whom. */
struct doubt {
	uint32_t to, communicator;
};

struct matching {
	struct messages *messages;
	size_t capacity;
	struct halves sends, receives;
	struct doubt *doubts;
	size_t doubt_count, doubt_capacity;
};

static int compare_channels(const struct half *a, const struct half *b)
{
	if (a->communicator != b->communicator)
		return a->communicator < b->communicator ? -1 : 1;
	if (a->to != b->to)
		return a->to < b->to ? -1 : 1;
	if (a->from != b->from)
		return a->from < b->from ? -1 : 1;
	return a->tag < b->tag ? -1 : a->tag > b->tag;
}

static int compare_halves(const void *left, const void *right)
{
	const struct half *a = left, *b = right;
	int order = compare_channels(a, b);

	if (order)
		return order;
	return a->event->order < b->event->order ? -1 : a->event->order > b->event->order;
}

static int note_doubt(struct matching *matching, uint32_t to, uint32_t communicator)
{
	matching->messages->of_anybody++;
	for (size_t i = 0; i < matching->doubt_count; i++)
		if (matching->doubts[i].to == to &&
		    matching->doubts[i].communicator == communicator)
			return 0;
	if (!ARRAY_ROOM(matching->doubts, matching->doubt_count, matching->doubt_capacity))
		return -ENOMEM;
	matching->doubts[matching->doubt_count++] = (struct doubt){ to, communicator };
	return 0;
}

static bool is_doubtful(const struct matching *matching, const struct half *half)
{
	for (size_t i = 0; i < matching->doubt_count; i++)
		if (matching->doubts[i].to == half->to &&
		    matching->doubts[i].communicator == half->communicator)
			return true;
	return false;
}

static int add_half(struct halves *halves, const struct half *half)
{
	if (!ARRAY_ROOM(halves->items, halves->count, halves->capacity))
		return -ENOMEM;
	halves->items[halves->count++] = *half;
	return 0;
}

static int take_event(struct matching *matching, const struct communicators *communicators,
		      uint32_t process, const struct trace_event *event)
{
	bool sends = event->kind == TRACE_SEND;
	struct half half = { .event = event, .from = process, .to = process, .tag = event->tag };
	uint32_t other;

	/* Nothing that others could see, and nobody waits for. */
	if (event->communicator == TRACE_COMMUNICATOR_SELF)
		return 0;
	half.communicator = communicators_find(communicators, process, event->communicator);
	if (half.communicator == COMMUNICATOR_NONE) {
		matching->messages->elsewhere++;
		return 0;
	}
	if (!sends && event->flags & (TRACE_ANY_PEER | TRACE_ANY_TAG))
		return note_doubt(matching, process, half.communicator);
	other = communicators_member(communicators, half.communicator, event->peer);
	if (other == UINT32_MAX) {
		matching->messages->elsewhere++;
		return 0;
	}
	if (sends)
		half.to = other;
	else
		half.from = other;
	return add_half(sends ? &matching->sends : &matching->receives, &half);
}

static int collect(struct matching *matching, const struct trace *trace,
		   const struct communicators *communicators)
{
	int error = 0;

	for (uint32_t i = 0; i < trace->count; i++) {
		const struct trace_file *file = &trace->processes[i]->file;

		for (uint64_t k = 0; k < file->count && !error; k++)
			if (file->events[k].kind == TRACE_SEND ||
			    file->events[k].kind == TRACE_RECEIVE)
				error = take_event(matching, communicators, i, &file->events[k]);
	}
	if (matching->sends.count)
		qsort(matching->sends.items, matching->sends.count, sizeof(struct half),
		      compare_halves);
	if (matching->receives.count)
		qsort(matching->receives.items, matching->receives.count, sizeof(struct half),
		      compare_halves);
	return error;
}

static int add_message(struct matching *matching, const struct half *send,
		       const struct half *receive)
{
	struct messages *messages = matching->messages;
	struct message message = {
		.send = send->event,
		.receive = receive->event,
		.from = send->from,
		.to = send->to,
		.communicator = send->communicator,
	};

	if (!ARRAY_ROOM(messages->items, messages->count, matching->capacity))
		return -ENOMEM;
	if (send->event->begin_ns > receive->event->wait_ns)
		message.late_ns =
			(send->event->begin_ns < receive->event->end_ns ? send->event->begin_ns
									: receive->event->end_ns) -
			receive->event->wait_ns;
	/* A small one is sent before anybody asks for it, and its send ends at once. */
	if (mpi_functions[send->event->function].class == MPI_SEND &&
	    receive->event->begin_ns > send->event->begin_ns &&
	    receive->event->begin_ns <= send->event->end_ns)
		message.receiver_late_ns = receive->event->begin_ns - send->event->begin_ns;
	messages->items[messages->count++] = message;
	return 0;
}

static int match(struct matching *matching, bool by_order)
{
	const struct halves *sends = &matching->sends, *receives = &matching->receives;
	struct messages *messages = matching->messages;
	size_t i = 0, k = 0;

	while (i < sends->count || k < receives->count) {
		const struct half *send = i < sends->count ? &sends->items[i] : NULL;
		const struct half *receive = k < receives->count ? &receives->items[k] : NULL;
		int order = !send ? 1 : !receive ? -1 : compare_channels(send, receive);

		if (order < 0) {
			*(is_doubtful(matching, send) ? &messages->uncertain
						      : &messages->unmatched_sends) += 1;
			i++;
		} else if (order > 0 ||
			   (!by_order && receive->event->end_ns < send->event->begin_ns)) {
			messages->unmatched_receives++;
			k++;
		} else if (is_doubtful(matching, send)) {
			messages->uncertain++;
			messages->unmatched_receives++;
			i++, k++;
		} else if (add_message(matching, send, receive)) {
			return -ENOMEM;
		} else {
			i++, k++;
		}
	}
	return 0;
}

/* By the call that completed them; the one that was sent last is the first. */
static int compare_waits(const void *left, const void *right)
{
	const struct message *a = left, *b = right;

	if (a->to != b->to)
		return a->to < b->to ? -1 : 1;
	if (a->receive->wait_ns != b->receive->wait_ns)
		return a->receive->wait_ns < b->receive->wait_ns ? -1 : 1;
	return a->late_ns > b->late_ns ? -1 : a->late_ns < b->late_ns;
}

static int compare_sends(const void *left, const void *right)
{
	const struct message *a = left, *b = right;

	if (a->send->begin_ns != b->send->begin_ns)
		return a->send->begin_ns < b->send->begin_ns ? -1 : 1;
	if (a->from != b->from)
		return a->from < b->from ? -1 : 1;
	return a->send->order < b->send->order ? -1 : a->send->order > b->send->order;
}

static void find_held_up(struct messages *messages)
{
	if (!messages->count)
		return;
	qsort(messages->items, messages->count, sizeof(messages->items[0]), compare_waits);
	for (size_t i = 0; i < messages->count; i++) {
		struct message *message = &messages->items[i], *before = message - 1;

		message->held_up =
			message->late_ns && (!i || before->to != message->to ||
					     before->receive->wait_ns != message->receive->wait_ns);
	}
	qsort(messages->items, messages->count, sizeof(messages->items[0]), compare_sends);
}

int messages_init(struct messages *messages, const struct trace *trace,
		  const struct communicators *communicators)
{
	struct matching matching = { .messages = messages };
	int error;

	*messages = (struct messages){ 0 };
	error = collect(&matching, trace, communicators);
	if (!error)
		error = match(&matching, trace->by_order);
	if (!error)
		find_held_up(messages);
	free(matching.sends.items);
	free(matching.receives.items);
	free(matching.doubts);
	return error;
}

void messages_deinit(struct messages *messages)
{
	free(messages->items);
	*messages = (struct messages){ 0 };
}

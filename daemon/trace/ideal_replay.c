/* SPDX-License-Identifier: Apache-2.0 */
#include "daemon/trace/ideal_replay.h"

#include "daemon/trace/mpi_function.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define NO_OPERATION UINT32_MAX

/* A part of a list that is gone through once. */
struct part {
	size_t next, end;
};

struct replay_rank {
	const struct trace_process *process;
	uint64_t next_event;
	uint64_t clock_ns;              /* in the ideal run, since its beginning */
	uint64_t until_ns;              /* in the trace: what came before was played */
	const struct trace_event *call; /* in which it is; NULL: it computes */
	struct part sends, receives, posts, calls;
	size_t sends_first; /* of the call: from there to sends.next */
	uint32_t operation; /* of the call; NO_OPERATION */
	uint32_t place;     /* as which member */
	uint64_t scan_ns;   /* when those before it had come; IDEAL_NOT_YET */
	bool queued, finished;
};

struct replay {
	const struct ideal_subject *subject;
	struct ideal_run *ideal;
	struct replay_rank *ranks;
	uint32_t *queue; /* ranks that may go on, in a ring of as many as there are */
	size_t queue_first, queue_count;
	/* Messages, by who sends and when, who waits and when, who receives and when. */
	const struct message **by_send, **by_receive, **by_post;
	uint64_t *sent_ns, *posted_ns; /* of each message, in the ideal run */
	uint64_t rendezvous_bytes;     /* of MPI_Send: from so many on */
};

/* ---- messages ---- */

static int compare_receivers(const struct message *a, const struct message *b, uint64_t a_ns,
			     uint64_t b_ns)
{
	if (a->to != b->to)
		return a->to < b->to ? -1 : 1;
	return a_ns < b_ns ? -1 : a_ns > b_ns;
}

static int compare_waits(const void *left, const void *right)
{
	const struct message *a = *(const struct message *const *)left;
	const struct message *b = *(const struct message *const *)right;

	return compare_receivers(a, b, a->receive->wait_ns, b->receive->wait_ns);
}

static int compare_posts(const void *left, const void *right)
{
	const struct message *a = *(const struct message *const *)left;
	const struct message *b = *(const struct message *const *)right;

	return compare_receivers(a, b, a->receive->begin_ns, b->receive->begin_ns);
}

static int compare_sends(const void *left, const void *right)
{
	const struct message *a = *(const struct message *const *)left;
	const struct message *b = *(const struct message *const *)right;

	if (a->from != b->from)
		return a->from < b->from ? -1 : 1;
	return a->send->begin_ns < b->send->begin_ns ? -1 : a->send->begin_ns > b->send->begin_ns;
}

static bool is_send(const struct message *message, const char *name)
{
	return !strcmp(mpi_functions[message->send->function].name, name);
}

/* From which size on a send has waited for its receiver. */
static uint64_t find_rendezvous(const struct messages *messages)
{
	uint64_t eager_bytes = 0, least_bytes = UINT64_MAX;

	for (size_t i = 0; i < messages->count; i++) {
		const struct message *message = &messages->items[i];

		if (is_send(message, "MPI_Send") &&
		    message->send->end_ns < message->receive->begin_ns &&
		    message->send->bytes > eager_bytes)
			eager_bytes = message->send->bytes;
	}
	for (size_t i = 0; i < messages->count; i++) {
		const struct message *message = &messages->items[i];

		if (is_send(message, "MPI_Send") && message->receiver_late_ns &&
		    message->send->bytes > eager_bytes && message->send->bytes < least_bytes)
			least_bytes = message->send->bytes;
	}
	return least_bytes;
}

static bool is_rendezvous(const struct replay *replay, const struct message *message)
{
	return is_send(message, "MPI_Ssend") ||
	       (is_send(message, "MPI_Send") && message->send->bytes >= replay->rendezvous_bytes);
}

static size_t number_of(const struct replay *replay, const struct message *message)
{
	return (size_t)(message - replay->subject->messages->items);
}

/* What each rank has of a list that is sorted by ranks. */
static void share(const struct message **list, size_t count, bool of_sender,
		  struct replay_rank *ranks, size_t offset)
{
	for (size_t i = 0; i < count; i++) {
		uint32_t rank = of_sender ? list[i]->from : list[i]->to;
		struct part *part = (struct part *)(void *)((char *)&ranks[rank] + offset);

		if (part->end == part->next)
			part->next = i;
		part->end = i + 1;
	}
}

static int sort_messages(struct replay *replay)
{
	const struct messages *messages = replay->subject->messages;
	size_t count = messages->count;

	replay->by_send = calloc(count + 1, sizeof(replay->by_send[0]));
	replay->by_receive = calloc(count + 1, sizeof(replay->by_receive[0]));
	replay->by_post = calloc(count + 1, sizeof(replay->by_post[0]));
	replay->sent_ns = calloc(count + 1, sizeof(replay->sent_ns[0]));
	replay->posted_ns = calloc(count + 1, sizeof(replay->posted_ns[0]));
	if (!replay->by_send || !replay->by_receive || !replay->by_post || !replay->sent_ns ||
	    !replay->posted_ns)
		return -ENOMEM;
	for (size_t i = 0; i < count; i++) {
		const struct message *message = &messages->items[i];

		replay->by_send[i] = replay->by_receive[i] = replay->by_post[i] = message;
		/* What was done before the time, or is done by nobody in it, is not waited for. */
		if (ideal_is_in_window(replay->subject, message->send))
			replay->sent_ns[i] = IDEAL_NOT_YET;
		if (message->receive->begin_ns >= replay->subject->begin_ns &&
		    message->receive->begin_ns < replay->subject->end_ns)
			replay->posted_ns[i] = IDEAL_NOT_YET;
	}
	qsort(replay->by_send, count, sizeof(replay->by_send[0]), compare_sends);
	qsort(replay->by_receive, count, sizeof(replay->by_receive[0]), compare_waits);
	qsort(replay->by_post, count, sizeof(replay->by_post[0]), compare_posts);
	share(replay->by_send, count, true, replay->ranks, offsetof(struct replay_rank, sends));
	share(replay->by_receive, count, false, replay->ranks,
	      offsetof(struct replay_rank, receives));
	share(replay->by_post, count, false, replay->ranks, offsetof(struct replay_rank, posts));
	replay->rendezvous_bytes = find_rendezvous(messages);
	return 0;
}

/* ---- who may go on ---- */

static void wake(struct replay *replay, uint32_t place)
{
	struct replay_rank *rank = &replay->ranks[place];

	if (rank->queued || rank->finished)
		return;
	rank->queued = true;
	replay->queue[(replay->queue_first + replay->queue_count++) %
		      replay->subject->trace->count] = place;
}

static const struct communicator *members_of(const struct replay *replay,
					     const struct ideal_operation *operation)
{
	return &replay->subject->communicators->items[operation->communicator];
}

/* Members wait for those before them. */
static void go_on_with_scan(struct replay *replay, struct ideal_operation *operation,
			    uint32_t number)
{
	const struct communicator *members = members_of(replay, operation);

	while (operation->arrived < members->size) {
		uint32_t place = members->members[operation->arrived];
		struct replay_rank *rank = &replay->ranks[place];

		if (rank->operation != number)
			return;
		if (rank->clock_ns > operation->last_ns)
			operation->last_ns = rank->clock_ns;
		rank->scan_ns = operation->last_ns;
		operation->arrived++;
		wake(replay, place);
	}
}

static void arrive(struct replay *replay, struct replay_rank *rank)
{
	struct ideal_operation *operation = &replay->ideal->operations[rank->operation];
	const struct communicator *members = members_of(replay, operation);

	if (operation->class == MPI_SCAN) {
		go_on_with_scan(replay, operation, rank->operation);
		return;
	}
	operation->arrived++;
	if (rank->clock_ns > operation->last_ns)
		operation->last_ns = rank->clock_ns;
	if (rank->place == operation->root)
		operation->root_ns = rank->clock_ns;
	if (operation->arrived < members->size && rank->place != operation->root)
		return;
	for (uint32_t i = 0; i < members->size; i++)
		if (replay->ranks[members->members[i]].operation == rank->operation)
			wake(replay, members->members[i]);
}

/* When the rank's operation lets it go; IDEAL_NOT_YET. */
static uint64_t operation_lets_go(const struct replay *replay, const struct replay_rank *rank)
{
	const struct ideal_operation *operation = &replay->ideal->operations[rank->operation];
	uint64_t all_ns = operation->arrived == members_of(replay, operation)->size
				  ? operation->last_ns
				  : IDEAL_NOT_YET;

	switch (operation->class) {
	case MPI_OTHER:
		return 0;
	case MPI_SCAN:
		return rank->scan_ns;
	case MPI_FROM_ROOT:
		return operation->root_ns;
	case MPI_TO_ROOT:
		return rank->place == operation->root ? all_ns : 0;
	default:
		return all_ns;
	}
}

/* ---- calls ---- */

/* What a call gives to others it gives when it begins. */
static void enter(struct replay *replay, struct replay_rank *rank, const struct trace_event *call)
{
	const struct ideal_run *ideal = replay->ideal;

	if (call->begin_ns > rank->until_ns)
		rank->clock_ns += call->begin_ns - rank->until_ns;
	if (call->end_ns > rank->until_ns)
		rank->until_ns = call->end_ns;
	rank->call = call;
	rank->operation = NO_OPERATION;
	rank->scan_ns = IDEAL_NOT_YET;
	rank->sends_first = rank->sends.next;
	for (; rank->sends.next < rank->sends.end; rank->sends.next++) {
		const struct message *message = replay->by_send[rank->sends.next];
		uint64_t *sent_ns = &replay->sent_ns[number_of(replay, message)];

		if (message->send->begin_ns > call->begin_ns)
			break;
		if (*sent_ns == IDEAL_NOT_YET)
			*sent_ns = rank->clock_ns;
		wake(replay, message->to);
	}
	for (; rank->posts.next < rank->posts.end; rank->posts.next++) {
		const struct message *message = replay->by_post[rank->posts.next];
		uint64_t *posted_ns = &replay->posted_ns[number_of(replay, message)];

		if (message->receive->begin_ns > call->begin_ns)
			break;
		if (*posted_ns == IDEAL_NOT_YET)
			*posted_ns = rank->clock_ns;
		wake(replay, message->from);
	}
	while (rank->calls.next < rank->calls.end && ideal->calls[rank->calls.next].event < call)
		rank->calls.next++;
	if (rank->calls.next < rank->calls.end && ideal->calls[rank->calls.next].event == call) {
		rank->operation = ideal->calls[rank->calls.next].operation;
		rank->place = ideal->calls[rank->calls.next].place;
		arrive(replay, rank);
	}
}

static void wait_until(struct replay_rank *rank, uint64_t ns)
{
	if (ns > rank->clock_ns)
		rank->clock_ns = ns;
}

/* False: it has to wait for somebody who has not come yet. May be asked again. */
static bool leave(struct replay *replay, struct replay_rank *rank)
{
	const struct trace_event *call = rank->call;

	for (; rank->receives.next < rank->receives.end; rank->receives.next++) {
		const struct message *message = replay->by_receive[rank->receives.next];
		uint64_t sent_ns = replay->sent_ns[number_of(replay, message)];

		if (message->receive->wait_ns > call->begin_ns)
			break;
		/* In calls that ended before the time. */
		if (message->receive->end_ns <= replay->subject->begin_ns)
			continue;
		if (sent_ns == IDEAL_NOT_YET)
			return false;
		wait_until(rank, sent_ns);
	}
	for (; rank->sends_first < rank->sends.next; rank->sends_first++) {
		const struct message *message = replay->by_send[rank->sends_first];
		uint64_t posted_ns = replay->posted_ns[number_of(replay, message)];

		if (message->send->begin_ns != call->begin_ns || !is_rendezvous(replay, message))
			continue;
		if (posted_ns == IDEAL_NOT_YET)
			return false;
		wait_until(rank, posted_ns);
	}
	if (rank->operation != NO_OPERATION) {
		uint64_t ns = operation_lets_go(replay, rank);

		if (ns == IDEAL_NOT_YET)
			return false;
		wait_until(rank, ns);
	}
	rank->call = NULL;
	rank->operation = NO_OPERATION;
	return true;
}

/* NULL: it makes no more in the time. */
static const struct trace_event *next_call(const struct replay *replay, struct replay_rank *rank)
{
	const struct trace_file *file = &rank->process->file;

	while (rank->next_event < file->count) {
		const struct trace_event *event = &file->events[rank->next_event++];

		if (event->kind == TRACE_CALL && event->function < mpi_function_count &&
		    ideal_is_in_window(replay->subject, event))
			return event;
	}
	return NULL;
}

/* Until it has to wait, or the time is over. */
static void play(struct replay *replay, struct replay_rank *rank)
{
	uint64_t end_ns = replay->subject->end_ns;

	while (!rank->call || leave(replay, rank)) {
		const struct trace_event *call = next_call(replay, rank);

		if (call) {
			enter(replay, rank, call);
			if (!ideal_is_cut(replay->subject, call))
				continue;
		}
		if (end_ns > rank->until_ns)
			rank->clock_ns += end_ns - rank->until_ns;
		rank->finished = true;
		return;
	}
}

/* ---- the run ---- */

static int begin(struct replay *replay)
{
	const struct trace *trace = replay->subject->trace;
	const struct ideal_run *ideal = replay->ideal;

	replay->ranks = calloc(trace->count + 1, sizeof(replay->ranks[0]));
	replay->queue = calloc(trace->count + 1, sizeof(replay->queue[0]));
	if (!replay->ranks || !replay->queue)
		return -ENOMEM;
	for (uint32_t i = 0; i < trace->count; i++) {
		replay->ranks[i].process = trace->processes[i];
		replay->ranks[i].until_ns = replay->subject->begin_ns;
		replay->ranks[i].operation = NO_OPERATION;
		replay->ranks[i].finished = !trace->processes[i]->calls;
		wake(replay, i);
	}
	for (size_t i = 0; i < ideal->call_count; i++) {
		struct part *calls = &replay->ranks[ideal->calls[i].process].calls;

		if (calls->end == calls->next)
			calls->next = i;
		calls->end = i + 1;
	}
	return sort_messages(replay);
}

static void play_all(struct replay *replay)
{
	size_t count = replay->subject->trace->count;
	struct ideal_run *ideal = replay->ideal;

	while (replay->queue_count) {
		struct replay_rank *rank = &replay->ranks[replay->queue[replay->queue_first]];

		replay->queue_first = (replay->queue_first + 1) % count;
		replay->queue_count--;
		rank->queued = false;
		if (!rank->finished)
			play(replay, rank);
	}
	ideal->ns = ideal->count = 0;
	for (size_t i = 0; i < count; i++) {
		ideal->count += !replay->ranks[i].finished;
		if (replay->ranks[i].clock_ns > ideal->ns)
			ideal->ns = replay->ranks[i].clock_ns;
	}
	ideal->state = ideal->count ? IDEAL_STUCK : IDEAL_KNOWN;
}

int ideal_replay(struct ideal_run *ideal, const struct ideal_subject *subject)
{
	struct replay replay = { .subject = subject, .ideal = ideal };
	int error = begin(&replay);

	if (!error)
		play_all(&replay);
	free(replay.ranks);
	free(replay.queue);
	free(replay.by_send);
	free(replay.by_receive);
	free(replay.by_post);
	free(replay.sent_ns);
	free(replay.posted_ns);
	return error;
}

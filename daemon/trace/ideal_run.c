/* SPDX-License-Identifier: Apache-2.0 */
#include "daemon/trace/ideal_run.h"

#include "common/array.h"
#include "daemon/report/encode/figure.h"
#include "daemon/trace/ideal_replay.h"
#include "daemon/trace/mpi_function.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- operations ---- */

int ideal_run_note(struct ideal_run *ideal, const struct ideal_subject *subject,
		   uint32_t communicator, const struct trace_event *const *calls, uint32_t root)
{
	const struct communicator *members = &subject->communicators->items[communicator];
	struct ideal_operation operation = { .communicator = communicator,
					     .root = root,
					     .root_ns = IDEAL_NOT_YET,
					     .class = (uint32_t)mpi_functions[calls[0]->function]
							      .class };
	bool any = false, all = true;

	for (uint32_t i = 0; i < members->size; i++) {
		bool within = ideal_is_in_window(subject, calls[i]);

		any |= within;
		all &= within;
	}
	if (!any)
		return 0;
	/* Across the edge of the time it is not played in turn. */
	if (operation.class == MPI_SCAN && !all)
		operation.class = MPI_OTHER;
	for (uint32_t i = 0; i < members->size; i++) {
		if (!ideal_is_in_window(subject, calls[i])) {
			operation.arrived += calls[i]->end_ns <= subject->begin_ns;
			if (i == root && calls[i]->end_ns <= subject->begin_ns)
				operation.root_ns = 0;
			continue;
		}
		if (!ARRAY_ROOM(ideal->calls, ideal->call_count, ideal->call_capacity))
			return -ENOMEM;
		ideal->calls[ideal->call_count++] =
			(struct ideal_call){ .event = calls[i],
					     .process = members->members[i],
					     .operation = (uint32_t)ideal->operation_count,
					     .place = i };
	}
	if (!ARRAY_ROOM(ideal->operations, ideal->operation_count, ideal->operation_capacity))
		return -ENOMEM;
	ideal->operations[ideal->operation_count++] = operation;
	return 0;
}

void ideal_run_deinit(struct ideal_run *ideal)
{
	free(ideal->operations);
	free(ideal->calls);
	*ideal = (struct ideal_run){ 0 };
}

static int compare_calls(const void *left, const void *right)
{
	const struct ideal_call *a = left, *b = right;

	if (a->process != b->process)
		return a->process < b->process ? -1 : 1;
	return a->event < b->event ? -1 : a->event > b->event;
}

/* ---- whether all is known ---- */

/* Calls that may wait for others, and do not say for whom. */
static bool is_unfollowed(const struct trace_event *call)
{
	const struct mpi_function *function = &mpi_functions[call->function];

	return function->class == MPI_OTHER && strcmp(function->name, "MPI_Probe") &&
	       strcmp(function->name, "MPI_Iprobe");
}

/* Of one member, or nobody else's. */
static bool is_alone(const struct ideal_subject *subject, size_t place,
		     const struct trace_event *call)
{
	uint32_t communicator =
		communicators_find(subject->communicators, place, call->communicator);

	return call->communicator == TRACE_COMMUNICATOR_SELF ||
	       (communicator != COMMUNICATOR_NONE &&
		subject->communicators->items[communicator].size == 1);
}

struct shortfall {
	uint64_t unfollowed, receives, collective;
	uint16_t function;
	size_t next_call; /* of the ideal run's */
	uint32_t thread;  /* of the process in hand that calls MPI; 0: none so far */
	bool threads;     /* there are several */
};

static void look_at_event(const struct ideal_subject *subject, const struct ideal_run *ideal,
			  uint32_t place, const struct trace_event *event,
			  struct shortfall *shortfall)
{
	if (event->kind == TRACE_CALL) {
		shortfall->threads |= shortfall->thread && shortfall->thread != event->thread;
		shortfall->thread = event->thread;
	}
	if (!ideal_is_in_window(subject, event) || ideal_is_cut(subject, event))
		return;
	if (event->kind == TRACE_RECEIVE)
		shortfall->receives += event->communicator != TRACE_COMMUNICATOR_SELF;
	if (event->kind != TRACE_CALL || event->function >= mpi_function_count)
		return;
	if (is_unfollowed(event)) {
		shortfall->unfollowed++;
		shortfall->function = event->function;
	}
	if (!mpi_class_is_collective(mpi_functions[event->function].class) ||
	    is_alone(subject, place, event))
		return;
	while (shortfall->next_call < ideal->call_count &&
	       (ideal->calls[shortfall->next_call].process < place ||
		(ideal->calls[shortfall->next_call].process == place &&
		 ideal->calls[shortfall->next_call].event < event)))
		shortfall->next_call++;
	if (shortfall->next_call == ideal->call_count ||
	    ideal->calls[shortfall->next_call].event != event)
		shortfall->collective++;
}

static bool settle(struct ideal_run *ideal, enum ideal_state state, uint64_t count)
{
	ideal->state = state;
	ideal->count = count;
	return count == 0;
}

/* False: no, and why is told. */
static bool is_all_known(const struct ideal_subject *subject, struct ideal_run *ideal)
{
	struct shortfall shortfall = { 0 };
	uint64_t threaded = 0;

	for (uint32_t i = 0; i < subject->trace->count; i++) {
		const struct trace_file *file = &subject->trace->processes[i]->file;

		shortfall.thread = 0;
		shortfall.threads = false;
		for (uint64_t k = 0; k < file->count; k++)
			look_at_event(subject, ideal, i, &file->events[k], &shortfall);
		threaded += shortfall.threads;
	}
	for (size_t i = 0; i < subject->messages->count; i++) {
		const struct trace_event *receive = subject->messages->items[i].receive;

		shortfall.receives -=
			ideal_is_in_window(subject, receive) && !ideal_is_cut(subject, receive);
	}
	ideal->function = shortfall.function;
	return settle(ideal, IDEAL_MISSING, subject->missing) &&
	       settle(ideal, IDEAL_THREADS, threaded) &&
	       settle(ideal, IDEAL_UNFOLLOWED, shortfall.unfollowed) &&
	       settle(ideal, IDEAL_RECEIVES, shortfall.receives) &&
	       settle(ideal, IDEAL_COLLECTIVE, shortfall.collective);
}

void ideal_run_reason(const struct ideal_run *ideal, char *ret_words, size_t size)
{
	uint64_t count = ideal->count;
	const char *plural = figure_plural(count);

	switch (ideal->state) {
	case IDEAL_MISSING:
		snprintf(ret_words, size, "%" PRIu64 " event%s not recorded", count,
			 count == 1 ? " was" : "s were");
		break;
	case IDEAL_THREADS:
		snprintf(ret_words, size, "several threads of %" PRIu64 " rank%s call MPI", count,
			 plural);
		break;
	case IDEAL_UNFOLLOWED:
		snprintf(ret_words, size,
			 "for whom %" PRIu64 " call%s such as %s may wait is not followed", count,
			 plural, mpi_function_name(ideal->function));
		break;
	case IDEAL_RECEIVES:
		snprintf(ret_words, size, "of %" PRIu64 " receive%s the send is not known", count,
			 plural);
		break;
	case IDEAL_COLLECTIVE:
		snprintf(ret_words, size,
			 "of %" PRIu64 " call%s of collective operations the other ranks' are not "
			 "known",
			 count, plural);
		break;
	case IDEAL_STUCK:
		snprintf(ret_words, size,
			 "played again, %" PRIu64 " rank%s would wait for ever: something was "
			 "matched wrongly",
			 count, plural);
		break;
	case IDEAL_NO_TIME:
	case IDEAL_KNOWN:
		snprintf(ret_words, size, "%s", "there was no time in which all ranks ran");
		break;
	}
}

int ideal_run_find(struct ideal_run *ideal, const struct ideal_subject *subject)
{
	if (ideal->call_count)
		qsort(ideal->calls, ideal->call_count, sizeof(ideal->calls[0]), compare_calls);
	ideal->state = IDEAL_NO_TIME;
	if (subject->end_ns == subject->begin_ns || !is_all_known(subject, ideal))
		return 0;
	return ideal_replay(ideal, subject);
}

/* SPDX-License-Identifier: Apache-2.0 */
#include "daemon/trace/collective.h"

#include "common/array.h"
#include "daemon/trace/mpi_function.h"

#include <errno.h>
#include <stdlib.h>

/* Calls of one member, in its order. */
struct member_calls {
	const struct trace_event **items;
	size_t count, capacity, next;
};

struct walk {
	const struct communicator *communicator;
	struct member_calls *members;     /* by rank */
	const struct trace_event **calls; /* of each, the one that it is at */
	uint32_t number;                  /* the communicator's */
	bool by_order;                    /* as the trace's */
	const struct collective_taker *taker;
	struct collectives *collectives;
};

static enum mpi_class class_of(const struct trace_event *call)
{
	return call->function < mpi_function_count ? mpi_functions[call->function].class
						   : MPI_OTHER;
}

static int compare_orders(const void *left, const void *right)
{
	const struct trace_event *a = *(const struct trace_event *const *)left;
	const struct trace_event *b = *(const struct trace_event *const *)right;

	return a->order < b->order ? -1 : a->order > b->order;
}

static int collect(const struct trace *trace, const struct communicators *communicators,
		   uint32_t number, struct member_calls *members)
{
	const struct communicator *communicator = &communicators->items[number];

	for (uint32_t i = 0; i < communicator->size; i++) {
		uint32_t process = communicator->members[i];
		const struct trace_file *file =
			process == UINT32_MAX ? NULL : &trace->processes[process]->file;

		members[i].count = members[i].next = 0;
		for (uint64_t k = 0; file && k < file->count; k++) {
			const struct trace_event *event = &file->events[k];

			if (event->kind != TRACE_CALL ||
			    !mpi_class_is_collective(class_of(event)) ||
			    communicators_find(communicators, process, event->communicator) !=
				    number)
				continue;
			if (!ARRAY_ROOM(members[i].items, members[i].count, members[i].capacity))
				return -ENOMEM;
			members[i].items[members[i].count++] = event;
		}
		if (members[i].count)
			qsort(members[i].items, members[i].count, sizeof(members[i].items[0]),
			      compare_orders);
	}
	return 0;
}

static void wait_for(const struct walk *walk, uint32_t who, uint32_t whom)
{
	const struct trace_event *waits = walk->calls[who], *late = walk->calls[whom];
	struct collective_wait wait = {
		.who = walk->communicator->members[who],
		.whom = walk->communicator->members[whom],
		.begin_ns = waits->begin_ns,
		.function = waits->function,
		.path = waits->path,
		.late_path = late->path,
	};

	if (who == whom || late->begin_ns <= waits->begin_ns)
		return;
	wait.ns =
		(late->begin_ns < waits->end_ns ? late->begin_ns : waits->end_ns) - waits->begin_ns;
	walk->taker->wait(walk->taker->context, &wait);
}

/* Which of them came last. */
static uint32_t find_last(const struct walk *walk)
{
	uint32_t last = 0;

	for (uint32_t i = 1; i < walk->communicator->size; i++)
		if (walk->calls[i]->begin_ns > walk->calls[last]->begin_ns)
			last = i;
	return last;
}

static void take_operation(const struct walk *walk)
{
	const struct trace_event *first = walk->calls[0];
	enum mpi_class class = class_of(first);
	uint32_t size = walk->communicator->size, last = find_last(walk);
	uint32_t root =
		first->peer >= 0 && (uint32_t)first->peer < size ? (uint32_t)first->peer : last;

	walk->collectives->operations++;
	walk->taker->operation(walk->taker->context, walk->number, walk->calls, root);
	if (class == MPI_TO_ROOT)
		wait_for(walk, root, last);
	for (uint32_t i = 0; i < size && class != MPI_TO_ROOT && class != MPI_SCAN; i++)
		wait_for(walk, i, class == MPI_FROM_ROOT ? root : last);
}

/* Who has a call that cannot be of the same operation as another one's; size: nobody. */
static uint32_t find_stray(const struct walk *walk)
{
	uint32_t size = walk->communicator->size, last = find_last(walk), first = 0;
	bool differ = false;

	for (uint32_t i = 1; i < size; i++) {
		differ |= walk->calls[i]->function != walk->calls[0]->function;
		if (walk->calls[i]->end_ns < walk->calls[first]->end_ns)
			first = i;
	}
	if (differ)
		return first;
	return class_of(walk->calls[0]) == MPI_COLLECTIVE && !walk->by_order &&
			       walk->calls[first]->end_ns < walk->calls[last]->begin_ns
		       ? first
		       : size;
}

/* False: one of them has made no more. */
static bool look_at_calls(const struct walk *walk)
{
	for (uint32_t i = 0; i < walk->communicator->size; i++) {
		const struct member_calls *member = &walk->members[i];

		if (member->next >= member->count)
			return false;
		walk->calls[i] = member->items[member->next];
	}
	return walk->communicator->size > 1;
}

static void go_through(const struct walk *walk)
{
	while (look_at_calls(walk)) {
		uint32_t stray = find_stray(walk);

		if (stray < walk->communicator->size) {
			walk->members[stray].next++;
			walk->collectives->passed_over++;
			continue;
		}
		take_operation(walk);
		for (uint32_t i = 0; i < walk->communicator->size; i++)
			walk->members[i].next++;
	}
}

int collectives_go_through(const struct trace *trace, const struct communicators *communicators,
			   const struct collective_taker *taker,
			   struct collectives *ret_collectives)
{
	int error = 0;

	*ret_collectives = (struct collectives){ 0 };
	for (uint32_t number = COMMUNICATOR_ALL; number < communicators->count && !error;
	     number++) {
		const struct communicator *communicator = &communicators->items[number];
		struct walk walk = { .communicator = communicator,
				     .number = number,
				     .by_order = trace->by_order,
				     .taker = taker,
				     .collectives = ret_collectives };

		walk.members = calloc(communicator->size + 1, sizeof(walk.members[0]));
		walk.calls = calloc(communicator->size + 1, sizeof(walk.calls[0]));
		error = walk.members && walk.calls
				? collect(trace, communicators, number, walk.members)
				: -ENOMEM;
		if (!error)
			go_through(&walk);
		for (uint32_t i = 0; walk.members && i < communicator->size; i++)
			free(walk.members[i].items);
		free(walk.members);
		free(walk.calls);
	}
	return error;
}

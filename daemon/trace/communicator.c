/* SPDX-License-Identifier: Apache-2.0 */
#include "daemon/trace/communicator.h"

#include "common/array.h"
#include "daemon/trace/mpi_function.h"

#include <errno.h>
#include <stdlib.h>

/* What a process has made, in its order. */
struct made {
	const struct trace_event **events;
	size_t count, capacity;
};

/* One of those who split a communicator. */
struct part {
	uint32_t process;
	int32_t rank; /* in the one that is split */
	const struct trace_event *event;
};

static int compare_orders(const void *left, const void *right)
{
	const struct trace_event *a = *(const struct trace_event *const *)left;
	const struct trace_event *b = *(const struct trace_event *const *)right;

	return a->order < b->order ? -1 : a->order > b->order;
}

static int collect(const struct trace_process *process, struct made *made)
{
	for (uint64_t i = 0; i < process->file.count; i++) {
		const struct trace_event *event = &process->file.events[i];

		if (event->kind != TRACE_COMMUNICATOR)
			continue;
		if (!ARRAY_ROOM(made->events, made->count, made->capacity))
			return -ENOMEM;
		made->events[made->count++] = event;
	}
	if (made->count)
		qsort(made->events, made->count, sizeof(made->events[0]), compare_orders);
	return 0;
}

/* Room for members that are not known yet. *ret_number: COMMUNICATOR_NONE when there are too many.
 */
static int add_communicator(struct communicators *communicators, uint32_t size,
			    uint32_t *ret_number)
{
	struct communicator made = { calloc(size ? size : 1, sizeof(uint32_t)), size };

	*ret_number = COMMUNICATOR_NONE;
	if (!made.members)
		return -ENOMEM;
	if (communicators->count == COMMUNICATORS_MAX) {
		free(made.members);
		return 0;
	}
	if (!ARRAY_ROOM(communicators->items, communicators->count, communicators->capacity)) {
		free(made.members);
		return -ENOMEM;
	}
	for (uint32_t i = 0; i < size; i++)
		made.members[i] = UINT32_MAX;
	*ret_number = communicators->count;
	communicators->items[communicators->count++] = made;
	return 0;
}

static int add_world(struct communicators *communicators, const struct trace *trace)
{
	uint32_t size = (uint32_t)trace->count, number;
	int error;

	for (size_t i = 0; i < trace->count; i++) {
		const struct trace_process *process = trace->processes[i];

		if (process->size > 0 && (uint32_t)process->size > size)
			size = (uint32_t)process->size;
		if (process->rank >= 0 && (uint32_t)process->rank >= size)
			size = (uint32_t)process->rank + 1;
	}
	/* The first one is none. */
	error = add_communicator(communicators, 0, &number);
	if (!error)
		error = add_communicator(communicators, size, &number);
	for (size_t i = 0; i < trace->count && !error; i++)
		if (trace->ranks_known)
			communicators->items[number].members[trace->processes[i]->rank] =
				(uint32_t)i;
	return error;
}

static void note(struct communicators *communicators, size_t process, uint32_t number,
		 uint32_t which)
{
	if (number < communicators->number_counts[process])
		communicators->numbers[process][number] = which;
}

static int compare_parts(const void *left, const void *right)
{
	const struct part *a = left, *b = right;

	if (a->event->tag != b->event->tag)
		return a->event->tag < b->event->tag ? -1 : 1;
	if (a->event->key != b->event->key)
		return a->event->key < b->event->key ? -1 : 1;
	return a->rank < b->rank ? -1 : a->rank > b->rank;
}

/* By colour; in each, by key and rank. A negative colour takes part in none. */
static int split(struct communicators *communicators, struct part *parts, uint32_t size)
{
	qsort(parts, size, sizeof(parts[0]), compare_parts);
	for (uint32_t first = 0, end; first < size; first = end) {
		uint32_t number;

		end = first;
		while (end < size && parts[end].event->tag == parts[first].event->tag)
			end++;
		if (parts[first].event->tag < 0)
			continue;
		if (add_communicator(communicators, end - first, &number))
			return -ENOMEM;
		for (uint32_t i = first; i < end && number; i++) {
			communicators->items[number].members[i - first] = parts[i].process;
			note(communicators, parts[i].process, parts[i].event->communicator, number);
		}
	}
	return 0;
}

static int duplicate(struct communicators *communicators, const struct part *parts, uint32_t size)
{
	uint32_t number;

	if (add_communicator(communicators, size, &number))
		return -ENOMEM;
	for (uint32_t i = 0; i < size && number; i++) {
		communicators->items[number].members[i] = parts[i].process;
		note(communicators, parts[i].process, parts[i].event->communicator, number);
	}
	return 0;
}

/* Of what the process has made, from there on, the first one of this parent; its place. */
static size_t next_child(const struct communicators *communicators, const struct made *made,
			 size_t process, uint32_t parent, size_t from)
{
	while (from < made[process].count &&
	       communicators_find(communicators, process,
				  (uint32_t)made[process].events[from]->peer) != parent)
		from++;
	return from;
}

/* Where each member is in what it has made. False: one of them has made no more. */
static bool look_at_parts(const struct communicators *communicators, const struct made *made,
			  uint32_t parent, size_t *next, struct part *parts)
{
	const struct communicator *members = &communicators->items[parent];

	for (uint32_t i = 0; i < members->size; i++) {
		uint32_t process = members->members[i];

		if (process == UINT32_MAX)
			return false;
		next[i] = next_child(communicators, made, process, parent, next[i]);
		if (next[i] == made[process].count)
			return false;
		parts[i] = (struct part){ process, (int32_t)i, made[process].events[next[i]] };
	}
	return members->size > 0;
}

/* Nobody leaves before all have come: who has one that is an earlier one? size: nobody. */
static uint32_t find_stray(const struct part *parts, uint32_t size, bool by_order)
{
	uint32_t first = 0, last = 0;
	bool differ = false;

	for (uint32_t i = 1; i < size; i++) {
		differ |= parts[i].event->function != parts[0].event->function;
		if (parts[i].event->end_ns < parts[first].event->end_ns)
			first = i;
		if (parts[i].event->begin_ns > parts[last].event->begin_ns)
			last = i;
	}
	differ |= !by_order && parts[first].event->end_ns < parts[last].event->begin_ns;
	return differ ? first : size;
}

/* Of groups, some may not be. */
static bool colours_are_known(const struct part *parts, uint32_t size)
{
	for (uint32_t i = 0; i < size; i++)
		if (parts[i].event->tag == TRACE_COLOUR_UNKNOWN)
			return false;
	return true;
}

static int make_child(struct communicators *communicators, struct part *parts, uint32_t size)
{
	enum mpi_class class = mpi_functions[parts[0].event->function].class;

	if (class == MPI_COMMUNICATOR_SPLIT)
		return split(communicators, parts, size);
	if (class == MPI_COMMUNICATOR_CREATE && colours_are_known(parts, size))
		return split(communicators, parts, size);
	if (class == MPI_COMMUNICATOR_DUP)
		return duplicate(communicators, parts, size);
	communicators->not_followed++;
	return 0;
}

/* All that its members have made of one together; these come behind. */
static int make_children(struct communicators *communicators, const struct made *made,
			 uint32_t parent, size_t *next, struct part *parts)
{
	uint32_t size = communicators->items[parent].size;
	bool any = false;
	int error = 0;

	for (uint32_t i = 0; i < size; i++)
		next[i] = 0;
	while (!error && look_at_parts(communicators, made, parent, next, parts)) {
		uint32_t stray = find_stray(parts, size, communicators->by_order);

		if (stray < size && any)
			break;
		if (stray < size) {
			next[stray]++;
			continue;
		}
		any = true;
		error = make_child(communicators, parts, size);
		for (uint32_t i = 0; i < size; i++)
			next[i]++;
	}
	return error;
}

static int make_all(struct communicators *communicators, const struct made *made)
{
	size_t room = communicators->items[COMMUNICATOR_ALL].size + 1;
	struct part *parts = calloc(room, sizeof(parts[0]));
	size_t *next = calloc(room, sizeof(next[0]));
	int error = parts && next ? 0 : -ENOMEM;

	for (uint32_t parent = COMMUNICATOR_ALL; parent < communicators->count && !error; parent++)
		error = make_children(communicators, made, parent, next, parts);
	free(parts);
	free(next);
	return error;
}

int communicators_init(struct communicators *communicators, const struct trace *trace)
{
	struct made *made = calloc(trace->count + 1, sizeof(made[0]));
	int error = made ? 0 : -ENOMEM;

	*communicators = (struct communicators){ .process_count = trace->count,
						 .by_order = trace->by_order };
	communicators->numbers = calloc(trace->count + 1, sizeof(communicators->numbers[0]));
	communicators->number_counts =
		calloc(trace->count + 1, sizeof(communicators->number_counts[0]));
	if (!communicators->numbers || !communicators->number_counts)
		error = -ENOMEM;
	if (!error)
		error = add_world(communicators, trace);
	for (size_t i = 0; i < trace->count && !error; i++) {
		uint32_t count;

		error = collect(trace->processes[i], &made[i]);
		count = TRACE_COMMUNICATOR_FIRST + (uint32_t)made[i].count;
		communicators->numbers[i] = calloc(count, sizeof(uint32_t));
		if (!communicators->numbers[i])
			error = -ENOMEM;
		else
			communicators->number_counts[i] = count;
		if (!error)
			note(communicators, i, TRACE_COMMUNICATOR_WORLD, COMMUNICATOR_ALL);
	}
	if (!error)
		error = make_all(communicators, made);
	for (size_t i = 0; made && i < trace->count; i++)
		free(made[i].events);
	free(made);
	return error;
}

void communicators_deinit(struct communicators *communicators)
{
	for (uint32_t i = 0; i < communicators->count; i++)
		free(communicators->items[i].members);
	for (size_t i = 0; communicators->numbers && i < communicators->process_count; i++)
		free(communicators->numbers[i]);
	free(communicators->items);
	free(communicators->numbers);
	free(communicators->number_counts);
	*communicators = (struct communicators){ 0 };
}

uint32_t communicators_find(const struct communicators *communicators, size_t process,
			    uint32_t number)
{
	return number < communicators->number_counts[process]
		       ? communicators->numbers[process][number]
		       : COMMUNICATOR_NONE;
}

uint32_t communicators_member(const struct communicators *communicators, uint32_t communicator,
			      int32_t rank)
{
	if (communicator >= communicators->count || rank < 0 ||
	    (uint32_t)rank >= communicators->items[communicator].size)
		return UINT32_MAX;
	return communicators->items[communicator].members[rank];
}

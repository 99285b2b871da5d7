/* SPDX-License-Identifier: Apache-2.0 */
#include "daemon/sample/deadlock.h"

#include "daemon/cct/library_path.h"
#include "daemon/sample/wait_kind.h"

#include <errno.h>
#include <stdlib.h>

void deadlock_search_deinit(struct deadlock_search *search)
{
	free(search->threads);
	*search = (struct deadlock_search){ 0 };
}

/* The innermost frame of the program itself, else the innermost one, from a number on. */
static struct deadlock_place place_of(const struct python_stack *stack, size_t from, int offset)
{
	const struct python_frame *frame = &stack->frames[from];

	for (size_t i = from; i < stack->count; i++) {
		if (path_is_library(stack->frames[i].code->file))
			continue;
		if (i == from)
			break;
		return (struct deadlock_place){ stack->frames[i].code,
						stack->frames[i].instruction_offset };
	}
	return (struct deadlock_place){ frame->code, offset };
}

static void note_uses(struct deadlock_thread *thread, const struct python_stack *stack,
		      const struct lock_uses *uses)
{
	if (uses->joined) {
		thread->joined = uses->joined;
		thread->place = place_of(stack, uses->joined_frame,
					 stack->frames[uses->joined_frame].instruction_offset);
	}
	for (size_t i = 0; i < uses->count; i++) {
		const struct lock_use *use = &uses->items[i];
		struct deadlock_place place = place_of(stack, use->frame, use->offset);

		if (!use->waited) {
			thread->held[thread->held_count++] =
				(struct deadlock_held){ use->lock, place };
		} else if (!uses->joined) {
			thread->lock = use->lock;
			thread->owner_known = use->owner_known;
			thread->owner = use->owner;
			thread->place = place;
		}
	}
}

int deadlock_thread_read(const struct python_runtime *runtime,
			 const struct address_ranges *gil_locks, const struct process_sleep *sleep,
			 const struct python_stack *stack, struct deadlock_thread *ret_thread)
{
	struct lock_uses uses;
	int error;

	*ret_thread = (struct deadlock_thread){ 0 };
	if (!runtime || !stack->count || wait_kind_of(sleep, gil_locks) != WAIT_LOCK)
		return 0;
	error = lock_uses_read(runtime, stack, sleep->arguments[0], &uses);
	if (!error)
		note_uses(ret_thread, stack, &uses);
	return error == -ENOMEM ? error : 0;
}

int deadlock_search_add(struct deadlock_search *search, pid_t tid, pid_t inner_tid,
			const struct deadlock_thread *thread)
{
	if ((!thread->lock && !thread->joined) || search->count == DEADLOCK_THREADS_MAX)
		return 0;
	if (!search->threads)
		search->threads = calloc(DEADLOCK_THREADS_MAX, sizeof(*search->threads));
	if (!search->threads)
		return -ENOMEM;
	search->threads[search->count] = *thread;
	search->threads[search->count].tid = tid;
	search->threads[search->count++].inner_tid = inner_tid;
	return 0;
}

static size_t thread_of_ident(const struct deadlock_search *search,
			      const struct python_thread_list *threads, uint64_t ident)
{
	for (size_t i = 0; ident && i < threads->count; i++)
		for (size_t k = 0; threads->items[i].ident == ident && k < search->count; k++)
			if (search->threads[k].inner_tid == threads->items[i].tid)
				return k;
	return SIZE_MAX;
}

/* Where a thread took the lock; NULL: not by `with`. */
static const struct deadlock_held *held_by(const struct deadlock_thread *thread, remote_addr lock)
{
	for (size_t i = 0; i < thread->held_count; i++)
		if (thread->held[i].lock == lock)
			return &thread->held[i];
	return NULL;
}

/* Of those that have seemed to take it: one whose own wait has an end that is known. */
static size_t holder_of(const struct deadlock_search *search, remote_addr lock)
{
	size_t found = SIZE_MAX;

	for (size_t i = 0; i < search->count; i++) {
		bool leads_on = search->threads[i].joined != 0 || search->threads[i].owner_known;

		if (!held_by(&search->threads[i], lock))
			continue;
		for (size_t k = 0; !leads_on && k < search->count; k++)
			leads_on = held_by(&search->threads[k], search->threads[i].lock) != NULL;
		if (leads_on)
			return i;
		found = i;
	}
	return found;
}

static void add_circle(const struct deadlock_search *search, size_t first, size_t circle,
		       struct deadlocks *deadlocks)
{
	size_t at = first;

	do {
		const struct deadlock_thread *thread = &search->threads[at];
		const struct deadlock_thread *holder = &search->threads[thread->next];
		const struct deadlock_held *held =
			thread->joined ? NULL : held_by(holder, thread->lock);
		struct deadlock_wait *wait = &deadlocks->waits[deadlocks->count++];

		*wait = (struct deadlock_wait){
			.circle = circle,
			.tid = thread->tid,
			.holder = holder->tid,
			.lock = thread->joined ? 0 : thread->lock,
			.recursive = thread->owner_known,
			.waits_at = thread->place,
		};
		if (held)
			wait->held_at = held->place;
		at = thread->next;
	} while (at != first);
}

/* How many steps lead from a thread back to it; 0: none do. */
static size_t circle_length(const struct deadlock_search *search, size_t first)
{
	size_t at = first;

	for (size_t steps = 1; steps <= search->count; steps++) {
		at = search->threads[at].next;
		if (at == SIZE_MAX)
			return 0;
		if (at == first)
			return steps;
	}
	return 0;
}

void deadlock_search_find(struct deadlock_search *search, const struct python_thread_list *threads,
			  struct deadlocks *ret_deadlocks)
{
	size_t circles = 0;

	*ret_deadlocks = (struct deadlocks){ 0 };
	for (size_t i = 0; i < search->count; i++) {
		struct deadlock_thread *thread = &search->threads[i];

		if (thread->joined || thread->owner_known)
			thread->next = thread_of_ident(
				search, threads, thread->joined ? thread->joined : thread->owner);
		else
			thread->next = holder_of(search, thread->lock);
	}
	for (size_t i = 0; i < search->count; i++) {
		size_t length = circle_length(search, i);

		if (!length || ret_deadlocks->count + length > DEADLOCK_WAITS_MAX)
			continue;
		add_circle(search, i, circles++, ret_deadlocks);
		/* Each of them once. */
		for (size_t at = i; at != SIZE_MAX;) {
			size_t next = search->threads[at].next;

			search->threads[at].next = SIZE_MAX;
			at = next;
		}
	}
}

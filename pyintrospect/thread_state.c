/* SPDX-License-Identifier: Apache-2.0 */
#include "pyintrospect/thread_state.h"

#include "pyintrospect/field.h"
#include "pyintrospect/runtime_internal.h"

#include <errno.h>
#include <limits.h>
#include <string.h>

#define THREAD_LINKS_AT_ONCE 64

static pid_t plausible_tid(uint64_t value)
{
	return value > 0 && value <= INT_MAX ? (pid_t)value : 0;
}

int thread_facts_read(const struct python_runtime *runtime, remote_addr address,
		      struct thread_facts *ret_facts)
{
	const struct python_offsets *offsets = &runtime->layout.offsets;
	uint8_t bytes[OFFSET_BLOCK_MAX];
	struct thread_facts facts;
	int32_t tid = 0;
	int error;

	error = memory_read(runtime->reader, address, bytes, runtime->sizes.thread);
	if (error)
		return error;
	facts.next = field_u64(bytes, offsets->thread_next);
	facts.interpreter = field_u64(bytes, offsets->thread_interpreter);
	facts.pthread = field_u64(bytes, offsets->thread_pthread);
	if (offsets->thread_native_id != OFFSET_ABSENT) {
		facts.tid = plausible_tid(field_u64(bytes, offsets->thread_native_id));
	} else {
		/* A finished thread's struct pthread may be gone: then it has no tid. */
		error = memory_read(runtime->reader, facts.pthread + runtime->pthread_tid, &tid,
				    sizeof(tid));
		facts.tid = error || tid < 0 ? 0 : tid;
	}
	*ret_facts = facts;
	return 0;
}

int thread_interpreter_read(const struct python_runtime *runtime, remote_addr interpreter,
			    remote_addr *ret_next, remote_addr *ret_first)
{
	const struct python_offsets *offsets = &runtime->layout.offsets;
	remote_addr next, first;
	struct memory_range ranges[] = {
		{ .address = interpreter + (uint64_t)offsets->interpreter_next,
		  .buffer = &next,
		  .size = sizeof(next) },
		{ .address = interpreter + (uint64_t)offsets->interpreter_threads,
		  .buffer = &first,
		  .size = sizeof(first) },
	};
	int error = memory_read_ranges(runtime->reader, ranges, 2);

	if (error)
		return error;
	if (ranges[0].error || ranges[1].error)
		return -EFAULT;
	*ret_next = next;
	*ret_first = first;
	return 0;
}

int thread_links_hold(const struct python_runtime *runtime, remote_addr interpreter,
		      const remote_addr *states, size_t count)
{
	remote_addr next, first, links[THREAD_LINKS_AT_ONCE] = { 0 };
	struct memory_range ranges[THREAD_LINKS_AT_ONCE];
	int error = thread_interpreter_read(runtime, interpreter, &next, &first);

	if (!error && first != states[0])
		return -EAGAIN;
	for (size_t done = 0, now; !error && done < count; done += now) {
		now = count - done < THREAD_LINKS_AT_ONCE ? count - done : THREAD_LINKS_AT_ONCE;
		for (size_t i = 0; i < now; i++)
			ranges[i] = (struct memory_range){
				.address = states[done + i] +
					   (uint64_t)runtime->layout.offsets.thread_next,
				.buffer = &links[i],
				.size = sizeof(links[i]),
			};
		error = memory_read_ranges(runtime->reader, ranges, now);
		for (size_t i = 0; !error && i < now; i++)
			if (ranges[i].error || links[i] != states[done + i + 1])
				return -EAGAIN;
	}
	return error == -EFAULT ? -EAGAIN : error;
}

/*
 * One interpreter's list. Ends at a state that is known already when the
 * table is complete, since new ones are put in front. Clears *complete when it
 * could not see all of them.
 */
static int walk_threads(struct python_runtime *runtime, struct thread_list_head *head,
			size_t *budget, bool *complete)
{
	struct thread_table *table = &runtime->threads;
	remote_addr address = head->first;
	size_t count = 0;
	int error;

	while (address) {
		struct thread_facts facts;
		const struct thread_state *known;

		if (*budget == 0) {
			*complete = false;
			table->cut_short = true;
			return 0;
		}
		(*budget)--;
		error = thread_facts_read(runtime, address, &facts);
		if (error == -EFAULT || (!error && facts.interpreter != head->interpreter)) {
			*complete = false; /* changed under our eyes, or not what we think */
			return 0;
		}
		if (error)
			return error;
		if (address == head->first) {
			head->pthread = facts.pthread;
			head->tid = facts.tid;
		}
		if (facts.tid == 0) {
			*complete = false;
		} else {
			struct thread_state found = {
				.tid = facts.tid,
				.address = address,
				.interpreter = head->interpreter,
				.pthread = facts.pthread,
				.walk = table->walk,
			};

			known = *thread_table_slot(table, facts.tid);
			if (known && table->complete && known->address == address)
				break;
			error = thread_table_add(table, &found);
			if (error == -ENOSPC) {
				*complete = false;
				table->cut_short = true;
				return 0;
			}
			if (error)
				return error;
		}
		table->walked[count++] = address;
		address = facts.next;
	}
	table->walked[count] = address;
	error = thread_links_hold(runtime, head->interpreter, table->walked, count);
	if (error == -EAGAIN)
		*complete = false;
	return error == -EAGAIN ? 0 : error;
}

static int walk_interpreters(struct python_runtime *runtime)
{
	struct thread_table *table = &runtime->threads;
	size_t budget = THREAD_WALK_MAX;
	bool complete = true;
	remote_addr interpreter, next;
	int error;

	error = memory_read_u64(runtime->reader, runtime->interpreters, &interpreter);
	table->head_count = 0;
	table->walk++;
	table->misses = 0;
	table->cut_short = false;
	for (; !error && interpreter && !table->cut_short; interpreter = next) {
		struct thread_list_head *head = &table->heads[table->head_count];

		if (table->head_count == THREAD_INTERPRETERS_MAX) {
			complete = false;
			table->cut_short = true;
			break;
		}
		*head = (struct thread_list_head){ .interpreter = interpreter };
		error = thread_interpreter_read(runtime, interpreter, &next, &head->first);
		if (error)
			break;
		table->head_count++;
		error = walk_threads(runtime, head, &budget, &complete);
	}
	table->complete = complete && !error;
	return error;
}

int thread_table_refresh(struct python_runtime *runtime)
{
	thread_table_forget(&runtime->threads);
	return walk_interpreters(runtime);
}

/* One batch that tells whether any list has a new head since the last walk. */
static bool lists_unchanged(const struct python_runtime *runtime)
{
	const struct python_offsets *offsets = &runtime->layout.offsets;
	const struct thread_table *table = &runtime->threads;
	struct {
		remote_addr next, first;
		uint64_t pthread;
		uint64_t native_id;
		int32_t tid;
	} now[THREAD_INTERPRETERS_MAX];
	struct memory_range ranges[1 + 4 * THREAD_INTERPRETERS_MAX];
	remote_addr interpreter = 0;
	size_t count = 0;

	if (!table->complete || table->head_count == 0)
		return false;
	memset(now, 0, sizeof(now));
	ranges[count++] = (struct memory_range){ .address = runtime->interpreters,
						 .buffer = &interpreter,
						 .size = sizeof(interpreter) };
	for (size_t i = 0; i < table->head_count; i++) {
		const struct thread_list_head *head = &table->heads[i];

		ranges[count++] = (struct memory_range){
			.address = head->interpreter + (uint64_t)offsets->interpreter_next,
			.buffer = &now[i].next,
			.size = sizeof(now[i].next),
		};
		ranges[count++] = (struct memory_range){
			.address = head->interpreter + (uint64_t)offsets->interpreter_threads,
			.buffer = &now[i].first,
			.size = sizeof(now[i].first),
		};
		if (!head->first)
			continue;
		ranges[count++] = (struct memory_range){
			.address = head->first + (uint64_t)offsets->thread_pthread,
			.buffer = &now[i].pthread,
			.size = sizeof(now[i].pthread),
		};
		/* The same address and pthread may be a new thread's: only its tid tells. */
		if (offsets->thread_native_id != OFFSET_ABSENT)
			ranges[count++] = (struct memory_range){
				.address = head->first + (uint64_t)offsets->thread_native_id,
				.buffer = &now[i].native_id,
				.size = sizeof(now[i].native_id),
			};
		else
			ranges[count++] = (struct memory_range){
				.address = head->pthread + runtime->pthread_tid,
				.buffer = &now[i].tid,
				.size = sizeof(now[i].tid),
			};
	}
	if (memory_read_ranges(runtime->reader, ranges, count))
		return false;
	for (size_t i = 0; i < count; i++)
		if (ranges[i].error)
			return false;
	for (size_t i = 0; i < table->head_count; i++) {
		const struct thread_list_head *head = &table->heads[i];
		pid_t tid = offsets->thread_native_id != OFFSET_ABSENT
				    ? plausible_tid(now[i].native_id)
				    : now[i].tid;

		if (interpreter != head->interpreter || now[i].first != head->first ||
		    now[i].pthread != head->pthread || tid != head->tid)
			return false;
		interpreter = now[i].next;
	}
	return interpreter == 0;
}

/*
 * A thread that no state has: is it one whose state has its parent's tid? A process that
 * was forked by a library (uWSGI's workers are) has such a main thread, for the interpreter was
 * not told (PyOS_AfterFork_Child). libc's fork() keeps its own up to date, so that is believed
 * from then on.
 */
static bool distrust_native_ids(struct python_runtime *runtime, pid_t tid)
{
	struct python_offsets *offsets = &runtime->layout.offsets;
	struct thread_table *table = &runtime->threads;
	struct thread_state *thread;
	size_t position = 0;

	if (offsets->thread_native_id == OFFSET_ABSENT || tid == table->stale_tid ||
	    table->stale_looks >= THREAD_STALE_LOOKS_MAX)
		return false;
	table->stale_looks++;
	table->stale_tid = tid;
	for (unsigned i = 0; i < THREAD_STALE_LOOKS_MAX; i++) {
		int32_t found;

		thread = thread_table_next(table, &position);
		if (!thread)
			return false;
		if (memory_read(runtime->reader, thread->pthread + runtime->pthread_tid, &found,
				sizeof(found)) ||
		    found != tid)
			continue;
		offsets->thread_native_id = OFFSET_ABSENT;
		thread_table_forget(table);
		return true;
	}
	return false;
}

int thread_state_find(struct python_runtime *runtime, pid_t tid, struct thread_state **ret_thread)
{
	struct thread_table *table = &runtime->threads;
	struct thread_state *thread;
	int error;

	if (tid <= 0)
		return -ESRCH;
	thread = *thread_table_slot(table, tid);
	if (!thread) {
		if (table->misses++ == THREAD_MISSES_MAX)
			table->complete = false;
		else if (table->cut_short ||
			 (lists_unchanged(runtime) && !distrust_native_ids(runtime, tid)))
			return -ESRCH;
		/* Full of threads that are gone, perhaps. */
		if (table->count == THREAD_TABLE_MAX)
			thread_table_forget(table);
		error = walk_interpreters(runtime);
		if (error)
			return error;
		if (!*thread_table_slot(table, tid) && distrust_native_ids(runtime, tid))
			error = walk_interpreters(runtime);
		if (error)
			return error;
		thread = *thread_table_slot(table, tid);
		if (!thread)
			return -ESRCH;
	}
	*ret_thread = thread;
	return 0;
}

bool thread_state_is_current(struct python_runtime *runtime, const struct thread_state *thread,
			     const uint8_t *bytes)
{
	const struct python_offsets *offsets = &runtime->layout.offsets;
	const uint8_t *tid;

	if (field_u64(bytes, offsets->thread_interpreter) != thread->interpreter ||
	    field_u64(bytes, offsets->thread_pthread) != thread->pthread)
		return false;
	if (!thread->tid)
		return true;
	if (offsets->thread_native_id != OFFSET_ABSENT)
		return plausible_tid(field_u64(bytes, offsets->thread_native_id)) == thread->tid;
	return remote_copy_read(&runtime->copy, thread->pthread + runtime->pthread_tid, 4, &tid) ==
		       0 &&
	       field_i32(tid, 0) == thread->tid;
}

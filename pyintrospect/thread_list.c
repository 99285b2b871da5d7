/* SPDX-License-Identifier: Apache-2.0 */
#include "pyintrospect/thread_list.h"

#include "common/array.h"
#include "pyintrospect/gil.h"
#include "pyintrospect/runtime_internal.h"
#include "pyintrospect/thread_name.h"
#include "pyintrospect/thread_state.h"

#include <errno.h>
#include <stdlib.h>

/* Walks until one finds the lists as it left them. */
#define WALKS_MAX 64
/* The holder may be a thread that came after the walk: look again. */
#define GIL_LOOKS_MAX 3

/* The interpreters of one walk, each with the first thread of its list. */
struct interpreter_list {
	struct {
		remote_addr address, first;
	} items[THREAD_INTERPRETERS_MAX];
	size_t count;
	bool cut;
};

static int read_list_heads(const struct python_runtime *runtime,
			   struct interpreter_list *ret_interpreters)
{
	struct interpreter_list found = { 0 };
	remote_addr interpreter, next, first;
	int error = memory_read_u64(runtime->reader, runtime->interpreters, &interpreter);

	for (; !error && interpreter; interpreter = next) {
		if (found.count == THREAD_INTERPRETERS_MAX) {
			found.cut = true;
			break;
		}
		error = thread_interpreter_read(runtime, interpreter, &next, &first);
		if (error)
			break;
		found.items[found.count].address = interpreter;
		found.items[found.count++].first = first;
	}
	*ret_interpreters = found;
	return error;
}

static bool same_interpreters(const struct interpreter_list *a, const struct interpreter_list *b)
{
	if (a->count != b->count)
		return false;
	for (size_t i = 0; i < a->count; i++)
		if (a->items[i].address != b->items[i].address ||
		    a->items[i].first != b->items[i].first)
			return false;
	return true;
}

static bool listed(const struct python_thread_list *list, remote_addr state)
{
	for (size_t i = 0; i < list->count; i++)
		if (list->items[i].state == state)
			return true;
	return false;
}

static int add_thread(struct python_thread_list *list, size_t *capacity,
		      const struct python_thread *thread)
{
	if (!ARRAY_ROOM(list->items, list->count, *capacity))
		return -ENOMEM;
	list->items[list->count++] = *thread;
	return 0;
}

/* Are the last count threads of list the interpreter's, all of them? 0, -EAGAIN, or an error. */
static int confirm(const struct python_runtime *runtime, remote_addr interpreter,
		   const struct python_thread_list *list, size_t count)
{
	remote_addr *states = malloc((count + 1) * sizeof(*states));
	int error;

	if (!states)
		return -ENOMEM;
	for (size_t i = 0; i < count; i++)
		states[i] = list->items[list->count - count + i].state;
	states[count] = 0;
	error = thread_links_hold(runtime, interpreter, states, count);
	free(states);
	return error;
}

/* One interpreter's threads; -EAGAIN: the list changed under our eyes. */
static int read_threads(const struct python_runtime *runtime, remote_addr interpreter,
			remote_addr state, struct python_thread_list *list, size_t *capacity)
{
	size_t others = list->count;
	struct thread_facts facts;
	int error;

	for (; state; state = facts.next) {
		if (list->count == PYTHON_THREADS_MAX) {
			list->flags |= PYTHON_THREADS_CUT;
			return 0;
		}
		error = thread_facts_read(runtime, state, &facts);
		if (error == -EFAULT || (!error && facts.interpreter != interpreter) ||
		    (!error && listed(list, state)))
			return -EAGAIN;
		if (!error)
			error = add_thread(list, capacity,
					   &(struct python_thread){ .tid = facts.tid,
								    .ident = facts.pthread,
								    .state = state,
								    .interpreter = interpreter });
		if (error)
			return error;
	}
	return confirm(runtime, interpreter, list, list->count - others);
}

/* One walk over all lists; -EAGAIN: they were not the same at its end. */
static int walk_lists(const struct python_runtime *runtime, struct interpreter_list *interpreters,
		      struct python_thread_list *list, size_t *capacity)
{
	struct interpreter_list after;
	int error = read_list_heads(runtime, interpreters);
	bool changed = false;

	list->count = 0;
	list->flags = interpreters->cut ? PYTHON_THREADS_CUT : 0;
	for (size_t i = 0; !error && i < interpreters->count; i++) {
		error = read_threads(runtime, interpreters->items[i].address,
				     interpreters->items[i].first, list, capacity);
		if (error == -EAGAIN) {
			changed = true; /* what was read of the others is good */
			error = 0;
		}
	}
	if (!error)
		error = read_list_heads(runtime, &after);
	if (error)
		return error == -EFAULT ? -EAGAIN : error;
	return changed || !same_interpreters(interpreters, &after) ? -EAGAIN : 0;
}

static int read_gil(const struct python_runtime *runtime,
		    const struct interpreter_list *interpreters, struct python_thread_list *list)
{
	struct gil_facts facts;
	bool unknown = false, collecting = false, collecting_known = true, off = true;

	for (size_t i = 0; i < interpreters->count; i++) {
		remote_addr interpreter = interpreters->items[i].address;

		for (unsigned look = 0; look < GIL_LOOKS_MAX; look++) {
			int error = gil_read(runtime, interpreter, &facts);

			if (error)
				return error;
			/* One that is not known is another interpreter's, or of no use. */
			if (!facts.holder || listed(list, facts.holder))
				break;
		}
		for (size_t j = 0; j < list->count; j++)
			if (facts.holder && list->items[j].state == facts.holder)
				list->items[j].holds_gil = true;
		off &= facts.off;
		unknown |= !facts.holder_known || (facts.holder && !listed(list, facts.holder));
		collecting |= facts.collecting;
		collecting_known &= facts.collecting_known;
	}
	if (unknown)
		list->flags |= PYTHON_THREADS_GIL_UNKNOWN;
	if (interpreters->count && off)
		list->flags |= PYTHON_THREADS_NO_GIL;
	if (collecting)
		list->flags |= PYTHON_THREADS_COLLECTING;
	if (!collecting_known)
		list->flags |= PYTHON_THREADS_COLLECTING_UNKNOWN;
	return 0;
}

int python_thread_list_read(const struct python_runtime *runtime,
			    struct python_thread_list *ret_list)
{
	struct interpreter_list interpreters;
	struct python_thread_list list = { 0 };
	size_t capacity = 0;
	int error = -EAGAIN;

	for (unsigned walks = 0; error == -EAGAIN && walks < WALKS_MAX; walks++)
		error = walk_lists(runtime, &interpreters, &list, &capacity);
	if (error == -EAGAIN) {
		list.flags |= PYTHON_THREADS_INCOMPLETE;
		error = 0;
	}
	if (!error)
		error = read_gil(runtime, &interpreters, &list);
	for (size_t i = 0; !error && i < interpreters.count; i++) {
		int failure = thread_name_read(runtime, interpreters.items[i].address, &list);

		if (failure == -ESRCH || failure == -EPERM || failure == -ENOMEM)
			error = failure;
		else if (failure)
			list.flags |= PYTHON_THREADS_NAMES_UNKNOWN;
	}
	if (error) {
		python_thread_list_deinit(&list);
		return error;
	}
	*ret_list = list;
	return 0;
}

void python_thread_list_deinit(struct python_thread_list *list)
{
	free(list->items);
	*list = (struct python_thread_list){ 0 };
}

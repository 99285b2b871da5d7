/* SPDX-License-Identifier: Apache-2.0 */
#include "pyintrospect/asyncio_task.h"

#include "common/array.h"
#include "pyintrospect/asyncio_coroutine.h"
#include "pyintrospect/field.h"
#include "pyintrospect/object_reader.h"
#include "pyintrospect/object_type.h"
#include "pyintrospect/runtime_internal.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

#define MINOR_MIN       7
#define MINOR_SCHEDULED 12
#define MINOR_LISTS     14

/* Of one minor; from the DWARF of its _asyncio, and _AsyncioDebug of 3.14 and 3.15. */
struct task_layout {
	uint16_t coroutine, name;
	uint16_t node;        /* 3.14+: in the list of all tasks */
	uint16_t thread_task; /* 3.14+: in the thread state, the running one */
	uint16_t thread_list; /* 3.14+: likewise, the list */
};

static const struct task_layout layouts[] = {
	[7] = { .coroutine = 112 },
	[8] = { .coroutine = 112, .name = 120 },
	[9] = { .coroutine = 152, .name = 160 },
	[10] = { .coroutine = 160, .name = 168 },
	[11] = { .coroutine = 136, .name = 144 },
	[12] = { .coroutine = 136, .name = 144 },
	[13] = { .coroutine = 120, .name = 128 },
	[14] = { .coroutine = 128,
		 .name = 136,
		 .node = 152,
		 .thread_task = 872,
		 .thread_list = 880 },
	[15] = { .coroutine = 128,
		 .name = 136,
		 .node = 152,
		 .thread_task = 1032,
		 .thread_list = 1048 },
};

enum {
	TASK_LOOP = 16,
	SET_MASK = 32,
	SET_TABLE = 40,
	SET_HEAD_SIZE = 48,
	SET_ENTRIES_MAX = 65536,
	REFERENCE_OBJECT = 16,
};

struct reading {
	struct python_runtime *runtime;
	const struct task_layout *layout;
	struct asyncio_task_list list;
	size_t capacity;
};

/* Errors of one object, which others do not share. */
static bool of_object(int error)
{
	return error == -EFAULT || error == -EBADMSG || error == -ENOENT || error == -E2BIG;
}

static bool is_task(const struct python_runtime *runtime, remote_addr object)
{
	uint64_t type_offset = (uint64_t)runtime->layout.offsets.object_type;
	remote_addr type;

	if (!object || memory_read_u64(runtime->reader, object + type_offset, &type))
		return false;
	for (unsigned i = 0; type && i < PYTHON_TYPE_BASES_MAX; i++) {
		if (python_type_is(runtime, type, "_asyncio.Task"))
			return true;
		if (python_type_base(runtime, type, &type))
			return false;
	}
	return false;
}

static struct asyncio_task *find_task(const struct asyncio_task_list *list, remote_addr address)
{
	for (size_t i = 0; i < list->count; i++)
		if (list->items[i].address == address)
			return &list->items[i];
	return NULL;
}

/* What it is called: by default a number, from 3.12 on not yet written out. */
static int read_name(const struct python_runtime *runtime, remote_addr object, char *name)
{
	uint64_t number;
	int error = object_read_string(runtime, object, name, ASYNCIO_NAME_SIZE);

	if (error != -EBADMSG)
		return error;
	error = object_read_integer(runtime, object, &number);
	if (!error)
		snprintf(name, ASYNCIO_NAME_SIZE, "Task-%llu", (unsigned long long)number);
	return error;
}

static int read_task(struct reading *reading, struct asyncio_task *task)
{
	struct python_runtime *runtime = reading->runtime;
	const struct task_layout *layout = reading->layout;
	remote_addr name = 0, coroutine = 0;
	int error = 0;

	if (layout->name)
		error = memory_read_u64(runtime->reader, task->address + layout->name, &name);
	if (!error && name)
		error = read_name(runtime, name, task->name);
	if (error && !of_object(error))
		return error;
	error = memory_read_u64(runtime->reader, task->address + layout->coroutine, &coroutine);
	if (!error)
		error = asyncio_coroutine_read(runtime, coroutine, task->frames, ASYNCIO_FRAMES_MAX,
					       &task->frame_count, &task->awaited);
	if (!error && task->awaited && !is_task(runtime, task->awaited))
		task->awaited = 0;
	return of_object(error) ? 0 : error;
}

static int add_task(struct reading *reading, remote_addr address, uint64_t ident, bool running)
{
	struct asyncio_task_list *list = &reading->list;
	struct asyncio_task *task = find_task(list, address);
	int error;

	if (task || !is_task(reading->runtime, address))
		return 0;
	if (list->count == ASYNCIO_TASKS_MAX) {
		list->flags |= ASYNCIO_CUT;
		return 0;
	}
	if (!ARRAY_ROOM(list->items, list->count, reading->capacity))
		return -ENOMEM;
	task = &list->items[list->count++];
	*task = (struct asyncio_task){ .address = address, .ident = ident, .running = running };
	error = read_task(reading, task);
	/* One that has ended is in the sets as long as somebody holds it. */
	if (!error && !running && !task->frame_count)
		list->count--;
	return error;
}

/* ---- 3.14+ ---- */

static int read_thread_tasks(struct reading *reading, const struct python_thread *thread,
			     bool running)
{
	const struct memory_reader *reader = reading->runtime->reader;
	remote_addr head = thread->state + reading->layout->thread_list, task, at;
	int error;

	if (running) {
		error = memory_read_u64(reader, thread->state + reading->layout->thread_task,
					&task);
		return !error && task ? add_task(reading, task, thread->ident, true) : error;
	}
	error = memory_read_u64(reader, head, &at);
	for (size_t i = 0; !error && at && at != head; i++) {
		if (i == ASYNCIO_TASKS_MAX) {
			reading->list.flags |= ASYNCIO_CUT;
			break;
		}
		error = add_task(reading, at - reading->layout->node, thread->ident, false);
		if (!error)
			error = memory_read_u64(reader, at, &at);
	}
	return error;
}

/* ---- to 3.13 ---- */

/* The thread that a loop runs in; 0: it does not run, or does not tell. */
static int find_loop_thread(const struct python_runtime *runtime, remote_addr loop,
			    uint64_t *ret_ident)
{
	struct object_entries attributes;
	remote_addr thread;
	int error = object_read_attributes(runtime, loop, &attributes);

	*ret_ident = 0;
	if (error)
		return of_object(error) ? 0 : error;
	error = object_find(runtime, &attributes, "_thread_id", &thread);
	if (!error)
		error = object_read_integer(runtime, thread, ret_ident);
	object_entries_deinit(&attributes);
	return of_object(error) ? 0 : error;
}

static int read_current(struct reading *reading, remote_addr dict)
{
	struct object_entries entries;
	int error = object_read_dict(reading->runtime, dict, &entries);

	if (error)
		return error;
	if (entries.cut)
		reading->list.flags |= ASYNCIO_CUT;
	for (size_t i = 0; !error && i < entries.count; i++) {
		uint64_t ident;

		error = find_loop_thread(reading->runtime, entries.items[i].key, &ident);
		if (!error)
			error = add_task(reading, entries.items[i].value, ident, true);
	}
	object_entries_deinit(&entries);
	return error;
}

static int add_reference(struct reading *reading, remote_addr reference)
{
	const struct python_runtime *runtime = reading->runtime;
	remote_addr task, loop;
	uint64_t ident;
	int error;

	if (!python_object_is(runtime, reference, "weakref") &&
	    !python_object_is(runtime, reference, "weakref.ReferenceType"))
		return 0;
	error = memory_read_u64(runtime->reader, reference + REFERENCE_OBJECT, &task);
	if (error || find_task(&reading->list, task) || !is_task(runtime, task))
		return error;
	error = memory_read_u64(runtime->reader, task + TASK_LOOP, &loop);
	if (!error)
		error = find_loop_thread(runtime, loop, &ident);
	return error ? error : add_task(reading, task, ident, false);
}

static int read_set(struct reading *reading, remote_addr set)
{
	const struct python_runtime *runtime = reading->runtime;
	uint8_t head[SET_HEAD_SIZE];
	uint64_t(*entries)[2], count;
	int error;

	if (!python_object_is(runtime, set, "set"))
		return -EBADMSG;
	error = memory_read(runtime->reader, set, head, sizeof(head));
	if (error)
		return error;
	count = field_u64(head, SET_MASK) + 1;
	if (count == 0 || count > SET_ENTRIES_MAX) {
		reading->list.flags |= ASYNCIO_CUT;
		count = SET_ENTRIES_MAX;
	}
	entries = calloc(count, sizeof(*entries));
	if (!entries)
		return -ENOMEM;
	error = memory_read(runtime->reader, field_u64(head, SET_TABLE), entries,
			    count * sizeof(*entries));
	for (size_t i = 0; !error && i < count; i++) {
		if (entries[i][0])
			error = add_reference(reading, entries[i][0]);
		error = of_object(error) ? 0 : error;
	}
	free(entries);
	return error;
}

static int read_weak_set(struct reading *reading, remote_addr weak_set)
{
	struct object_entries attributes;
	remote_addr data;
	int error = object_read_attributes(reading->runtime, weak_set, &attributes);

	if (error)
		return error;
	error = object_find(reading->runtime, &attributes, "data", &data);
	object_entries_deinit(&attributes);
	return error ? error : read_set(reading, data);
}

static int read_interpreter(struct reading *reading, remote_addr interpreter)
{
	struct python_runtime *runtime = reading->runtime;
	const char *all =
		runtime->layout.minor >= MINOR_SCHEDULED ? "_scheduled_tasks" : "_all_tasks";
	struct object_entries names;
	remote_addr object;
	int error = object_read_imported(runtime, interpreter, "asyncio.tasks", &names);

	if (error)
		return error;
	error = object_find(runtime, &names, "_current_tasks", &object);
	if (!error)
		error = read_current(reading, object);
	if (!error || of_object(error)) {
		if (error)
			reading->list.flags |= ASYNCIO_INCOMPLETE;
		error = object_find(runtime, &names, all, &object);
		if (!error)
			error = read_weak_set(reading, object);
	}
	object_entries_deinit(&names);
	if (of_object(error))
		reading->list.flags |= ASYNCIO_INCOMPLETE;
	return of_object(error) ? 0 : error;
}

static int read_each_interpreter(struct reading *reading, const struct python_thread_list *threads)
{
	int error = 0;

	for (size_t i = 0; !error && i < threads->count; i++) {
		/* The threads of one interpreter stand together. */
		if (i && threads->items[i].interpreter == threads->items[i - 1].interpreter)
			continue;
		error = read_interpreter(reading, threads->items[i].interpreter);
		/* asyncio is not imported there. */
		error = of_object(error) ? 0 : error;
	}
	return error;
}

int asyncio_task_list_read(struct python_runtime *runtime, const struct python_thread_list *threads,
			   struct asyncio_task_list *ret_list)
{
	struct reading reading = { .runtime = runtime };
	int minor = runtime->layout.minor, error = 0;

	if (runtime->layout.free_threaded || minor < MINOR_MIN ||
	    (size_t)minor >= sizeof(layouts) / sizeof(layouts[0])) {
		*ret_list = (struct asyncio_task_list){ .flags = ASYNCIO_UNKNOWN };
		return 0;
	}
	reading.layout = &layouts[minor];
	if (minor < MINOR_LISTS)
		error = read_each_interpreter(&reading, threads);
	for (unsigned running = 2; minor >= MINOR_LISTS && !error && running-- > 0;)
		for (size_t i = 0; !error && i < threads->count; i++) {
			error = read_thread_tasks(&reading, &threads->items[i], running);
			if (of_object(error)) {
				reading.list.flags |= ASYNCIO_INCOMPLETE;
				error = 0;
			}
		}
	if (error) {
		asyncio_task_list_deinit(&reading.list);
		return error;
	}
	*ret_list = reading.list;
	return 0;
}

void asyncio_task_list_deinit(struct asyncio_task_list *list)
{
	free(list->items);
	*list = (struct asyncio_task_list){ 0 };
}

/* SPDX-License-Identifier: Apache-2.0 */
#include "daemon/inspect/task_dump.h"

#include "daemon/inspect/suspended_frames.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

static pid_t find_thread(const struct python_thread_list *threads, uint64_t ident)
{
	for (size_t i = 0; ident && i < threads->count; i++)
		if (threads->items[i].ident == ident)
			return threads->items[i].tid;
	return 0;
}

/* Innermost first, as local_dump.h wants them. */
static void read_locals(struct local_dump *locals, const struct asyncio_task *task,
			struct dumped_task *shown)
{
	struct python_frame frames[ASYNCIO_FRAMES_MAX];

	for (size_t i = 0; i < task->frame_count; i++)
		frames[i] = task->frames[task->frame_count - 1 - i];
	if (local_dump_suspended(locals, frames, task->frame_count, &shown->locals))
		shown->locals = (struct dumped_locals){ 0 };
}

void task_dump_read(struct task_dump *tasks, struct python_runtime *runtime,
		    const struct python_thread_list *threads, struct local_dump *locals)
{
	struct asyncio_task_list *list = &tasks->list;

	if (asyncio_task_list_read(runtime, threads, list) || list->flags & ASYNCIO_UNKNOWN)
		return;
	tasks->shown = calloc(list->count + 1, sizeof(tasks->shown[0]));
	if (!tasks->shown)
		return;
	tasks->known = true;
	tasks->count = list->count;
	for (size_t i = 0; i < list->count; i++) {
		const struct asyncio_task *task = &list->items[i];
		struct dumped_task *shown = &tasks->shown[i];

		snprintf(shown->name, sizeof(shown->name), "%s", task->name);
		shown->running = task->running;
		shown->tid = find_thread(threads, task->ident);
		for (size_t k = 0; task->awaited && k < list->count; k++)
			if (list->items[k].address == task->awaited)
				shown->awaited = &tasks->shown[k];
		if (locals && !task->running)
			read_locals(locals, task, shown);
	}
}

/* Where on a thread's stack the task's own coroutine is; SIZE_MAX: nowhere, another one runs by
 * now. */
static size_t find_coroutine(const struct task_thread *thread, const struct asyncio_task *task)
{
	for (size_t i = 0; task->frame_count && i < thread->count; i++)
		if (thread->frames[i].kind == FRAME_PYTHON &&
		    thread->frames[i].python.code == task->frames[0].code)
			return i;
	return SIZE_MAX;
}

/* From there on the frames that are coroutines. */
static int show_running_task(struct dumped_task *task, const struct task_thread *thread,
			     size_t first)
{
	task->frames = calloc(thread->count + 1, sizeof(task->frames[0]));
	if (!task->frames)
		return -ENOMEM;
	for (size_t i = first; i < thread->count; i++) {
		if (thread->frames[i].kind != FRAME_PYTHON)
			continue;
		if (!thread->frames[i].python.code->coroutine)
			break;
		task->frames[task->frame_count++] = thread->shown[i];
	}
	return 0;
}

int task_dump_show(struct task_dump *tasks, size_t index, const struct task_thread *thread,
		   struct source_cache *sources, bool *ret_there)
{
	const struct asyncio_task *task = &tasks->list.items[index];
	struct dumped_task *shown = &tasks->shown[index];
	size_t first = thread ? find_coroutine(thread, task) : SIZE_MAX;

	*ret_there = first != SIZE_MAX;
	if (*ret_there)
		return show_running_task(shown, thread, first);
	shown->frames = suspended_frames_show(task->frames, task->frame_count, sources);
	if (!shown->frames)
		return -ENOMEM;
	shown->frame_count = task->frame_count;
	return 0;
}

void task_dump_deinit(struct task_dump *tasks)
{
	for (size_t i = 0; i < tasks->count; i++) {
		free(tasks->shown[i].frames);
		dumped_locals_deinit(&tasks->shown[i].locals);
	}
	free(tasks->shown);
	asyncio_task_list_deinit(&tasks->list);
	*tasks = (struct task_dump){ 0 };
}

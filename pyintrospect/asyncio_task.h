/* SPDX-License-Identifier: Apache-2.0 */
/*
 * asyncio's tasks: their names, which of them run now, and what the others wait
 * for. For one look at a process, such as `dump`; it allocates, and makes many
 * system calls.
 *
 *   3.7 to 3.13   asyncio.tasks._current_tasks = { loop: task }; loop._thread_id
 *                 asyncio.tasks._all_tasks, from 3.12 on _scheduled_tasks
 *   3.14+         fields of the thread state: the running task, a list of all
 *
 * Tasks have names from 3.8. Only those of the C implementation (_asyncio.Task
 * and classes derived from it) are known, and to 3.13 only loops that keep
 * _thread_id, as asyncio's own do and uvloop's do not. 3.6 is not read.
 *
 * Each object is checked to be of the type it must have: what is not is left
 * out, not guessed.
 */
#ifndef PIEPROFD_PYINTROSPECT_ASYNCIO_TASK_H
#define PIEPROFD_PYINTROSPECT_ASYNCIO_TASK_H

#include "pyintrospect/python_stack.h"
#include "pyintrospect/thread_list.h"

#define ASYNCIO_TASKS_MAX  4096
#define ASYNCIO_FRAMES_MAX 32
#define ASYNCIO_NAME_SIZE  128

struct asyncio_task {
	remote_addr address;
	uint64_t ident;               /* of the thread that its loop runs in; 0: in none */
	bool running;                 /* the loop's current task */
	char name[ASYNCIO_NAME_SIZE]; /* "": it has none, or could not be read */
	/*
	 * The coroutines that wait for one another, the task's own first. Of a
	 * running task only those are here that do not run: its frames are the
	 * thread's.
	 */
	struct python_frame frames[ASYNCIO_FRAMES_MAX];
	size_t frame_count;
	remote_addr awaited; /* another task that the innermost waits for; 0: none */
};

enum asyncio_task_list_flag {
	ASYNCIO_UNKNOWN = 1,    /* this version is not read */
	ASYNCIO_INCOMPLETE = 2, /* they changed meanwhile */
	ASYNCIO_CUT = 4,        /* there are more than are read */
};

struct asyncio_task_list {
	struct asyncio_task *items; /* running ones first */
	size_t count;
	uint32_t flags;
};

/* 0, also when asyncio is not used; -ENOMEM, or what the reader said. */
__attribute__((warn_unused_result)) int asyncio_task_list_read(
	struct python_runtime *runtime, const struct python_thread_list *threads,
	struct asyncio_task_list *ret_list);
void asyncio_task_list_deinit(struct asyncio_task_list *list);

#endif

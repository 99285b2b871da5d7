/* SPDX-License-Identifier: Apache-2.0 */
/*
 * asyncio's tasks of a process that is looked at. One that runs has its
 * coroutines on its thread's stack; the others' are their own.
 */
#ifndef PIEPROFD_DAEMON_INSPECT_TASK_DUMP_H
#define PIEPROFD_DAEMON_INSPECT_TASK_DUMP_H

#include "daemon/cct/frame.h"
#include "daemon/inspect/local_dump.h"
#include "daemon/report/model/profile.h"
#include "daemon/report/model/source.h"
#include "pyintrospect/asyncio_task.h"

/* A task of asyncio's. */
struct dumped_task {
	char name[128];               /* "": unknown */
	pid_t tid;                    /* of the thread whose loop it belongs to; 0: unknown */
	bool running;                 /* the current one */
	struct profile_frame *frames; /* its coroutines that wait for each other, outermost first */
	size_t frame_count;
	struct dumped_locals locals;       /* of one that waits, where they were asked for */
	const struct dumped_task *awaited; /* another one that it waits for; NULL: none */
};

struct task_dump {
	struct asyncio_task_list list;
	struct dumped_task *shown; /* one each */
	size_t count;
	bool known; /* this version of Python tells them */
};

/* The stack of the thread that a task's loop runs in, outermost first. */
struct task_thread {
	const struct frame *frames;
	const struct profile_frame *shown;
	size_t count;
};

/*
 * Reads them, without names of their frames yet; tid is as the threads' own pid
 * namespace numbers it. What cannot be read is left out. locals is NULL where they are
 * not asked for.
 */
void task_dump_read(struct task_dump *tasks, struct python_runtime *runtime,
		    const struct python_thread_list *threads, struct local_dump *locals);

/*
 * The frames of one, taken from its thread's where it runs there still, which
 * *ret_there says. thread is NULL for one that waits. 0 or -ENOMEM.
 */
__attribute__((warn_unused_result)) int task_dump_show(struct task_dump *tasks, size_t index,
						       const struct task_thread *thread,
						       struct source_cache *sources,
						       bool *ret_there);
void task_dump_deinit(struct task_dump *tasks);

#endif

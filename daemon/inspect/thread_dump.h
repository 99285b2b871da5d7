/* SPDX-License-Identifier: Apache-2.0 */
/*
 * One look at all threads of a process: what each does, its stack, who holds
 * the GIL.
 *
 * A thread that sleeps is read as it is, without a stop: where it will go on is
 * in /proc, and its frames stand still. Only when some thread runs is the
 * process traced, for a moment, to stop each running one once.
 */
#ifndef PIEPROFD_DAEMON_INSPECT_THREAD_DUMP_H
#define PIEPROFD_DAEMON_INSPECT_THREAD_DUMP_H

#include "common/error.h"
#include "daemon/cct/side_time.h"
#include "daemon/inspect/dumped_deadlock.h"
#include "daemon/inspect/greenlet_dump.h"
#include "daemon/inspect/local_dump.h"
#include "daemon/inspect/task_dump.h"
#include "daemon/inspect/thread_activity.h"
#include "daemon/report/model/profile.h"
#include "daemon/report/model/source.h"

#define THREAD_DUMP_MAX 16384

struct dumped_thread {
	pid_t tid;
	char name[128]; /* threading's, else the kernel's */
	enum thread_activity activity;
	bool waits_known; /* asleep, in a system call that was seen */
	enum wait_kind waits_for;
	const struct dumped_task *task; /* asyncio's, which runs here; NULL: none, or unknown */
	const struct dumped_greenlet *greenlet; /* which runs here; NULL: none, or unknown */
	bool python;                            /* has a PyThreadState */
	bool holds_gil;
	bool collecting;              /* the garbage collector runs here */
	bool native_known;            /* the native frames were read, not only the Python ones */
	bool moved;                   /* it ran on while it was looked at: no frames */
	struct profile_frame *frames; /* outermost first */
	size_t frame_count;
	struct dumped_locals locals; /* where they were asked for */
};

struct thread_dump {
	pid_t pid;
	struct python_version python; /* of zeros: it could not be read, see below */
	const char *python_refusal;   /* why there are no Python frames; NULL: there are */
	char **command;               /* NULL-terminated; NULL: unknown */
	struct profile_container container;
	bool gil_known;
	bool gil_absent;               /* a free-threaded build without one */
	struct dumped_thread *threads; /* those with Python first, then by tid */
	size_t thread_count;
	struct source_refusals sources; /* files whose lines are not shown */
	size_t lost_files;              /* LOSS_FILE_LOST */
	uint64_t left_out;              /* LOSS_TARGET_LIMIT */
	bool tasks_known;               /* this version of Python tells them */
	struct dumped_task *tasks;      /* running ones first */
	size_t task_count;
	bool greenlets_known;      /* versions of Python and of greenlet that are read */
	bool greenlets_incomplete; /* they changed while they were read */
	struct dumped_greenlet *greenlets;
	size_t greenlet_count;
	struct dumped_deadlocks deadlocks;
	bool locals;       /* were asked for */
	bool start_frames; /* likewise; text leaves them out else */
};

struct thread_dump_options {
	bool native;                       /* with native frames */
	bool start_frames;                 /* with those of the interpreter's start, in text */
	bool locals;                       /* with the local variables of Python frames */
	struct impersonator *impersonator; /* borrowed, see target_init() */
};

/* NULL with *error filled. Strings of the frames live as long as the dump. */
struct thread_dump *thread_dump_take(pid_t pid, const struct thread_dump_options *options,
				     struct error *error);
void thread_dump_destroy(struct thread_dump *dump);

#endif

/* SPDX-License-Identifier: Apache-2.0 */
/* What one look at a process tells of its threads. */
#ifndef PIEPROFD_PYINTROSPECT_PYTHON_THREAD_H
#define PIEPROFD_PYINTROSPECT_PYTHON_THREAD_H

#include "common/address.h"

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

#define PYTHON_THREADS_MAX      4096
#define PYTHON_THREAD_NAME_SIZE 128

struct python_thread {
	pid_t tid;      /* as its own pid namespace numbers it; 0: it has none yet, or no more */
	uint64_t ident; /* what threading.get_ident() says */
	remote_addr state;
	remote_addr interpreter;
	bool holds_gil;
	/*
	 * threading.Thread.name in UTF-8, cut to what fits; "": threading does
	 * not know this thread, or could not be read. The kernel's name
	 * (/proc/PID/task/TID/comm) is the fallback; 3.14+ sets it, too.
	 */
	char name[PYTHON_THREAD_NAME_SIZE];
};

enum python_thread_list_flag {
	PYTHON_THREADS_INCOMPLETE = 1,  /* never the same twice */
	PYTHON_THREADS_GIL_UNKNOWN = 2, /* holds_gil says nothing */
	PYTHON_THREADS_COLLECTING = 4,  /* the garbage collector runs, in the holder's thread */
	PYTHON_THREADS_COLLECTING_UNKNOWN = 8, /* a stripped 3.6 */
	PYTHON_THREADS_NAMES_UNKNOWN = 16,     /* threading is not imported, or could not be read */
	PYTHON_THREADS_CUT = 32,               /* there are more than are read, or interpreters */
	PYTHON_THREADS_NO_GIL = 64,            /* a free-threaded build; GIL_UNKNOWN, too */
};

struct python_thread_list {
	struct python_thread *items; /* newest first, interpreter by interpreter */
	size_t count;
	uint32_t flags;
};

#endif

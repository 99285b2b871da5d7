/* SPDX-License-Identifier: Apache-2.0 */
/*
 * One thread's Python frames, copied while it was stopped.
 *
 * Frames come in groups. Each group ran inside one native call of the
 * evaluation loop (Python-to-Python calls of 3.11+ share one):
 *
 *   frames[0] innermost ... frames[i] entry | frames[i+1] ... entry | ...
 *   `---------- group 0 ------------------' `----- group 1 -------'
 */
#ifndef PIEPROFD_PYINTROSPECT_PYTHON_STACK_H
#define PIEPROFD_PYINTROSPECT_PYTHON_STACK_H

#include "common/stack_snapshot.h"
#include "pyintrospect/code_object.h"
#include "pyintrospect/runtime.h"

#include <sys/types.h>

#define PYTHON_STACK_FRAMES_MAX 512

struct python_frame {
	const struct python_code *code;
	int instruction_offset; /* bytes into the bytecode; negative: before the first instruction
				 */
	bool entry;             /* the outermost frame of its group */
	/*
	 * Only on entry frames: an address that lies in the native frame of the
	 * group's evaluation loop (3.11: its _PyCFrame; 3.12+: its shim). 0: this
	 * version has none, or it could not be told; then groups are counted
	 * from the outermost end.
	 */
	remote_addr anchor;
};

enum python_stack_flag {
	PYTHON_STACK_TRUNCATED = 1, /* deeper than the array, a cycle, or an unreadable link */
	PYTHON_STACK_RECOVERED =
		2, /* caught in the evaluation loop's prologue, read from its caller */
	PYTHON_STACK_INVALID = 4,   /* a frame failed its checks: frames up to it are kept */
	PYTHON_STACK_TORN = 8,      /* read while it ran, and never the same twice: no frames */
	PYTHON_STACK_MOVED = 16,    /* read while it ran: frames inside of these had changed */
	PYTHON_STACK_STILL = 32,    /* read while it ran: nothing changed meanwhile */
	PYTHON_STACK_UNLOCKED = 64, /* the same of a thread without the GIL: not in Python code */
};

/* Does a thread hold the global interpreter lock? See gil.h. */
enum gil_tenure {
	GIL_UNKNOWN,
	GIL_HELD,     /* by this thread: its frames may change */
	GIL_NOT_HELD, /* its frames cannot change */
};

struct python_stack {
	size_t count; /* 0: the thread runs no Python now */
	uint32_t flags;
	enum gil_tenure gil;
	bool collecting; /* it holds the GIL, and the garbage collector is at work */
	struct python_frame frames[PYTHON_STACK_FRAMES_MAX];
};

/*
 * Reads the frames of the thread with this kernel tid (as its own pid
 * namespace numbers it), which is stopped or asleep. stack serves reads of the
 * C stack without a system call; it may be NULL. Returns 0, -ESRCH (no
 * PyThreadState has this tid), -EFAULT or -ENOMEM.
 *
 * Code objects seen for the first time are read and interned here.
 */
int python_stack_read(struct python_runtime *runtime, pid_t tid, const struct stack_snapshot *stack,
		      struct python_stack *ret_stack);

/*
 * The same for a thread that was not stopped. Frames are read again until
 * readings agree, a bounded number of times, else there are none and
 * PYTHON_STACK_TORN says so. A thread without the GIL (asleep, waiting) costs
 * two readings. One that has it and stays in one native call is read, too, from
 * 3.11; to 3.10 the frames of a thread that holds the GIL cannot be told from
 * the remains of earlier ones, so it has to be stopped.
 */
int python_stack_read_running(struct python_runtime *runtime, pid_t tid,
			      struct python_stack *ret_stack);

/*
 * The same for samples of a thread that runs: what would be given up above is
 * cut down to the frames that readings in a row agree on, counted from the
 * outermost, and PYTHON_STACK_MOVED says so. To wait for a thread to hold still
 * would find it in long calls alone. A thread that runs Python costs two
 * readings mostly (five to 3.10), one in a native call five. What agrees by
 * chance is rare, not impossible: a caller may be shown one line off.
 */
int python_stack_read_passing(struct python_runtime *runtime, pid_t tid,
			      struct python_stack *ret_stack);

/* What python_stack_read_running() has gone through. */
struct python_running_counters {
	uint64_t reads;    /* calls */
	uint64_t looks;    /* readings made for them */
	uint64_t torn;     /* readings that differed from the one before */
	uint64_t given_up; /* calls that ended with PYTHON_STACK_TORN */
};

struct python_running_counters python_running_counters(const struct python_runtime *runtime);

#endif

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
#ifndef PIEPROFD_PYINTROSPECT_PYTHON_FRAME_H
#define PIEPROFD_PYINTROSPECT_PYTHON_FRAME_H

#include "pyintrospect/code_object.h"

#define PYTHON_STACK_FRAMES_MAX 512

struct python_frame {
	const struct python_code *code;
	int instruction_offset; /* bytes into the bytecode; negative: before the first instruction
				 */
	bool entry;             /* the outermost frame of its group */
	remote_addr address;    /* where it lies in the target */
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
	GIL_UNKNOWN,  /* also of a free-threaded build, where there is none */
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

#endif

/* SPDX-License-Identifier: Apache-2.0 */
/* A frame of a hybrid stack: Python or native. */
#ifndef PIEPROFD_DAEMON_CCT_FRAME_H
#define PIEPROFD_DAEMON_CCT_FRAME_H

#include "pyintrospect/code_object.h"
#include "symbolize/module.h"

enum frame_kind {
	FRAME_PYTHON,
	FRAME_NATIVE,
	FRAME_PROCESS, /* in reports of several processes alone: the outermost frame of each */
};

enum frame_flag {
	FRAME_GUESSED = 1,         /* native, found by scanning the stack */
	FRAME_UNMATCHED = 2,       /* a Python group without its native evaluation loop */
	FRAME_EVAL = 4,            /* an evaluation loop that has no Python frame yet, or no more */
	FRAME_TRUNCATED_ABOVE = 8, /* outermost frame of a stack that ended early */
};

struct frame {
	enum frame_kind kind;
	uint32_t flags;
	union {
		struct {
			const struct python_code *code;
			int instruction_offset;
		} python;
		struct {
			const struct module *module; /* NULL: unknown */
			remote_addr function;        /* start of the function, 0: unknown */
			remote_addr pc;              /* address to look up and show */
		} native;
	};
};

/*
 * Not code: what time is charged to that the kernel spends on threads while their clocks do not
 * run, as the module and name of a native frame.
 */
extern const struct module frame_kernel;
#define FRAME_KERNEL_FUNCTION "[scheduling, thread start and end]"

struct frame frame_of_kernel(void);

/* The same place: code object and instruction, or native function (pc when the function is
 * unknown). */
bool frame_equal(const struct frame *a, const struct frame *b);
uint64_t frame_hash(const struct frame *frame);

#endif

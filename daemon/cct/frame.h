/* SPDX-License-Identifier: Apache-2.0 */
/* A frame of a hybrid stack: Python or native. */
#ifndef PIEPROFD_DAEMON_CCT_FRAME_H
#define PIEPROFD_DAEMON_CCT_FRAME_H

#include "daemon/cct/frame_kind.h"
#include "pyintrospect/code_object.h"
#include "symbolize/module.h"

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
			/* Of frame_kernel alone, which has no addresses; borrowed. */
			const char *name;
		} native;
	};
};

/* The kernel, as the module of native frames that have a name and no address. */
extern const struct module frame_kernel;

/* A function of the kernel's, of that name, borrowed: two frames are equal with the same string,
 * not only with one alike. */
struct frame frame_of_kernel(const char *name);
/*
 * Not code: what time is charged to that the kernel spends on threads while their clocks do not
 * run.
 */
struct frame frame_of_scheduling(void);
bool frame_is_kernel(const struct frame *frame);

/* The same place: code object and instruction, or native function (pc when the function is
 * unknown). */
bool frame_equal(const struct frame *a, const struct frame *b);
uint64_t frame_hash(const struct frame *frame);

#endif

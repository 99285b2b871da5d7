/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The greenlets of a process, for one look at it: gevent's, eventlet's, and those
 * of the package greenlet itself. They are found among all objects of the garbage
 * collector, as nothing else lists them.
 *
 *   greenlet 2 and later   object { .., implementation -> { .., stack, Python state } }
 *   before                 object { .., stack, Python state, .. }
 *
 * A greenlet that is suspended holds the frame that it will go on with; one that
 * runs holds none. From that frame its others hang as a thread's do, but to 3.11
 * with no loop between, and from 3.12 on without those that lie on the C stack,
 * which greenlet takes out of the chain as long as it is suspended.
 *
 * Nothing tells where the fields are: what greenlet's sizes and the first fields
 * make likely is checked on every object. What does not fit is counted, not
 * guessed. 3.6 is not read.
 */
#ifndef PIEPROFD_PYINTROSPECT_GREENLET_H
#define PIEPROFD_PYINTROSPECT_GREENLET_H

#include "pyintrospect/python_stack.h"
#include "pyintrospect/thread_list.h"

#define GREENLETS_MAX       4096
#define GREENLET_FRAMES_MAX 64 /* innermost ones */
#define GREENLET_TYPE_SIZE  128

struct greenlet {
	remote_addr address;
	remote_addr stack; /* of its part of the C stack, so in its thread's; 0: unknown */
	bool main;         /* the one in which its thread began */
	char type[GREENLET_TYPE_SIZE]; /* see python_type_name() */
	/* Innermost first. None: it runs, or waits in native code without any Python. */
	struct python_frame *frames;
	size_t frame_count;
};

enum greenlet_list_flag {
	GREENLETS_UNKNOWN = 1,    /* this version of Python or of greenlet is not read */
	GREENLETS_INCOMPLETE = 2, /* the collector's lists, or greenlets, changed meanwhile */
	GREENLETS_CUT = 4,        /* there are more greenlets, frames or objects than are read */
};

struct greenlet_list {
	struct greenlet *items; /* those that have begun and not ended, but no main one that runs */
	size_t count;
	uint32_t flags;
};

/* 0, also when there is no greenlet; -ENOMEM, or what the reader said. */
__attribute__((warn_unused_result)) int greenlet_list_read(struct python_runtime *runtime,
							   const struct python_thread_list *threads,
							   struct greenlet_list *ret_list);
void greenlet_list_deinit(struct greenlet_list *list);

#endif

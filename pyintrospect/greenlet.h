/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The greenlets of a process, for one look at it: gevent's, eventlet's, and those
 * of the package greenlet itself. They are found among all objects of the garbage
 * collector, as nothing else lists them.
 *
 *   greenlet 2 and later   object { .., implementation -> { .., stack, Python state } }
 *   before                 object { .., stack, Python state, .. }
 *
 * A greenlet that waits holds the frame that it will go on with; one that runs
 * holds none. The others hang on that frame, as a thread's do. From 3.12 on
 * greenlet takes those out of the chain that lie on the C stack, for as long as
 * it waits, since another greenlet may use that place.
 *
 * Where the fields are follows from the size of the type greenlet, from the
 * version of Python, and from one field that leads back to the object. All of it
 * is checked on every object: what does not fit is left out, and said. 3.6 is not
 * read, as its lists of objects are not.
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

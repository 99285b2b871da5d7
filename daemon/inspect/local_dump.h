/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The local variables of Python frames, as words, for a dump: taken while the thread
 * is stopped or asleep, named and kept afterwards.
 *
 *   local_dump_take()   objects, in words; allocates next to nothing
 *   local_dump_keep()   names, and a copy of it all
 *
 * What a thread's variables refer to may be anything, passwords included.
 */
#ifndef PIEPROFD_DAEMON_INSPECT_LOCAL_DUMP_H
#define PIEPROFD_DAEMON_INSPECT_LOCAL_DUMP_H

#include "common/memory.h"
#include "daemon/report/model/profile.h"
#include "pyintrospect/python_frame.h"

struct python_runtime;

/* Of one stack; what is further out is left out. */
#define LOCAL_DUMP_VARIABLES 512
/* Objects looked at, items of containers included: of one that sleeps, and of one that waits for
 * us. */
#define LOCAL_DUMP_OBJECTS_ASLEEP  4096
#define LOCAL_DUMP_OBJECTS_STOPPED 512
/* Of a whole dump. */
#define LOCAL_DUMP_BYTES_MAX (64u << 20)

struct dumped_local {
	const char *name, *type, *value; /* UTF-8, escaped no further than a literal is */
};

/* Of one frame. known false: they could not be read, or were left out. */
struct dumped_frame_locals {
	const struct dumped_local *items;
	size_t count;
	bool known;
};

struct dumped_locals {
	struct dumped_frame_locals *frames; /* Python's alone, outermost first; NULL: none */
	size_t count;
	void *storage;
};

struct local_dump;

/* What goes with a stack's nth frame, outermost first; NULL: nothing is known. */
const struct dumped_frame_locals *dumped_locals_of(const struct dumped_locals *locals,
						   const struct profile_frame *frames,
						   size_t frame);

/* Both are borrowed. NULL: no memory. */
struct local_dump *local_dump_create(struct python_runtime *runtime,
				     const struct memory_reader *reader);
void local_dump_destroy(struct local_dump *dump);

/* Of frames that do not run meanwhile, innermost first. What was taken before is forgotten. */
void local_dump_take(struct local_dump *dump, const struct python_frame *frames, size_t count,
		     size_t objects);

/* Both for frames that wait where they were read, of which nobody has made sure that they do. */
__attribute__((warn_unused_result)) int local_dump_suspended(struct local_dump *dump,
							     const struct python_frame *frames,
							     size_t count,
							     struct dumped_locals *ret_locals);

/* Of these frames, what was taken last; freed by dumped_locals_deinit(). 0 or -ENOMEM. */
__attribute__((warn_unused_result)) int local_dump_keep(struct local_dump *dump,
							const struct python_frame *frames,
							size_t count,
							struct dumped_locals *ret_locals);
void dumped_locals_deinit(struct dumped_locals *locals);

/* Stacks of which some were left out. */
uint64_t local_dump_left_out(const struct local_dump *dump);

#endif

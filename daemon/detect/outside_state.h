/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Does a function's outcome depend on more than what it is given? It draws numbers, asks a clock
 * or the file system, uses a module's queue, or reads a module's list that is another one a moment
 * later. Such a function may get the same arguments in all of its calls, and its work is needed.
 * Told by the globals that its bytecode names, and by what is in them whenever it is seen to run.
 */
#ifndef PIEPROFD_DAEMON_DETECT_OUTSIDE_STATE_H
#define PIEPROFD_DAEMON_DETECT_OUTSIDE_STATE_H

#include "common/memory.h"
#include "daemon/contents/fingerprint.h"
#include "pyintrospect/python_frame.h"
#include "pyintrospect/runtime.h"

struct outside_states;

enum outside_state {
	OUTSIDE_NONE,
	OUTSIDE_CHANGES, /* a module's data that it reads is other data in some of its calls */
	OUTSIDE_ASKS,    /* what it asks gives something else each time, or may */
};

/* All borrowed. NULL: no memory. */
struct outside_states *outside_states_create(struct python_runtime *runtime,
					     const struct memory_reader *reader,
					     struct fingerprints *fingerprints);
void outside_states_destroy(struct outside_states *states);

/*
 * Of a frame that is on the stack of a stopped thread. What was asked of the fingerprints before
 * is forgotten. What cannot be read is taken not to matter.
 */
enum outside_state outside_state_of(struct outside_states *states,
				    const struct python_frame *frame);

#endif

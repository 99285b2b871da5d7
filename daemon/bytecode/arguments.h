/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A function that a loop calls over and over: which of its parameters get the
 * same in every round, and which of its instructions therefore work on the same
 * operands each time, as far as names tell. Read from the bytecode of both.
 * Pure.
 */
#ifndef PIEPROFD_DAEMON_BYTECODE_ARGUMENTS_H
#define PIEPROFD_DAEMON_BYTECODE_ARGUMENTS_H

#include "daemon/bytecode/loop.h"

#define ARGUMENTS_MAX 64

struct arguments {
	uint64_t constant; /* bit k: parameter k gets the same in every round */
	unsigned count;    /* parameters that get anything by position */
};

/*
 * Of the call at this offset of the caller, in this loop, of a function with this
 * name, qualified where the version has that: a method's first parameter is its
 * object. False: it cannot be told, as of calls with keywords.
 */
bool arguments_of_call(const struct bytecode *caller, int offset, const struct loop *loop,
		       const char *callee, struct arguments *ret_arguments);

/*
 * Does the instruction at an offset of the called function work on the same in
 * every round: constants, globals, such parameters, and what is computed from
 * them alone? False when it cannot be told.
 */
bool arguments_decide(const struct arguments *arguments, const struct bytecode *callee, int offset);

#endif

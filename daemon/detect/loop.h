/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Loops and the lines in them, read from bytecode: what advice about a call
 * site is founded on. Pure.
 */
#ifndef PIEPROFD_DAEMON_DETECT_LOOP_H
#define PIEPROFD_DAEMON_DETECT_LOOP_H

#include "daemon/detect/bytecode.h"

/* Larger loops are found, but what the lines in them assign is not looked into. */
#define LOOP_BYTES_MAX 8192

struct loop {
	int start; /* byte offset its backward jumps go to */
	int end;   /* behind its last backward jump */
};

/* The innermost loop of this code object around an offset; false: none. */
bool loop_find(const struct bytecode *bytecode, int offset, struct loop *ret_loop);

/* What one source line does around an instruction. */
struct loop_line {
	bool subscript;	  /* the instruction itself reads or writes x[i] */
	bool call;	  /* the instruction itself calls something */
	bool accumulates; /* the line has an in-place operator: x += ... */
	/*
	 * No name that the line reads is assigned inside the loop, and nothing
	 * else in the loop stores into an object. False without a loop, or when
	 * the line reads no name at all, and for loops above LOOP_BYTES_MAX.
	 */
	bool operands_constant;
};

/* loop: the loop around offset, or NULL. */
struct loop_line loop_line_at(const struct bytecode *bytecode, int offset, const struct loop *loop);

#endif

/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Loops and the lines in them, read from bytecode: what advice about a call
 * site is founded on. Pure.
 */
#ifndef PIEPROFD_DAEMON_BYTECODE_LOOP_H
#define PIEPROFD_DAEMON_BYTECODE_LOOP_H

#include "daemon/bytecode/operands.h"

/* Larger loops are found, but what the lines in them assign is not looked into. */
#define LOOP_BYTES_MAX 8192

struct loop {
	int start; /* byte offset its backward jumps go to */
	int end;   /* behind its last backward jump */
};

/*
 * The innermost loop of this code object around an offset; false: none. What
 * an exception handler inside of a loop does is not seen to be in it from 3.11 on.
 */
bool loop_find(const struct bytecode *bytecode, int offset, struct loop *ret_loop);

/* Does some instruction of the loop assign this variable? */
bool loop_assigns(const struct bytecode *bytecode, const struct loop *loop, struct variable wanted);

/* Do these instructions compute the same in every round, as far as names tell? */
bool loop_keeps(const struct bytecode *bytecode, const struct operands *operands,
		const struct loop *loop);

/* Is it a call, whose result may be another one each time whatever its names? */
bool loop_is_call(const struct bytecode_instruction *instruction);

/* What one instruction and its source line do. */
struct loop_line {
	bool subscript;  /* the instruction itself reads or writes x[i] */
	bool call;       /* the instruction itself calls something */
	bool line_calls; /* some instruction of the line does */
	/*
	 * The line takes other elements each time round: it has a subscript whose
	 * index reads a name assigned inside the loop, as x[i] or x[i, :], not x[0:n]
	 * nor x[i:n]. False without a loop and for loops above LOOP_BYTES_MAX.
	 */
	bool elementwise;
	bool exchanges;   /* it reads at least two such elements, and writes as many */
	bool accumulates; /* the line adds up in a variable or attribute: x += ..., not x[i] += ...
			   */
	/*
	 * No name that the instruction's operands are computed from is assigned
	 * inside the loop; where they cannot be told (operands.h), none that the line
	 * reads. False without a loop, when no name is read at all, and for loops
	 * above LOOP_BYTES_MAX.
	 */
	bool names_constant;
	/* And nothing in the loop stores into an object, which could be one of those. */
	bool operands_constant;
};

/* loop: the loop around offset, or NULL. */
struct loop_line loop_line_at(const struct bytecode *bytecode, int offset, const struct loop *loop);

#endif

/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Expressions that a function computes twice, from the same variables, as compilers call them:
 * common subexpressions. The first is always computed before the second in the same round of
 * their loop, and nothing in between assigns one of their variables or, as far as instructions
 * tell, changes its object. Pure.
 *
 *   lo = sorted(v)[0]
 *   hi = sorted(v)[-1]      sorted(v), computed before
 *
 * What the calls in them do is not told: next(v) is another one each time.
 */
#ifndef PIEPROFD_DAEMON_BYTECODE_COMMON_SUBEXPRESSION_H
#define PIEPROFD_DAEMON_BYTECODE_COMMON_SUBEXPRESSION_H

#include "daemon/bytecode/bytecode.h"

#include <stdbool.h>

struct common_subexpression {
	int first; /* offset of the instruction that has its result the first time */
	int first_start, first_end; /* the first time, byte offsets, [start, end) */
	int start, end;             /* the second time */
	bool adjacent; /* nothing is called, assigned or computed in between, but for tests */
	int result;    /* and of the instruction that has its result: a call or an operator */
};

/* The widest that the instruction at offset is part of the second time; false: there is none. */
bool common_subexpression_find(const struct bytecode *bytecode, int offset,
			       struct common_subexpression *ret);

#endif

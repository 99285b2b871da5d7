/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What an instruction does that may take long, and in which slots of the
 * evaluation stack its operands lie. Pure.
 *
 *   3.6 to 3.10   CALL_FUNCTION                  callable  a  b
 *   3.7 to 3.10   CALL_METHOD           method or NULL  self or callable  a  b
 *   3.11, 3.12    PRECALL, CALL           the same
 *   3.13+         CALL                           callable  self or NULL  a  b
 *   all           x[i] = v                       v  x  i
 */
#ifndef PIEPROFD_PYINTROSPECT_OPERATION_H
#define PIEPROFD_PYINTROSPECT_OPERATION_H

#include "pyintrospect/stack_depth.h"

enum operation_kind {
	OPERATION_OTHER, /* jumps, moves, and what takes no time */
	OPERATION_CALL,
	OPERATION_CALL_UNPACKED, /* f(*a), f(**b) */
	OPERATION_BINARY,
	OPERATION_COMPARE,
	OPERATION_CONTAINS,
	OPERATION_UNARY,
	OPERATION_TRUTH, /* if x, not x */
	OPERATION_SUBSCRIPT,
	OPERATION_SLICE, /* x[i:j] by an instruction of its own, 3.12+ */
	OPERATION_STORE_SUBSCRIPT,
	OPERATION_STORE_SLICE,
	OPERATION_DELETE_SUBSCRIPT,
	OPERATION_ATTRIBUTE,
	OPERATION_STORE_ATTRIBUTE,
	OPERATION_DELETE_ATTRIBUTE,
	OPERATION_ITERATE, /* iter(x) */
	OPERATION_NEXT,    /* of a loop */
	OPERATION_UNPACK,  /* a, b = x */
	OPERATION_EXTEND,  /* [*x], {**x} */
	OPERATION_COLLECT, /* [x for x in y]: an item of it */
	OPERATION_FORMAT,  /* f'{x}' */
	OPERATION_BUILD,   /* of operands: tuples, lists, sets, dicts, slices, strings */
	OPERATION_ENTER,   /* with x: __exit__ has taken x's place when __enter__ is called */
	OPERATION_IMPORT,
	OPERATION_LAST = OPERATION_IMPORT,
};

enum operand_role {
	OPERAND_VALUE, /* an operand or positional argument, then those by keyword */
	OPERAND_CALLABLE,
	OPERAND_SELF,           /* of a method that was looked up for this call; NULL: none */
	OPERAND_METHOD,         /* to 3.12: the callable, or NULL: it is what seems to be self */
	OPERAND_KEYWORDS,       /* tuple of the names of the last arguments */
	OPERAND_ARGUMENT_TUPLE, /* f(*a) */
	OPERAND_ARGUMENT_DICT,  /* f(**b); may be NULL */
	OPERAND_CONTAINER,      /* x of x[i], also where it is stored into */
	OPERAND_INDEX,
	OPERAND_START,
	OPERAND_STOP,
	OPERAND_STORED,
	OPERAND_OBJECT, /* whose attribute it is */
	OPERAND_ITERATOR,
	OPERAND_POSITION, /* 3.15+: of an iterator, or NULL */
};

/* Of calls with more arguments the first ones are told. */
#define OPERANDS_MAX 16

struct operand_place {
	uint16_t slot;
	uint8_t role;
};

struct operation {
	uint8_t kind;
	bool in_place;  /* a += b */
	uint32_t total; /* operands there are */
	size_t count;   /* those in places[], from the lowest slot up */
	struct operand_place places[OPERANDS_MAX];
};

/*
 * False when the depth is unknown, or the stack does not hold the operands.
 * An instruction that is no operation has none.
 */
bool operation_of(const struct stack_depths *depths, const struct stack_instruction *instruction,
		  struct operation *ret_operation);

#endif

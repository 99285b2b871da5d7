/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The instructions of an expression gone through once more, on a stack of texts: what
 * expression.h says of an instruction without its source. Pure.
 */
#ifndef PIEPROFD_DAEMON_BYTECODE_EXPRESSION_STACK_H
#define PIEPROFD_DAEMON_BYTECODE_EXPRESSION_STACK_H

#include "daemon/bytecode/expression_context.h"
#include "daemon/bytecode/operands.h"

#define EXPRESSION_ELLIPSIS "..."

/* Expressions that hold more values at once are not told. */
#define EXPRESSION_VALUES_MAX 48

struct text {
	char bytes[EXPRESSION_SIZE];
	size_t length;
	bool cut;
};

/* Cuts the text when it becomes too long. */
void text_add(struct text *text, const char *bytes, size_t size);
void text_put(struct text *text, const char *string);

/* Is a byte one of a name, as far as one byte tells? */
bool expression_is_word(char byte);

enum shape {
	SHAPE_NOTHING,   /* the NULL beside what a call calls */
	SHAPE_ATOM,      /* a name, a call, a subscript ... */
	SHAPE_OPERATION, /* wants parentheses inside of others */
	SHAPE_CONSTANT,  /* wants them before a dot */
	SHAPE_TUPLE,     /* without its parentheses, as in x[i, j] */
};

struct value {
	enum shape shape;
	struct text text;
	bool named;   /* some name in it is known */
	bool unnamed; /* some is not */
	bool plain;   /* a variable, or attributes of one */
	/* The instruction that it comes from, and whether another value does, too. */
	int offset;
	bool shared;
};

struct expression_stack {
	const struct python_code *code;
	const struct expression_context *context;
	struct value values[EXPRESSION_VALUES_MAX];
	size_t count;
	bool keywords; /* of the next call some arguments are by keyword */
};

/*
 * The instruction at an offset, with its operands on the stack; NULL: they cannot be told.
 * For 3.11's PRECALL it is the CALL behind it.
 */
const struct bytecode_instruction *expression_stack_operands(
	struct expression_stack *stack, const struct bytecode *bytecode, int offset,
	const struct expression_context *context);

/* Both for the instruction whose operands are there, once; NULL: it cannot be told. */
const struct value *expression_stack_result(struct expression_stack *stack,
					    const struct bytecode_instruction *instruction);
const struct value *expression_stack_operand(struct expression_stack *stack,
					     const struct bytecode_instruction *instruction,
					     int operand);

#endif

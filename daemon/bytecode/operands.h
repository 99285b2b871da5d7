/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What an instruction works on: the instructions before it that computed its
 * operands, found by walking back over the evaluation stack, and the variables
 * that an instruction reads or assigns. Pure.
 *
 * The walk follows straight-line expressions: names, constants, attributes,
 * operators, subscripts, displays and calls. It gives up at anything else
 * (jumps inside an expression, yields, unknown opcodes), and then nothing is
 * said of the operands.
 *
 * A category asks call by call, not line by line: x = f(y[i]) changes as a line, while
 * the constant part of an expression can be told.
 */
#ifndef PIEPROFD_DAEMON_BYTECODE_OPERANDS_H
#define PIEPROFD_DAEMON_BYTECODE_OPERANDS_H

#include "daemon/bytecode/bytecode.h"

#include <stdbool.h>

/* A variable: the kind of its storage and its index there. */
struct variable {
	char storage; /* 'f' fast local, 'n' name, 'g' global, 'd' cell; 0: none */
	uint32_t index;
};

#define VARIABLES_MAX 2 /* 3.13's double instructions have two */

static inline bool variable_is(struct variable one, struct variable other)
{
	return one.storage == other.storage && one.index == other.index;
}

/* Those an instruction assigns or reads, in the order of its name. */
void operands_variables(const struct python_code *code,
			const struct bytecode_instruction *instruction, bool assigned,
			struct variable ret_variables[VARIABLES_MAX]);

/* The instructions [begin, end) that computed some values on top of the stack. */
struct operands {
	size_t begin, end;
	/* The first is a double load whose first variable is not one of these values. */
	bool surplus;
};

/* Variables that the i-th instruction reads for these operands, not for the value below them. */
void operands_read(const struct bytecode *bytecode, const struct operands *operands, size_t i,
		   struct variable ret_variables[VARIABLES_MAX]);

/*
 * Those of the `count` topmost values before the instruction at index; false:
 * it cannot be told.
 */
bool operands_on_top(const struct bytecode *bytecode, size_t index, unsigned count,
		     struct operands *ret);

/* The same for all operands that the instruction itself takes. */
bool operands_of(const struct bytecode *bytecode, size_t index, struct operands *ret);

#endif

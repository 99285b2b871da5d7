/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What to call the expression that an instruction computes, and its operands:
 *
 *   np.linalg.norm(m)     the source text at the instruction's position (3.11+),
 *                         cut out of the line
 *   norm(m), a + ...      without position or source: made from the bytecode and
 *                         the code object's names; constants are "..."
 *
 * Pure. Where the walk over the bytecode gives up (operands.h), there is no text
 * of the second kind, and no operand has a name.
 */
#ifndef PIEPROFD_DAEMON_BYTECODE_EXPRESSION_H
#define PIEPROFD_DAEMON_BYTECODE_EXPRESSION_H

#include "daemon/bytecode/expression_context.h"
#include "daemon/bytecode/operands.h"

/*
 * The text of a position in the line it begins on; where it goes on in further lines,
 * "..." stands for them. False: the position has no columns, or the line does not
 * have that text, as when the file was changed.
 */
bool expression_in_line(const struct code_position *position, const char *line,
			char ret_text[EXPRESSION_SIZE]);

/* Of the instruction at an offset; false: it cannot be told. */
bool expression_text(const struct bytecode *bytecode, int offset,
		     const struct expression_context *context, char ret_text[EXPRESSION_SIZE]);

/*
 * Operands of an instruction, from 0: of a call its arguments, those by keyword last;
 * of an operator left and right; of a subscript the object, the index, and what is
 * stored there; of an attribute the object. Of a call also these.
 */
#define EXPRESSION_CALLEE   (-1)
#define EXPRESSION_RECEIVER (-2) /* x of x.f(): an object, but it may be a module */

/*
 * The name of an operand: a variable or attributes of one, as "m", "self.weights". False:
 * it is computed, there is no such operand, or its name is not known.
 */
bool expression_operand_name(const struct bytecode *bytecode, int offset, int operand,
			     const struct expression_context *context,
			     char ret_name[EXPRESSION_SIZE]);

#endif

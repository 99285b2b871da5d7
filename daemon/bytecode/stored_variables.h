/* SPDX-License-Identifier: Apache-2.0 */
/* Variables whose objects some instructions store into: x of x[i] = v, of x.a = v, of x += v. Pure.
 */
#ifndef PIEPROFD_DAEMON_BYTECODE_STORED_VARIABLES_H
#define PIEPROFD_DAEMON_BYTECODE_STORED_VARIABLES_H

#include "daemon/bytecode/operands.h"

#define STORED_VARIABLES_MAX 32

struct stored_variables {
	struct variable items[STORED_VARIABLES_MAX];
	size_t count;
};

/* By the instructions whose offsets lie in [start, end). all: attributes, and what is deleted, too.
 */
void stored_variables_find(struct stored_variables *stored, const struct bytecode *bytecode,
			   int start, int end, bool all);

/* What computed the value that the instruction has below so many others, which may begin in the
 * middle of a double load. */
void stored_variables_add(struct stored_variables *stored, const struct bytecode *bytecode,
			  size_t index, unsigned above);

void stored_variables_add_one(struct stored_variables *stored, struct variable variable);

/* Does what computes these operands read one of them? */
bool stored_variables_are_read(const struct stored_variables *stored,
			       const struct bytecode *bytecode, const struct operands *operands);

bool stored_variables_has(const struct stored_variables *stored, struct variable variable);

#endif

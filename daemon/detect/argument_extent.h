/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The instructions that are there for one call alone: those that compute its
 * operands, and the store of its result. Removing the call removes them too, and
 * none of them has operands that tell as much. Pure.
 */
#ifndef PIEPROFD_DAEMON_DETECT_ARGUMENT_EXTENT_H
#define PIEPROFD_DAEMON_DETECT_ARGUMENT_EXTENT_H

#include "daemon/bytecode/operands.h"

struct argument_extent {
	int start, end; /* byte offsets, [start, end) */
	int store;      /* of the instruction that stores its result; negative: none does */
};

/* Of the instruction at offset; where its operands cannot be told, that one alone. */
struct argument_extent argument_extent_find(const struct bytecode *bytecode, int offset);

/*
 * f(x).g(1), f(x)[1], f(x)[1].g(): the offset of the call from which all operands of this one but
 * constants come; negative: there is none. When f(x) repeats its work, so does g(1).
 */
int argument_extent_origin(const struct bytecode *bytecode, int offset);

/*
 * f(g(x)): where the instructions begin that call f, once its last argument is computed; that is
 * where those of g(x) end. Negative: the instruction at offset calls nothing.
 */
int argument_extent_call(const struct bytecode *bytecode, int offset);

#endif

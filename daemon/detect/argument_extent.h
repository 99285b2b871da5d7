/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The instructions that are there for one call alone: those that compute its
 * operands, and the store of its result. Who does without the call does without
 * them, and none of them has operands that tell as much. Pure.
 */
#ifndef PIEPROFD_DAEMON_DETECT_ARGUMENT_EXTENT_H
#define PIEPROFD_DAEMON_DETECT_ARGUMENT_EXTENT_H

#include "daemon/detect/operands.h"

struct argument_extent {
	int start, end; /* byte offsets, [start, end) */
};

/* Of the instruction at offset; where its operands cannot be told, that one alone. */
struct argument_extent argument_extent_find(const struct bytecode *bytecode, int offset);

/*
 * f(x).g(1): the offset of the call that all of this one's operands come from, but
 * for constants; negative: there is none. Where the first does the same again, so does the second.
 */
int argument_extent_origin(const struct bytecode *bytecode, int offset);

#endif

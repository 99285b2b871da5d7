/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A copy of the top of one thread's stack, taken while it was stopped:
 *
 *   low addresses                                      high addresses
 *   | red zone (128 B) | sp ... innermost frames ... outermost frames |
 *   ^ start                                               start + size ^
 */
#ifndef PIEPROFD_COMMON_STACK_SNAPSHOT_H
#define PIEPROFD_COMMON_STACK_SNAPSHOT_H

#include "common/address.h"

#include <errno.h>
#include <string.h>

#define STACK_RED_ZONE_BYTES 128

struct stack_snapshot {
	remote_addr start;
	size_t size;
	const uint8_t *bytes; /* borrowed; size of them */
};

/* Copies [address, address + size) out of the snapshot; -EFAULT when it is not all inside. */
__attribute__((warn_unused_result)) static inline int stack_snapshot_read(
	const struct stack_snapshot *stack, remote_addr address, void *buffer, size_t size)
{
	if (address < stack->start || size > stack->size ||
	    address - stack->start > stack->size - size)
		return -EFAULT;
	memcpy(buffer, stack->bytes + (address - stack->start), size);
	return 0;
}

#endif

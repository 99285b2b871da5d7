/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Blocks of an allocator whose memory is not read: known by what refers to them, and by how large
 * that says, or what is there says of itself, that they are. What nothing refers to is not found.
 */
#ifndef PIEPROFD_PYINTROSPECT_HEAP_HEAP_FOUND_H
#define PIEPROFD_PYINTROSPECT_HEAP_HEAP_FOUND_H

#include "common/address.h"

/* No block. */
#define HEAP_FOUND_NONE 0xffffffffu

struct heap_found_block {
	remote_addr address;
	uint64_t size : 56;
	uint64_t prefix : 8; /* from there to what refers to it */
};

struct heap_found {
	struct heap_found_block *items;
	size_t count, capacity;
	uint32_t *slots; /* by the address that is referred to: 1 + its number, 0: free */
	size_t slot_count;
	uint64_t salt; /* so that a target cannot choose addresses that meet in one place */
};

void heap_found_deinit(struct heap_found *found);

/* The block whose object, or storage, begins there; HEAP_FOUND_NONE. */
uint32_t heap_found_look(const struct heap_found *found, remote_addr at);

/* at: what refers to it refers to that; it is not there yet. size is below 2^56. 0 or -ENOMEM. */
__attribute__((warn_unused_result)) int heap_found_add(struct heap_found *found, remote_addr at,
						       uint64_t size, uint8_t prefix);

#endif

/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Addresses in the target process.
 *
 * A remote_addr is an integer on purpose: it cannot be dereferenced by
 * accident. Every byte behind one is hostile input and is reached only
 * through a memory_reader (common/memory.h) or a stack_snapshot.
 */
#ifndef PIEPROFD_COMMON_ADDRESS_H
#define PIEPROFD_COMMON_ADDRESS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef uint64_t remote_addr;

/* [start, end) in the target. */
struct address_range {
	remote_addr start;
	remote_addr end;
};

static inline bool address_range_contains(struct address_range range, remote_addr address)
{
	return address >= range.start && address < range.end;
}

/* A few ranges, such as the parts the compiler split one function into. */
#define ADDRESS_RANGES_MAX 8

struct address_ranges {
	struct address_range items[ADDRESS_RANGES_MAX];
	size_t count;
};

static inline bool address_ranges_contain(const struct address_ranges *ranges, remote_addr address)
{
	for (size_t i = 0; i < ranges->count; i++)
		if (address_range_contains(ranges->items[i], address))
			return true;
	return false;
}

#endif

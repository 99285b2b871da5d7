/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What CPython's debug allocator (PYTHONMALLOC=debug, malloc_debug, python -X dev;
 * Objects/obmalloc.c) puts around each block:
 *
 *   u64 size, 'o' 'm' or 'r', 7 x 0xfd (0xfb to 3.7) | the block | 8 x 0xfd
 */
#ifndef PIEPROFD_PYINTROSPECT_HEAP_HEAP_DEBUG_H
#define PIEPROFD_PYINTROSPECT_HEAP_HEAP_DEBUG_H

#include <stdbool.h>
#include <stdint.h>

#define HEAP_DEBUG_BEFORE 16u
#define HEAP_DEBUG_AROUND 24u

/* Of the first 16 bytes of a block. */
static inline bool heap_debug_is_head(const uint8_t *block)
{
	uint8_t filler = block[9];

	if ((block[8] != 'o' && block[8] != 'm' && block[8] != 'r') ||
	    (filler != 0xfd && filler != 0xfb))
		return false;
	for (unsigned i = 10; i < HEAP_DEBUG_BEFORE; i++)
		if (block[i] != filler)
			return false;
	return true;
}

#endif

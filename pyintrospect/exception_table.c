/* SPDX-License-Identifier: Apache-2.0 */
#include "pyintrospect/exception_table.h"

#define UNIT_BYTES     2
#define NUMBER_BITS    6
#define NUMBER_MASK    63
#define NUMBER_GOES_ON 64
#define NUMBER_MAX     (1ull << 40)

/* Six bits a byte, the highest ones first. */
static bool read_number(const uint8_t **position, const uint8_t *end, uint64_t *ret_number)
{
	uint64_t number = 0;
	uint8_t byte;

	do {
		if (*position == end || number > NUMBER_MAX)
			return false;
		byte = *(*position)++;
		number = number << NUMBER_BITS | (byte & NUMBER_MASK);
	} while (byte & NUMBER_GOES_ON);
	*ret_number = number;
	return true;
}

bool exception_table_next(const uint8_t **position, const uint8_t *end,
			  struct exception_entry *ret_entry)
{
	uint64_t start, length, target, depth;

	if (!read_number(position, end, &start) || !read_number(position, end, &length) ||
	    !read_number(position, end, &target) || !read_number(position, end, &depth) ||
	    start > EXCEPTION_ENTRY_OFFSET_MAX / UNIT_BYTES ||
	    target > EXCEPTION_ENTRY_OFFSET_MAX / UNIT_BYTES ||
	    depth >> 1 > EXCEPTION_ENTRY_DEPTH_MAX - 2)
		return false;
	ret_entry->start = (uint32_t)start * UNIT_BYTES;
	ret_entry->target = (uint32_t)target * UNIT_BYTES;
	/* The exception, and below it perhaps the offset of what raised it. */
	ret_entry->depth = (int)(depth >> 1) + 1 + (int)(depth & 1);
	return true;
}

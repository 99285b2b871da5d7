/* SPDX-License-Identifier: Apache-2.0 */
#include "common/memory.h"

int memory_read_ranges(const struct memory_reader *reader, struct memory_range *ranges,
		       size_t count)
{
	return reader->read(reader->context, ranges, count);
}

int memory_read(const struct memory_reader *reader, remote_addr address, void *buffer, size_t size)
{
	struct memory_range range = { .address = address, .buffer = buffer, .size = size };
	int error = memory_read_ranges(reader, &range, 1);

	return error ? error : range.error;
}

int memory_read_u64(const struct memory_reader *reader, remote_addr address, uint64_t *ret_value)
{
	uint64_t value;
	int error = memory_read(reader, address, &value, sizeof(value));

	if (!error)
		*ret_value = value;
	return error;
}

/* SPDX-License-Identifier: Apache-2.0 */
#include "daemon/detect/sampled_access.h"

#include <errno.h>

/* At a mapping's end there may be fewer bytes than the longest instruction has. */
static size_t read_instruction(const struct memory_reader *code, remote_addr address,
			       uint8_t bytes[INSTRUCTION_BYTES_MAX])
{
	for (size_t size = INSTRUCTION_BYTES_MAX; size > 0; size--)
		if (!memory_read(code, address, bytes, size))
			return size;
	return 0;
}

int sampled_access(const struct memory_reader *code, const struct registers *registers,
		   const struct event_record *record, struct access *ret_access)
{
	struct registers there = *registers;
	struct instruction instruction;
	uint8_t bytes[INSTRUCTION_BYTES_MAX];
	size_t size = read_instruction(code, record->ip, bytes);

	if (!size)
		return -EFAULT;
	there.rip = record->ip;
	if (!record->address || instruction_decode(&there, bytes, size, &instruction))
		return -ENOENT;
	for (size_t i = 0; i < instruction.access_count; i++) {
		if (!(instruction.accesses[i].kinds & record->kinds))
			continue;
		*ret_access = instruction.accesses[i];
		ret_access->address = record->address;
		ret_access->address_known = true;
		return 0;
	}
	return -ENOENT;
}

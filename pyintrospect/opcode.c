/* SPDX-License-Identifier: Apache-2.0 */
#include "pyintrospect/opcode.h"

#include <string.h>

#define FIRST_MINOR_WITH_CACHES 11

/* The opcode that stands at an index in the code, with monitoring's replacements undone. */
static uint8_t opcode_original(const struct opcode_info *table, uint8_t opcode, size_t index,
			       const struct opcode_originals *originals)
{
	if (!originals)
		return opcode;
	/* A line event hides the opcode first, an instruction event may be below it. */
	if (table[opcode].name && strcmp(table[opcode].name, "INSTRUMENTED_LINE") == 0 &&
	    originals->lines)
		opcode = originals->lines[2 * index];
	if (table[opcode].name && strcmp(table[opcode].name, "INSTRUMENTED_INSTRUCTION") == 0 &&
	    originals->instructions)
		opcode = originals->instructions[index];
	return opcode;
}

void opcode_normalise(int minor, uint8_t *bytecode, size_t size,
		      const struct opcode_originals *originals)
{
	const struct opcode_info *table = opcode_table(minor);
	size_t offset = 0;

	if (!table || minor < FIRST_MINOR_WITH_CACHES)
		return;
	while (size - offset >= 2) {
		uint8_t opcode = opcode_original(table, bytecode[offset], offset / 2, originals);
		size_t caches;

		if (!table[opcode].name || table[opcode].caches == OPCODE_CACHES_UNKNOWN)
			return;
		bytecode[offset] = table[opcode].base;
		caches = 2 * (size_t)table[opcode].caches;
		offset += 2;
		if (caches > size - offset)
			return;
		memset(bytecode + offset, 0, caches);
		offset += caches;
	}
}

const char *opcode_name(int minor, const uint8_t *bytecode, size_t size, int instruction_offset)
{
	const struct opcode_info *table = opcode_table(minor);
	size_t offset = 0;

	if (!table || instruction_offset < 0 || (size_t)instruction_offset >= size)
		return NULL;
	if (minor < FIRST_MINOR_WITH_CACHES)
		return table[bytecode[instruction_offset]].name;
	/* Instructions differ in length by their caches, so their starts are found from the front.
	 */
	for (;;) {
		const struct opcode_info *info = &table[bytecode[offset]];
		size_t next;

		if (!info->name || info->caches == OPCODE_CACHES_UNKNOWN)
			return NULL;
		next = offset + 2 + 2 * (size_t)info->caches;
		if ((size_t)instruction_offset < next)
			return table[info->base].name;
		if (next >= size)
			return NULL;
		offset = next;
	}
}

/* SPDX-License-Identifier: Apache-2.0 */
#include "pyintrospect/code_entry.h"

#include "pyintrospect/opcode.h"

#include <stdbool.h>
#include <string.h>

#define UNIT_BYTES         2
#define FIRST_MINOR_RESUME 11

static bool makes_generator(const char *name)
{
	return !strncmp(name, "YIELD_", 6) || !strcmp(name, "RETURN_GENERATOR") ||
	       !strcmp(name, "GEN_START");
}

/* To 3.10: a loop that begins with the function, whose rounds look like calls. */
static bool jumps_to_start(const char *name, const uint8_t *unit, bool extended)
{
	return !extended && unit[1] == 0 &&
	       (!strcmp(name, "JUMP_ABSOLUTE") || !strncmp(name, "POP_JUMP_IF_", 12));
}

int code_entry(const struct python_code *code)
{
	const struct opcode_info *table = opcode_table(code->minor);
	bool resumes = code->minor >= FIRST_MINOR_RESUME, extended = false;
	int entry = resumes ? -1 : 0;

	if (!table || code->coroutine || code->bytecode_size < 2 * UNIT_BYTES)
		return -1;
	for (size_t at = 0; at + UNIT_BYTES <= code->bytecode_size;) {
		const struct opcode_info *info = &table[code->bytecode[at]];

		if (!info->name || info->caches == OPCODE_CACHES_UNKNOWN ||
		    makes_generator(info->name))
			return -1;
		if (!resumes && jumps_to_start(info->name, code->bytecode + at, extended))
			return -1;
		extended = !strcmp(info->name, "EXTENDED_ARG");
		at += UNIT_BYTES * (1 + (size_t)info->caches);
		if (entry < 0 && !strcmp(table[info->base].name, "RESUME"))
			entry = (int)at;
	}
	return (uint32_t)entry + UNIT_BYTES <= code->bytecode_size ? entry : -1;
}

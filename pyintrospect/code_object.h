/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Code objects, decoded once and interned: immutable, never freed before the
 * cache is. The key is the address together with the fields that cannot
 * change, so that a new code object at an old address is noticed. Code objects
 * that are alike in all that is kept of them share one entry, so that a program
 * which compiles the same source over and over does not fill the cache; when it
 * is full all the same, an entry named "?" stands for what is new.
 */
#ifndef PIEPROFD_PYINTROSPECT_CODE_OBJECT_H
#define PIEPROFD_PYINTROSPECT_CODE_OBJECT_H

#include "common/address.h"
#include "pyintrospect/line_table.h"

#include <stdbool.h>

struct python_code {
	const char *function; /* qualified name where the version has one; UTF-8 */
	const char *file;     /* co_filename; UTF-8 */
	int first_line;
	uint32_t id;    /* order of first sight, from 0 */
	bool coroutine; /* async def, or a generator that is used as one */
	/* the rest is read by line_table.c and opcode.c */
	const uint8_t *line_table;
	uint32_t line_table_size;
	const uint8_t *bytecode; /* as compiled: specialised and instrumented opcodes undone */
	uint32_t bytecode_size;
	int minor; /* 3.minor, selects the formats above */
};

/* Line of an instruction, by byte offset into the bytecode; 0: the instruction has none. */
int python_code_line(const struct python_code *code, int instruction_offset);

/* Stable opcode name ("BINARY_SUBSCR") at an offset; NULL: outside the code. */
const char *python_code_opcode(const struct python_code *code, int instruction_offset);

#endif

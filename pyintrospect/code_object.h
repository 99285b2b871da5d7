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
#include "pyintrospect/position_table.h"

#include <stdbool.h>

/* The tuples of names that a code object's instructions count in; read by code_names.h. */
enum python_names {
	PYTHON_NAMES,  /* co_names: globals and attributes */
	PYTHON_LOCALS, /* co_varnames; from 3.11 on co_localsplusnames, with the cells */
	PYTHON_CELLS,  /* to 3.10: co_cellvars, and co_freevars behind them */
};

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
	/* for stack_depth.c and operand_reader.c */
	const uint8_t *exception_table; /* 3.11+ */
	uint32_t exception_table_size;
	uint32_t argument_count; /* with keyword-only ones, *args and **kwargs */
	uint32_t local_count;    /* 3.11+: values in the frame below the evaluation stack */
};

/* Line of an instruction, by byte offset into the bytecode; 0: the instruction has none. */
int python_code_line(const struct python_code *code, int instruction_offset);

/* The piece of source of an instruction; errors: position_table.h. */
__attribute__((warn_unused_result)) int python_code_position(const struct python_code *code,
							     int instruction_offset,
							     struct code_position *ret_position);

/* Stable opcode name ("BINARY_SUBSCR") at an offset; NULL: outside the code. */
const char *python_code_opcode(const struct python_code *code, int instruction_offset);

#endif

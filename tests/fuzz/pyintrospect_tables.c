/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Line tables and bytecode of a code object, in every version's format.
 *
 *   u8 minor version, less 6; i32 first line; u16 size of the line table; the
 *   line table; the bytecode. What monitoring replaced is read off the line table.
 */
#include "pyintrospect/line_table.h"
#include "pyintrospect/offsets.h"
#include "pyintrospect/opcode.h"
#include "pyintrospect/position_table.h"
#include "tests/fuzz/fuzz.h"

/* A position and the line say the same. */
static void read_position(int minor, const uint8_t *table, size_t size, int first_line, int offset)
{
	int line = line_table_find(minor, table, size, first_line, offset);
	struct code_position position;

	if (position_table_find(minor, table, size, first_line, offset, &position)) {
		fuzz_must(minor < 11 || offset < 0 || line == 0);
		return;
	}
	fuzz_must(minor >= 11 && offset >= 0 && position.line > 0 && position.line == line);
	fuzz_must(position.end_line >= position.line);
	fuzz_must(position.column >= POSITION_NO_COLUMN &&
		  position.end_column >= POSITION_NO_COLUMN);
	fuzz_must((position.column < 0) == (position.end_column < 0));
}

static void read_lines(int minor, const uint8_t *table, size_t size, int first_line)
{
	static const int odd_offsets[] = { -1, 0x7fffffff, -0x7fffffff - 1 };

	for (int offset = 0; offset < 256; offset += 2)
		read_position(minor, table, size, first_line, offset);
	for (size_t i = 0; i < sizeof(odd_offsets) / sizeof(odd_offsets[0]); i++)
		read_position(minor, table, size, first_line, odd_offsets[i]);
}

static void read_opcodes(int minor, uint8_t *bytecode, size_t size, const uint8_t *table,
			 size_t table_size)
{
	const struct opcode_originals originals = {
		.lines = table_size >= size ? table : NULL,
		.instructions = table_size >= size / 2 ? table : NULL,
	};

	opcode_normalise(minor, bytecode, size, &originals);
	opcode_normalise(minor, bytecode, size, NULL);
	for (int offset = -2; offset < (int)size + 2 && offset < 256; offset++)
		fuzz_read_string(opcode_name(minor, bytecode, size, offset));
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct fuzz_input input = { data, size }, tables;
	int minor = PYTHON_MINOR_MIN +
		    (int)(fuzz_number(&input, 1) % (PYTHON_MINOR_MAX - PYTHON_MINOR_MIN + 1));
	int first_line = (int32_t)(uint32_t)fuzz_number(&input, 4);
	uint64_t table_size = fuzz_number(&input, 2);
	uint8_t *table, *bytecode;

	tables.at = fuzz_take(&input, (size_t)table_size, &tables.left);
	table = fuzz_copy(&tables);
	bytecode = fuzz_copy(&input);
	read_lines(minor, table, tables.left, first_line);
	read_opcodes(minor, bytecode, input.left, table, tables.left);
	free(bytecode);
	free(table);
	return 0;
}

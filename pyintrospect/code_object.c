/* SPDX-License-Identifier: Apache-2.0 */
#include "pyintrospect/code_object.h"

#include "pyintrospect/opcode.h"

int python_code_line(const struct python_code *code, int instruction_offset)
{
	return line_table_find(code->minor, code->line_table, code->line_table_size,
			       code->first_line, instruction_offset);
}

int python_code_position(const struct python_code *code, int instruction_offset,
			 struct code_position *ret_position)
{
	return position_table_find(code->minor, code->line_table, code->line_table_size,
				   code->first_line, instruction_offset, ret_position);
}

const char *python_code_opcode(const struct python_code *code, int instruction_offset)
{
	return opcode_name(code->minor, code->bytecode, code->bytecode_size, instruction_offset);
}

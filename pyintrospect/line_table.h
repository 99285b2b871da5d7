/* SPDX-License-Identifier: Apache-2.0 */
/*
 * From an instruction's offset to its source line: co_lnotab (3.6 to 3.9),
 * co_linetable of 3.10, and the location table of 3.11+, of which
 * position_table.h tells more. Pure; the tables are hostile input.
 */
#ifndef PIEPROFD_PYINTROSPECT_LINE_TABLE_H
#define PIEPROFD_PYINTROSPECT_LINE_TABLE_H

#include <stddef.h>
#include <stdint.h>

/*
 * Line of the instruction at this byte offset. Before the first instruction
 * (negative offset) it is first_line. 0: the instruction has no line, or the
 * table does not reach it.
 */
int line_table_find(int minor, const uint8_t *table, size_t size, int first_line,
		    int instruction_offset);

#endif

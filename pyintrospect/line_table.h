/* SPDX-License-Identifier: Apache-2.0 */
/*
 * From an instruction's offset to its source line: co_lnotab (3.6 to 3.9),
 * co_linetable of 3.10, and the location table of 3.11+. Pure; the tables are
 * hostile input. The line alone is what every frame is asked for; columns are a
 * question of their own.
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

/* Where an instruction comes from; lines and columns that are not known are 0 and -1. */
struct line_location {
	int line, end_line;
	int column, end_column; /* from 0, in bytes of the line's UTF-8; end_column is behind it */
};

/*
 * The whole location of the instruction at this byte offset. Columns are there
 * from 3.11; before, and for code compiled without them (-X no_debug_ranges),
 * only the line is. 0, or -ENOENT: the instruction has no line.
 */
int line_table_locate(int minor, const uint8_t *table, size_t size, int first_line,
		      int instruction_offset, struct line_location *ret_location);

#endif

/* SPDX-License-Identifier: Apache-2.0 */
/*
 * From an instruction's offset to the piece of source it was compiled from: the
 * location table of 3.11 and later (co_linetable, Objects/locations.md). Pure;
 * the table is hostile input.
 */
#ifndef PIEPROFD_PYINTROSPECT_POSITION_TABLE_H
#define PIEPROFD_PYINTROSPECT_POSITION_TABLE_H

#include <stddef.h>
#include <stdint.h>

#define POSITION_NO_COLUMN (-1)

struct code_position {
	int line, end_line;
	/* From 0, in bytes of the line in UTF-8; both POSITION_NO_COLUMN: not known (so with -X
	 * no_debug_ranges). end_column is behind the last byte. */
	int column, end_column;
};

/*
 * Of the instruction at this byte offset. -ENOENT: it has none (line 0 is none), or the table does
 * not reach it; -ENOTSUP: before 3.11.
 */
__attribute__((warn_unused_result)) int position_table_find(int minor, const uint8_t *table,
							    size_t size, int first_line,
							    int instruction_offset,
							    struct code_position *ret_position);

#endif

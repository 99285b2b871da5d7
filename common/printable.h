/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Strings of the target made fit to print: valid UTF-8 passes, everything a
 * terminal might obey (control characters, and those that turn the direction
 * of text) is shown as an escape, so that no file or function name can move
 * the cursor or pose as another line of the report.
 */
#ifndef PIEPROFD_COMMON_PRINTABLE_H
#define PIEPROFD_COMMON_PRINTABLE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/*
 * Length in bytes of the UTF-8 sequence at the start of text, of which size
 * bytes may be looked at; 0 when it is not valid (overlong, a surrogate, cut
 * off). *ret_code_point is written on success.
 */
size_t utf8_decode(const char *text, size_t size, uint32_t *ret_code_point);

/* Not a control character of any kind. */
bool code_point_printable(uint32_t code_point);

/*
 * Writes text into buffer, escaped, at most columns columns of a terminal
 * wide: when it is longer, its end is replaced by "..."; with keep_end its
 * start is. Always terminates. Returns the columns used. size is at least 1;
 * with PRINTABLE_BYTES(columns) only text of stacked marks is cut by it.
 */
unsigned printable_fit(char *buffer, size_t size, const char *text, unsigned columns,
		       bool keep_end);

/* Columns that the first bytes of text take when there is room for all of it. */
unsigned printable_columns(const char *text, size_t bytes);

/* Four bytes a column, and as much again for marks that combine with the one before. */
#define PRINTABLE_BYTES(columns) ((size_t)(columns)*8 + 1)

#endif

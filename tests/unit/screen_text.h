/* SPDX-License-Identifier: Apache-2.0 */
/* A line of the terminal's screen, as a person reads it. */
#ifndef PIEPROFD_TESTS_UNIT_SCREEN_TEXT_H
#define PIEPROFD_TESTS_UNIT_SCREEN_TEXT_H

#include "daemon/top/screen.h"

#include <string.h>

/* The line as text, without blanks at its end; buffer has room for SCREEN_TEXT_BYTES. */
#define SCREEN_TEXT_BYTES (2 * PRINTABLE_BYTES(SCREEN_COLUMNS_MAX) + SCREEN_COLUMNS_MAX)
static inline void screen_text(const struct screen *screen, unsigned row, char *buffer)
{
	const struct screen_line *line = &screen->lines[row];
	unsigned column = 0;
	size_t used = 0;

	for (unsigned i = 0; i < line->span_count; i++) {
		const struct screen_span *span = &line->spans[i];
		size_t size = strlen(line->text + span->offset);

		for (; column < span->column; column++)
			buffer[used++] = ' ';
		memcpy(buffer + used, line->text + span->offset, size);
		used += size;
		column += span->columns;
	}
	while (used > 0 && buffer[used - 1] == ' ')
		used--;
	buffer[used] = '\0';
}

#endif

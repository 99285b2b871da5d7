/* SPDX-License-Identifier: Apache-2.0 */
#include "daemon/top/screen.h"

#include <stdio.h>
#include <string.h>

void screen_clear(struct screen *screen, unsigned rows, unsigned columns, bool utf8)
{
	screen->rows = rows < SCREEN_ROWS_MAX ? rows : SCREEN_ROWS_MAX;
	screen->columns = columns < SCREEN_COLUMNS_MAX ? columns : SCREEN_COLUMNS_MAX;
	screen->utf8 = utf8;
	for (unsigned row = 0; row < screen->rows; row++) {
		screen->lines[row].size = 0;
		screen->lines[row].span_count = 0;
		screen->lines[row].reversed = false;
	}
}

/* Each character that is not ASCII becomes a question mark, in place; the columns then used. */
static unsigned to_ascii(char *text, unsigned width)
{
	size_t used = 0;

	for (const char *at = text; *at && used < width; at++)
		/* A character's first byte stands for all of it. */
		if (((unsigned char)*at & 0xc0) != 0x80)
			text[used++] = (unsigned char)*at < 0x80 ? *at : '?';
	text[used] = '\0';
	return (unsigned)used;
}

static unsigned screen_put_cells(struct screen *screen, unsigned row, unsigned column,
				 unsigned width, enum screen_style style, const char *text,
				 bool keep_end)
{
	struct screen_line *line;
	struct screen_span *span;
	unsigned used;
	char *place;

	if (row >= screen->rows || column >= screen->columns || !width)
		return 0;
	line = &screen->lines[row];
	if (width > screen->columns - column)
		width = screen->columns - column;
	if (line->span_count == SCREEN_SPANS_MAX || line->size >= sizeof(line->text))
		return 0;
	place = line->text + line->size;
	used = printable_fit(place, sizeof(line->text) - line->size, text, width, keep_end);
	if (!screen->utf8)
		used = to_ascii(place, width);
	span = &line->spans[line->span_count++];
	*span = (struct screen_span){
		.column = column, .columns = used, .offset = line->size, .style = style
	};
	line->size += strlen(place) + 1;
	return used;
}

unsigned screen_put(struct screen *screen, unsigned row, unsigned column, unsigned width,
		    enum screen_style style, const char *text)
{
	return screen_put_cells(screen, row, column, width, style, text, false);
}

unsigned screen_put_end(struct screen *screen, unsigned row, unsigned column, unsigned width,
			enum screen_style style, const char *text)
{
	return screen_put_cells(screen, row, column, width, style, text, true);
}

unsigned screen_print(struct screen *screen, unsigned row, unsigned column, unsigned width,
		      enum screen_style style, const char *format, ...)
{
	char text[1024];
	va_list arguments;

	va_start(arguments, format);
	vsnprintf(text, sizeof(text), format, arguments);
	va_end(arguments);
	return screen_put(screen, row, column, width, style, text);
}

void screen_fill(struct screen *screen, unsigned row, unsigned column, unsigned count,
		 enum screen_style style, const char *character)
{
	char text[4 * SCREEN_COLUMNS_MAX + 1];
	size_t size = strlen(character), used = 0;

	for (unsigned i = 0; i < count && used + size < sizeof(text); i++) {
		memcpy(text + used, character, size);
		used += size;
	}
	text[used] = '\0';
	screen_put(screen, row, column, count, style, text);
}

/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A terminal's screen as text: lines of spans, each with a place, a width and a
 * style. What draws it (terminal.c) and what tests read is the same.
 *
 * Strings may be the target's: they are made printable here, whoever puts them.
 */
#ifndef PIEPROFD_DAEMON_TOP_SCREEN_H
#define PIEPROFD_DAEMON_TOP_SCREEN_H

#include "common/printable.h"

#include <stdarg.h>

/* A larger terminal is left empty at its right and bottom. */
#define SCREEN_COLUMNS_MAX 240
#define SCREEN_ROWS_MAX    120
#define SCREEN_SPANS_MAX   24

enum screen_style {
	SCREEN_PLAIN,
	SCREEN_STRONG,
	SCREEN_FAINT,
	SCREEN_WARNING,
	SCREEN_PYTHON, /* parts of a bar */
	SCREEN_NATIVE,
	SCREEN_SYSTEM,
	SCREEN_STYLE_COUNT
};

struct screen_span {
	unsigned column, columns; /* at most so many; the rest is blank */
	size_t offset;            /* in the line's text, ended by NUL */
	enum screen_style style;
};

struct screen_line {
	char text[2 * PRINTABLE_BYTES(SCREEN_COLUMNS_MAX)];
	size_t size;
	struct screen_span spans[SCREEN_SPANS_MAX]; /* from left to right, not overlapping */
	unsigned span_count;
	bool reversed; /* all of it, to its end */
};

struct screen {
	unsigned rows, columns;
	bool utf8; /* else everything is ASCII */
	struct screen_line lines[SCREEN_ROWS_MAX];
};

/* Empty, of that size or the largest possible. */
void screen_clear(struct screen *screen, unsigned rows, unsigned columns, bool utf8);

/*
 * Puts text at that place, cut to width columns: its end, or with keep_end its
 * start, makes room for dots. Returns the columns used. What is outside of the
 * screen, or does not fit into the line's memory, is left out.
 */
unsigned screen_put(struct screen *screen, unsigned row, unsigned column, unsigned width,
		    enum screen_style style, const char *text);
unsigned screen_put_end(struct screen *screen, unsigned row, unsigned column, unsigned width,
			enum screen_style style, const char *text);
__attribute__((format(printf, 6, 7))) unsigned screen_print(struct screen *screen, unsigned row,
							    unsigned column, unsigned width,
							    enum screen_style style,
							    const char *format, ...);

/* The character, count times. */
void screen_fill(struct screen *screen, unsigned row, unsigned column, unsigned count,
		 enum screen_style style, const char *character);

#endif

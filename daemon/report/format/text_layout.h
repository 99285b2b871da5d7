/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What the sections of the text report are set with: cells of a fixed width,
 * wrapped sentences, figures with units. Strings may be the target's: they
 * are escaped here and nowhere else.
 */
#ifndef PIEPROFD_DAEMON_REPORT_FORMAT_TEXT_LAYOUT_H
#define PIEPROFD_DAEMON_REPORT_FORMAT_TEXT_LAYOUT_H

#include "daemon/report/encode/figure.h"
#include "daemon/report/format/writer.h"

#define TEXT_COLUMNS_MIN     80
#define TEXT_COLUMNS_MAX     240
#define TEXT_COLUMNS_DEFAULT 100

struct text_layout {
	FILE *file;
	unsigned columns; /* within the limits above */
	bool colour;
};

/* Within the limits; 0: the default. */
unsigned text_columns(unsigned columns);

struct figure figure_end(const struct profile_process *process); /* "exit 0", "SIGKILL", "-" */

/* A heading in capitals with a sentence behind it. */
void text_heading(const struct text_layout *layout, const char *heading, const char *format, ...)
	__attribute__((format(printf, 3, 4)));

/* text in exactly width columns: cut at its end or padded. The last cell of a row is not padded. */
void text_cell(const struct text_layout *layout, const char *text, unsigned width);
void text_last_cell(const struct text_layout *layout, const char *text, unsigned width);

/* The line's source, if it has any, behind indent columns; below it carets under the expression of
 * its finding. */
void text_source(const struct text_layout *layout, const struct profile_line *line,
		 unsigned indent);

/*
 * "PATHsuffix" in at most width columns, padded when pad. A path that is too
 * long loses folders from its start; suffix is ours and stays whole.
 */
void text_path_cell(const struct text_layout *layout, const char *path, const char *suffix,
		    unsigned width, bool pad);

/* label (ours), then sentences wrapped between words; further lines begin under the first word. */
void text_wrapped(const struct text_layout *layout, const char *label, const char *text);

/* A line of the character, over all columns, with words in the middle (may be NULL). */
void text_rule(const struct text_layout *layout, char character, const char *words);

/* Part of the text report in text_waiting.c: the lines that waited most, where that was asked for.
 * 0, or -1: no memory. */
__attribute__((warn_unused_result)) int text_waiting(const struct text_layout *layout,
						     const struct profile *profile, size_t maximum);

/* Part of the text report in text_pair.c: one pair as figure 7 of the PieProf paper has it. */
void text_pair(const struct text_layout *layout, const struct profile_pair *pair, size_t number,
	       size_t count);

#endif

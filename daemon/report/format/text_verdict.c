/* SPDX-License-Identifier: Apache-2.0 */
/* The part of the text report that says what to change. */
#include "daemon/report/format/text_layout.h"

#include "daemon/report/model/verdict.h"

void text_line_suffix(const struct profile_line *line, char *suffix, size_t size)
{
	*suffix = '\0';
	if (line->line)
		snprintf(suffix, size, ":%d", line->line);
}

/* "PATH:LINE in FUNCTION" and the source line below it. */
static void put_place(const struct text_layout *layout, const struct profile_line *line)
{
	char suffix[32];

	text_line_suffix(line, suffix, sizeof(suffix));
	fputs("    ", layout->file);
	text_path_cell(layout, line->file, suffix, layout->columns * 3 / 5, false);
	fputs(" in ", layout->file);
	text_last_cell(layout, line->function, layout->columns / 4);
	text_source(layout, line, 6);
}

void text_verdict(const struct text_layout *layout, const struct verdict *verdict)
{
	text_heading(layout, "VERDICT", "%s", verdict->headline);
	for (size_t i = 0, place = 0; i <= verdict->sentence_count; i++) {
		while (place < verdict->place_count && verdict->places[place].position == i)
			put_place(layout, &verdict->places[place++].line);
		if (i < verdict->sentence_count)
			text_wrapped(layout, "  ", verdict->sentences[i]);
	}
}

/* SPDX-License-Identifier: Apache-2.0 */
#include "daemon/report/format/text_layout.h"

#include "common/clock.h"
#include "common/printable.h"
#include "daemon/report/model/line_mark.h"

#include <stdarg.h>
#include <string.h>

#define CELL_BYTES PRINTABLE_BYTES(TEXT_COLUMNS_MAX)
#define LINE_BYTES 700
/* Longer sentences than this are cut; ours are shorter. */
#define SENTENCES_COLUMNS_MAX 1000

unsigned text_columns(unsigned columns)
{
	if (columns == 0)
		return TEXT_COLUMNS_DEFAULT;
	if (columns < TEXT_COLUMNS_MIN)
		return TEXT_COLUMNS_MIN;
	return columns < TEXT_COLUMNS_MAX ? columns : TEXT_COLUMNS_MAX;
}

void text_label(const struct text_layout *layout, const char *label)
{
	fprintf(layout->file, "%s%s%s  ", layout->colour ? "\033[1m" : "", label,
		layout->colour ? "\033[0m" : "");
}

void text_heading(const struct text_layout *layout, const char *heading, const char *format, ...)
{
	va_list arguments;

	fputc('\n', layout->file);
	text_label(layout, heading);
	va_start(arguments, format);
	vfprintf(layout->file, format, arguments);
	va_end(arguments);
	fputc('\n', layout->file);
}

static unsigned cell(const struct text_layout *layout, const char *text, unsigned width)
{
	char buffer[CELL_BYTES];
	unsigned used;

	if (width > TEXT_COLUMNS_MAX)
		width = TEXT_COLUMNS_MAX;
	used = printable_fit(buffer, sizeof(buffer), text, width, false);
	fputs(buffer, layout->file);
	return used;
}

static void spaces(const struct text_layout *layout, unsigned count)
{
	fprintf(layout->file, "%*s", (int)count, "");
}

void text_cell(const struct text_layout *layout, const char *text, unsigned width)
{
	unsigned used = cell(layout, text, width);

	spaces(layout, width > used ? width - used : 0);
}

void text_last_cell(const struct text_layout *layout, const char *text, unsigned width)
{
	cell(layout, text, width);
	fputc('\n', layout->file);
}

void text_line(const struct text_layout *layout, const char *format, ...)
{
	char words[LINE_BYTES];
	va_list arguments;

	va_start(arguments, format);
	vsnprintf(words, sizeof(words), format, arguments);
	va_end(arguments);
	text_last_cell(layout, words, layout->columns);
}

void text_source(const struct text_layout *layout, const struct profile_line *line, unsigned indent)
{
	unsigned room = layout->columns - indent, shown, first, end;
	size_t from, to;

	if (!line->source || !*line->source)
		return;
	spaces(layout, indent);
	shown = cell(layout, line->source, room);
	fputc('\n', layout->file);
	if (!line_mark(line, &from, &to))
		return;
	/* Cut: the last columns are an ellipsis. */
	if (printable_columns(line->source, strlen(line->source)) > room && shown > 3)
		shown -= 3;
	first = printable_columns(line->source, from);
	end = printable_columns(line->source, to);
	if (end > shown)
		end = shown;
	if (first >= end)
		return;
	spaces(layout, indent + first);
	for (; first < end; first++)
		fputc('^', layout->file);
	fputc('\n', layout->file);
}

void text_path_cell(const struct text_layout *layout, const char *path, const char *suffix,
		    unsigned width, bool pad)
{
	char buffer[CELL_BYTES];
	unsigned suffix_columns = (unsigned)strlen(suffix), used = 0;
	const char *whole = path;
	unsigned room;

	if (width > TEXT_COLUMNS_MAX)
		width = TEXT_COLUMNS_MAX;
	room = width > suffix_columns ? width - suffix_columns : 0;
	/* Bytes, not columns: at worst a folder more than needed is left out. */
	if (strlen(path) > room) {
		for (const char *at = path; (at = strchr(at, '/')); at++)
			if (at[1] && strlen(at) + 3 <= room) {
				used = 3;
				path = at;
				break;
			}
		if (used && !strchr(path + 1, '/')) {
			/* "re/__init__.py" says more than ".../__init__.py". */
			const char *folder = path;

			while (folder > whole && folder[-1] != '/')
				folder--;
			if (folder > whole && folder < path && strlen(folder) <= room) {
				path = folder;
				used = 0;
			}
		} else if (used == 0 && strrchr(path, '/') && strrchr(path, '/')[1]) {
			/* Not even the last folder fits: the name alone. */
			path = strrchr(path, '/') + 1;
		}
	}
	if (used)
		fputs("...", layout->file);
	used += printable_fit(buffer, sizeof(buffer), path, room - used, true);
	fprintf(layout->file, "%s%s", buffer, suffix);
	used += suffix_columns;
	if (pad)
		spaces(layout, width > used ? width - used : 0);
}

void text_wrapped(const struct text_layout *layout, const char *label, const char *text)
{
	unsigned indent = (unsigned)strlen(label);
	char buffer[PRINTABLE_BYTES(SENTENCES_COLUMNS_MAX)];
	const char *word = buffer;
	unsigned at = indent;
	bool empty = true; /* no word on this line yet */

	printable_fit(buffer, sizeof(buffer), text, SENTENCES_COLUMNS_MAX, false);
	fputs(label, layout->file);
	while (*word) {
		size_t length = strcspn(word, " ");

		if (!empty && at + 1 + length > layout->columns) {
			fputc('\n', layout->file);
			spaces(layout, indent);
			at = indent;
			empty = true;
		}
		if (!empty) {
			fputc(' ', layout->file);
			at++;
		}
		fprintf(layout->file, "%.*s", (int)length, word);
		at += (unsigned)length;
		empty = false;
		word += length;
		word += strspn(word, " ");
	}
	fputc('\n', layout->file);
}

void text_rule(const struct text_layout *layout, char character, const char *words)
{
	unsigned length = words ? (unsigned)strlen(words) : 0;
	unsigned left = layout->columns > length ? (layout->columns - length) / 2 : 0;
	unsigned right = layout->columns > length + left ? layout->columns - length - left : 0;

	for (unsigned i = 0; i < left; i++)
		fputc(character, layout->file);
	fputs(words ? words : "", layout->file);
	for (unsigned i = 0; i < right; i++)
		fputc(character, layout->file);
	fputc('\n', layout->file);
}

struct figure figure_end(const struct profile_process *process)
{
	struct figure figure = { "-" };
	const char *name = sigabbrev_np(process->end_status);

	if (process->end == PROCESS_EXITED)
		snprintf(figure.text, sizeof(figure.text), "exit %d", process->end_status);
	else if (process->end == PROCESS_KILLED && name)
		snprintf(figure.text, sizeof(figure.text), "SIG%s", name);
	else if (process->end == PROCESS_KILLED)
		snprintf(figure.text, sizeof(figure.text), "signal %d", process->end_status);
	else if (process->end == PROCESS_REPLACED)
		snprintf(figure.text, sizeof(figure.text), "exec");
	return figure;
}

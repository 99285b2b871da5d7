/* SPDX-License-Identifier: Apache-2.0 */
/* The part of the text report on threads that sleep. Shares are of all their waiting, which is no
 * CPU time. */
#include "daemon/report/format/text_layout.h"
#include "daemon/report/model/verdict.h"

#include <stdlib.h>
#include <string.h>

#define SHARES_COLUMNS 46

static size_t waiting_threads(const struct profile_facts *facts)
{
	size_t count = 0;

	for (size_t i = 0; i < facts->thread_count; i++)
		count += side_time_waiting_ns(&facts->threads[i].side) > 0;
	return count;
}

static void put_shares(const struct text_layout *layout, const struct side_time *side,
		       uint64_t total_ns, bool no_gil)
{
	const uint64_t *waiting = side->waiting_ns;

	fprintf(layout->file, "%6s %6s %6s %6s %6s %6s  ",
		figure_part(side_time_waiting_ns(side), total_ns).text,
		figure_part(waiting[WAIT_LOCK], total_ns).text,
		no_gil ? "" : figure_part(waiting[WAIT_GIL], total_ns).text,
		figure_part(waiting[WAIT_IO], total_ns).text,
		figure_part(waiting[WAIT_SLEEP], total_ns).text,
		figure_part(waiting[WAIT_CHILD] + waiting[WAIT_OTHER], total_ns).text);
}

static void text_waiting_put_line(const struct text_layout *layout, const struct profile_line *line,
				  uint64_t total_ns, bool no_gil)
{
	unsigned where_columns = (layout->columns - SHARES_COLUMNS) / 2;
	char suffix[32] = "";

	put_shares(layout, &line->side, total_ns, no_gil);
	if (line->line)
		snprintf(suffix, sizeof(suffix), ":%d", line->line);
	text_path_cell(layout, line->file, suffix, where_columns, true);
	fputs("  ", layout->file);
	text_last_cell(layout, line->source && *line->source ? line->source : line->function,
		       layout->columns - SHARES_COLUMNS - where_columns);
}

int text_waiting(const struct text_layout *layout, const struct profile *profile, size_t maximum)
{
	uint64_t total_ns = side_time_waiting_ns(&profile->side);
	size_t threads = waiting_threads(&profile->facts), waiting = 0;
	bool no_gil = profile_has_no_gil(&profile->facts);
	const struct profile_line **lines;

	if (!profile->facts.waits)
		return 0;
	text_heading(layout, "WAITING", "%s asleep in %zu thread%s, of %s each",
		     figure_ns(total_ns).text, threads, threads == 1 ? "" : "s",
		     figure_ns(profile->facts.duration_ns).text);
	lines = profile_lines_by_waiting(profile, &waiting);
	if (!lines)
		return -1;
	if (waiting)
		fprintf(layout->file,
			"   all   lock    %s    I/O  sleep  other  line (shares of all waiting)\n",
			no_gil ? "   " : "GIL");
	for (size_t i = 0; i < waiting && i < maximum; i++)
		text_waiting_put_line(layout, lines[i], total_ns, no_gil);
	if (waiting > maximum)
		fprintf(layout->file, "  (%zu more line%s; --lines N shows more)\n",
			waiting - maximum, figure_plural(waiting - maximum));
	free(lines);
	return 0;
}

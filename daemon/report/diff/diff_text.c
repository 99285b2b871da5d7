/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The difference of two profiles for people: what became of the findings, what else stands out from
 * noise, and how many do not. On a terminal one screen of it; --details and files have all.
 */
#include "daemon/report/diff/diff_writers.h"

#include "daemon/report/diff/diff_text.h"
#include "daemon/report/model/container_text.h"
#include "daemon/report/model/profile_facts.h"

#include <errno.h>
#include <inttypes.h>
#include <string.h>

#define LINES_DEFAULT 10
#define PAIRS_DEFAULT 6
/* Of one screen: what its sections take besides their rows, blank lines and heads included. */
#define FINDINGS_FIXED 3
#define ENTRIES_FIXED  5 /* with how many others there are */
#define ENTRIES_MIN    2

static struct figure figure_rate(double ms, bool present)
{
	struct figure figure = { .text = "-" };

	if (present)
		snprintf(figure.text, sizeof(figure.text), "%.1f", ms);
	return figure;
}

static struct figure figure_of(const struct diff *diff, const struct diff_entry *entry,
			       enum diff_side side)
{
	struct figure figure = { .text = "-" };

	return entry->present[side] ? diff_share(diff, side, entry->time.share[side]) : figure;
}

static void put_side(const struct text_layout *layout, const struct diff *diff, const char *label,
		     enum diff_side side)
{
	const struct profile_facts *facts = &diff->profiles[side]->facts;
	char words[768];
	size_t used;

	used = (size_t)snprintf(words, sizeof(words),
				"%s, %" PRIu64 " sample%s%s, %.1f ms of CPU a second; pid %d%s:",
				figure_ns(facts->duration_ns).text, facts->samples,
				figure_plural(facts->samples), profile_roughness(facts),
				diff->cpu_rate[side], (int)facts->target.pid,
				container_suffix(&facts->target.container).text);
	for (size_t i = 0;
	     facts->target.command && facts->target.command[i] && used < sizeof(words); i++)
		used += (size_t)snprintf(words + used, sizeof(words) - used, " %s",
					 facts->target.command[i]);
	fputs(label, layout->file);
	text_last_cell(layout, words, layout->columns - (unsigned)strlen(label));
}

static const char *presence(const bool present[DIFF_SIDES])
{
	return !present[DIFF_BASE] ? "new" : !present[DIFF_NOW] ? "gone" : "";
}

static void put_entry(const struct text_layout *layout, const struct diff *diff,
		      const struct diff_entry *entry)
{
	const struct diff_figure *time = &entry->time;
	int line = entry->line[entry->present[DIFF_NOW] ? DIFF_NOW : DIFF_BASE];
	unsigned where = (layout->columns - 58) * 3 / 5;
	char suffix[32] = "", change[64];

	if (line)
		snprintf(suffix, sizeof(suffix), ":%d", line);
	snprintf(change, sizeof(change), "%+.0f (%+.0f to %+.0f)",
		 time->rate[DIFF_NOW] - time->rate[DIFF_BASE], time->rate_change.low,
		 time->rate_change.high);
	fprintf(layout->file, "%6s %6s %7s %7s  ", figure_of(diff, entry, DIFF_BASE).text,
		figure_of(diff, entry, DIFF_NOW).text,
		figure_rate(time->rate[DIFF_BASE], entry->present[DIFF_BASE]).text,
		figure_rate(time->rate[DIFF_NOW], entry->present[DIFF_NOW]).text);
	text_cell(layout, change, 23);
	text_cell(layout, presence(entry->present), 4);
	fputc(' ', layout->file);
	text_path_cell(layout, entry->file, suffix, where, true);
	fputs("  ", layout->file);
	text_last_cell(layout, entry->source && *entry->source ? entry->source : entry->function,
		       layout->columns - 60 - where);
}

/* Those that stand out come first. */
static size_t loud_entries(const struct diff_entry *entries, size_t count)
{
	size_t loud = 0;

	while (loud < count && !entries[loud].time.noise)
		loud++;
	return loud;
}

/* How many have a row. */
static size_t put_loud(const struct text_layout *layout, const struct diff *diff,
		       const char *heading, const struct diff_entry *entries, size_t loud,
		       size_t maximum)
{
	size_t shown = loud < maximum ? loud : maximum;

	text_heading(layout, heading,
		     loud ? "own time that changed by more than chance would have it"
			  : "none changed by more than chance would have it");
	if (shown)
		fputs(" share of CPU   CPU ms a second\n"
		      "  base    now    base     now  change (95% interval)\n",
		      layout->file);
	for (size_t i = 0; i < shown; i++)
		put_entry(layout, diff, &entries[i]);
	return shown;
}

static void diff_text_put_entries(const struct text_layout *layout, const struct diff *diff,
				  const char *heading, const struct diff_entry *entries,
				  size_t count, size_t maximum)
{
	size_t loud = loud_entries(entries, count);
	size_t shown = put_loud(layout, diff, heading, entries, loud, maximum);

	if (shown < loud)
		fprintf(layout->file, "  (%zu more; --lines N shows more)\n", loud - shown);
	if (loud < count)
		fprintf(layout->file,
			"  (%zu others: within noise, or no more changed than all the rest)\n",
			count - loud);
}

static void diff_text_put_place(const struct text_layout *layout, const char *label,
				const struct diff_place *place)
{
	char suffix[32] = "";

	if (place->line)
		snprintf(suffix, sizeof(suffix), ":%d", place->line);
	fprintf(layout->file, "      %s ", label);
	text_path_cell(layout, place->file, suffix, layout->columns / 2, false);
	fputs("  ", layout->file);
	text_last_cell(layout, place->source && *place->source ? place->source : place->function,
		       layout->columns / 2 - 20);
}

static void diff_text_put_pair(const struct text_layout *layout, const struct diff_pair *pair)
{
	const char *word = presence(pair->present);
	const struct diff_figure *accesses = &pair->accesses;
	char words[256];

	snprintf(words, sizeof(words),
		 "%s%s%ss: %" PRIu64 " redundant before, %" PRIu64
		 " now; of all sampled %ss %.1f%% and %.1f%%, a change of %+.1f to %+.1f points; "
		 "could save %s and %s",
		 word, *word ? ": " : "", pair->kind == PAIR_LOAD ? "load" : "store",
		 pair->redundant[DIFF_BASE], pair->redundant[DIFF_NOW],
		 pair->kind == PAIR_LOAD ? "load" : "store", 100 * accesses->share[DIFF_BASE],
		 100 * accesses->share[DIFF_NOW], 100 * accesses->share_change.low,
		 100 * accesses->share_change.high, figure_ns(pair->avoidable_ns[DIFF_BASE]).text,
		 figure_ns(pair->avoidable_ns[DIFF_NOW]).text);
	text_wrapped(layout, "  - ", words);
	diff_text_put_place(layout, "first ", &pair->first);
	diff_text_put_place(layout, "second", &pair->second);
}

static void diff_text_put_pairs(const struct text_layout *layout, const struct diff *diff,
				size_t maximum)
{
	size_t loud = 0, shown;

	while (loud < diff->pair_count && !diff->pairs[loud].accesses.noise)
		loud++;
	text_heading(layout, "PAIRS",
		     loud ? "of lines, whose redundant accesses changed by more than chance would "
			    "have it"
			  : "none changed by more than chance would have it");
	shown = loud < maximum ? loud : maximum;
	for (size_t i = 0; i < shown; i++)
		diff_text_put_pair(layout, &diff->pairs[i]);
	if (shown < loud)
		fprintf(layout->file, "  (%zu more; --pairs N shows more)\n", loud - shown);
	if (loud < diff->pair_count)
		fprintf(layout->file, "  (%zu others: no change, or within noise)\n",
			diff->pair_count - loud);
}

/* label and unit are ours. */
static void put_avoidable(const struct text_layout *layout, const struct diff *diff,
			  const char *label, const char *unit, int digits)
{
	char words[256];

	snprintf(words, sizeof(words),
		 "%.*f%s before (95%% interval %.*f to %.*f), %.*f now (%.*f to %.*f)%s", digits,
		 diff->avoidable_rate[DIFF_BASE], unit, digits, diff->avoidable[DIFF_BASE].low,
		 digits, diff->avoidable[DIFF_BASE].high, digits, diff->avoidable_rate[DIFF_NOW],
		 digits, diff->avoidable[DIFF_NOW].low, digits, diff->avoidable[DIFF_NOW].high,
		 diff->avoidable_noise ? ": within noise" : "");
	text_wrapped(layout, label, words);
}

static void put_title(const struct text_layout *layout, const struct diff *diff)
{
	fputs("pieprofd " PIEPROFD_VERSION ", the difference of two profiles\n", layout->file);
	put_side(layout, diff, "  base  ", DIFF_BASE);
	put_side(layout, diff, "  now   ", DIFF_NOW);
}

static void put_all(const struct text_layout *layout, const struct diff *diff,
		    const struct finding_changes *changes, const struct writer_options *options)
{
	size_t lines = options->lines_max ? options->lines_max : LINES_DEFAULT;

	put_title(layout, diff);
	diff_text_put_findings(layout, changes);
	text_heading(layout, "COULD SAVE", "CPU ms a second, all lines together");
	put_avoidable(layout, diff, "  ", "", 1);
	diff_text_put_entries(layout, diff, "LINES", diff->lines, diff->line_count, lines);
	diff_text_put_entries(layout, diff, "FUNCTIONS", diff->functions, diff->function_count,
			      lines);
	diff_text_put_pairs(layout, diff, options->pairs_max ? options->pairs_max : PAIRS_DEFAULT);
	fputs("\nIntervals are of 95%, by the number of samples: of what did not change, one in "
	      "twenty "
	      "seems to.\n",
	      layout->file);
}

/* What is above the findings, and what is to be done about the first of them. */
enum screen_part {
	SCREEN_HEAD,
	SCREEN_REMEDY,
	SCREEN_PARTS
};

static int make_screen_part(struct text_part *part, const struct text_layout *layout,
			    const struct diff *diff, const struct finding_changes *changes,
			    enum screen_part name)
{
	struct text_layout inside;
	int result = text_part_begin(part, layout, &inside);

	if (result)
		return result;
	if (name == SCREEN_HEAD) {
		put_title(&inside, diff);
		put_avoidable(&inside, diff, "  could save  ", " ms a second", 0);
	} else {
		diff_text_put_remedy(&inside, changes);
	}
	return text_part_end(part, &inside);
}

static size_t least(size_t a, size_t b)
{
	return a < b ? a : b;
}

/* Which lines stand out, how many more do, and where to see them. */
static void put_screen_lines(const struct text_layout *layout, const struct diff *diff, size_t loud,
			     size_t maximum)
{
	size_t shown = put_loud(layout, diff, "LINES", diff->lines, loud, maximum);
	char more[32] = "";

	if (shown < loud)
		snprintf(more, sizeof(more), "%zu more; ", loud - shown);
	if (shown < diff->line_count)
		fprintf(layout->file,
			"  (%s%zu others: within noise, or no more changed than the rest)\n", more,
			diff->line_count - loud);
	fputs("  --details shows more lines, functions, pairs of accesses, and why.\n",
	      layout->file);
}

/* Findings have the room first, but for a few lines; then the remedy; then more lines. */
static void put_screen(const struct text_layout *layout, const struct diff *diff,
		       const struct finding_changes *changes, const struct text_part *parts,
		       const struct writer_options *options)
{
	size_t loud = loud_entries(diff->lines, diff->line_count);
	size_t changed = diff_text_changed(changes), findings = changed;
	/* Headings alone where there is nothing to show; the last line says what else there is. */
	size_t fixed = parts[SCREEN_HEAD].lines + (changed ? FINDINGS_FIXED : 2) +
		       (loud ? ENTRIES_FIXED : 3) + 1;
	size_t room = fixed < TEXT_BRIEF_LINES ? TEXT_BRIEF_LINES - fixed : 0;
	size_t lines = least(loud, ENTRIES_MIN);
	const struct text_part *remedy = NULL;

	room -= least(room, lines);
	/* How many more there are takes a line. */
	if (findings > room)
		findings = room > 2 ? room - 1 : 1;
	room -= least(room, findings < changed ? findings + 1 : findings);
	if (parts[SCREEN_REMEDY].lines <= room) {
		remedy = &parts[SCREEN_REMEDY];
		room -= remedy->lines;
	}
	text_part_put(layout, &parts[SCREEN_HEAD]);
	diff_text_put_changed(layout, changes, findings, remedy);
	put_screen_lines(layout, diff, loud,
			 options->lines_max ? options->lines_max : lines + room);
}

static int put_brief(const struct text_layout *layout, const struct diff *diff,
		     const struct finding_changes *changes, const struct writer_options *options)
{
	struct text_part parts[SCREEN_PARTS] = { 0 };
	int result = 0;

	for (enum screen_part name = 0; name < SCREEN_PARTS && !result; name++)
		result = make_screen_part(&parts[name], layout, diff, changes, name);
	if (!result)
		put_screen(layout, diff, changes, parts, options);
	for (enum screen_part name = 0; name < SCREEN_PARTS; name++)
		text_part_deinit(&parts[name]);
	return result;
}

int diff_write_text(const struct diff *diff, const struct writer_options *options, FILE *file)
{
	const struct text_layout layout = {
		.file = file,
		.columns = text_columns(options->columns),
		.colour = options->colour,
	};
	struct finding_changes *changes = finding_changes_find(diff);
	int result = 0;

	if (!changes)
		return -ENOMEM;
	if (options->brief)
		result = put_brief(&layout, diff, changes, options);
	else
		put_all(&layout, diff, changes, options);
	finding_changes_destroy(changes);
	return result ? result : ferror(file) ? -EIO : 0;
}

/* SPDX-License-Identifier: Apache-2.0 */
#include "daemon/report/diff/finding_change.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static bool is_same_text(const char *a, const char *b)
{
	return !strcmp(a ? a : "", b ? b : "");
}

/* The line of the difference that a side's line became; every line became one. */
static const struct diff_entry *entry_of(const struct diff *diff, enum diff_side side,
					 const struct profile_line *line)
{
	for (size_t i = 0; i < diff->line_count; i++) {
		const struct diff_entry *entry = &diff->lines[i];

		if (entry->present[side] && entry->line[side] == line->line &&
		    is_same_text(entry->file, line->file) &&
		    is_same_text(entry->function, line->function) &&
		    is_same_text(entry->source, line->source))
			return entry;
	}
	return NULL;
}

static bool is_pattern_alone(const struct finding *finding)
{
	return finding && !finding->saving_ns;
}

static int direction(const struct diff_figure *figure)
{
	const double *share = figure->share, *rate = figure->rate;

	if (figure->noise)
		return 0;
	if (share[DIFF_NOW] > share[DIFF_BASE] && rate[DIFF_NOW] > rate[DIFF_BASE])
		return 1;
	return share[DIFF_NOW] < share[DIFF_BASE] && rate[DIFF_NOW] < rate[DIFF_BASE] ? -1 : 0;
}

static void change_settle(struct finding_change *change)
{
	const struct finding *const *sides = change->sides;
	bool alone = (!sides[DIFF_BASE] || is_pattern_alone(sides[DIFF_BASE])) &&
		     (!sides[DIFF_NOW] || is_pattern_alone(sides[DIFF_NOW]));
	const struct diff_figure *figure;
	int way;

	figure = alone ? &change->entry->total : &change->entry->avoidable;
	change->pattern_alone = alone;
	for (size_t s = 0; s < DIFF_SIDES; s++)
		change->share[s] = figure->share[s];
	way = direction(figure);
	if (!sides[DIFF_BASE] || !sides[DIFF_NOW]) {
		change->kind = sides[DIFF_NOW] ? FINDING_NEW : FINDING_GONE;
		change->chance = !way;
	} else {
		change->kind = way > 0 ? FINDING_GROWN : way < 0 ? FINDING_SHRUNK : FINDING_SAME;
	}
}

static struct finding_change *change_of(struct finding_changes *changes,
					const struct diff_entry *entry)
{
	for (size_t i = 0; i < changes->count; i++)
		if (changes->items[i].entry == entry)
			return &changes->items[i];
	return NULL;
}

static void add_side(struct finding_changes *changes, const struct diff *diff, enum diff_side side)
{
	for (size_t i = 0; i < changes->findings[side].count; i++) {
		const struct finding *finding = &changes->findings[side].items[i];
		const struct diff_entry *entry = entry_of(diff, side, finding->line);
		struct finding_change *change = entry ? change_of(changes, entry) : NULL;

		if (!entry)
			continue;
		if (!change) {
			change = &changes->items[changes->count++];
			change->entry = entry;
		}
		change->sides[side] = finding;
	}
}

struct finding_changes *finding_changes_find(const struct diff *diff)
{
	struct finding_changes *changes = calloc(1, sizeof(*changes));

	for (size_t s = 0; s < DIFF_SIDES && changes; s++)
		if (findings_of(diff->profiles[s], &changes->findings[s])) {
			finding_changes_destroy(changes);
			return NULL;
		}
	if (!changes)
		return NULL;
	changes->diff = diff;
	add_side(changes, diff, DIFF_NOW);
	add_side(changes, diff, DIFF_BASE);
	for (size_t i = 0; i < changes->count; i++)
		change_settle(&changes->items[i]);
	return changes;
}

void finding_changes_destroy(struct finding_changes *changes)
{
	if (!changes)
		return;
	for (size_t s = 0; s < DIFF_SIDES; s++)
		findings_deinit(&changes->findings[s]);
	free(changes);
}

enum diff_side finding_change_side(const struct finding_change *change)
{
	return change->sides[DIFF_NOW] ? DIFF_NOW : DIFF_BASE;
}

const struct finding *finding_change_shown(const struct finding_change *change)
{
	return change->sides[finding_change_side(change)];
}

const char *finding_change_code(const struct finding_change *change)
{
	const struct finding *finding = finding_change_shown(change);

	if (finding->expression)
		return finding->expression;
	return finding->line->source && *finding->line->source ? finding->line->source
							       : finding->line->function;
}

const char *finding_change_name(enum finding_change_kind kind)
{
	static const char *const names[FINDING_CHANGE_KIND_COUNT] = {
		[FINDING_NEW] = "new",       [FINDING_GROWN] = "grown",
		[FINDING_SHRUNK] = "shrunk", [FINDING_SAME] = "unchanged",
		[FINDING_GONE] = "gone",
	};

	return names[kind];
}

void finding_change_sentence(const struct finding_change *change, char *text, size_t size)
{
	const char *words = change->pattern_alone ? "took" : "could save";
	double before = 100 * change->share[DIFF_BASE], now = 100 * change->share[DIFF_NOW];

	switch (change->kind) {
	case FINDING_NEW:
		if (change->chance)
			snprintf(text, size,
				 "New since the base, where its line %s %.0f%% of the CPU time: no "
				 "more than chance may make of it.",
				 words, before);
		else
			snprintf(text, size, "New since the base.");
		return;
	case FINDING_GONE:
		snprintf(text, size, "Gone: it %s %.0f%% of the CPU time in the base%s.", words,
			 before, change->chance ? ", which chance may have made of it" : "");
		return;
	case FINDING_GROWN:
	case FINDING_SHRUNK:
		snprintf(text, size,
			 "It has %s: it %s %.0f%% of the CPU time in the base, and "
			 "%.0f%% now.",
			 finding_change_name(change->kind), words, before, now);
		return;
	case FINDING_SAME:
	case FINDING_CHANGE_KIND_COUNT:
		break;
	}
	snprintf(text, size, "As in the base.");
}

/* SPDX-License-Identifier: Apache-2.0 */
#include "daemon/report/diff/diff_text.h"

#include <string.h>

#define OF_COLUMNS   12 /* "could save" */
#define KIND_COLUMNS 16 /* "gone, by chance?" */
/* Before the line: two shares, too, and a space. */
#define FIXED_COLUMNS (2 * 7 + OF_COLUMNS + KIND_COLUMNS + 1)
#define INDENT        "              " /* below what the shares are of */

/* As people want to know of them; chance last, but before what is as it was. */
static const struct {
	enum finding_change_kind kind;
	bool chance;
} order[] = {
	{ FINDING_NEW, false },    { FINDING_GROWN, false }, { FINDING_GONE, false },
	{ FINDING_SHRUNK, false }, { FINDING_NEW, true },    { FINDING_GONE, true },
	{ FINDING_SAME, false },
};

#define ORDER_COUNT (sizeof(order) / sizeof(order[0]))

static bool is_of(const struct finding_change *change, size_t rank)
{
	return change->kind == order[rank].kind && change->chance == order[rank].chance;
}

static size_t count_of(const struct finding_changes *changes, size_t rank)
{
	size_t count = 0;

	for (size_t i = 0; i < changes->count; i++)
		count += is_of(&changes->items[i], rank);
	return count;
}

static const struct finding_change *first_of(const struct finding_changes *changes)
{
	for (size_t rank = 0; rank < ORDER_COUNT; rank++)
		for (size_t i = 0; i < changes->count; i++)
			if (is_of(&changes->items[i], rank))
				return &changes->items[i];
	return NULL;
}

static const char *kind_words(size_t rank, char *words, size_t size)
{
	snprintf(words, size, "%s%s", finding_change_name(order[rank].kind),
		 order[rank].chance ? ", by chance?" : "");
	return words;
}

static bool is_worse(const struct finding_change *change)
{
	return change->kind == FINDING_NEW || change->kind == FINDING_GROWN;
}

size_t diff_text_changed(const struct finding_changes *changes)
{
	size_t count = 0;

	for (size_t i = 0; i < changes->count; i++)
		count += changes->items[i].kind != FINDING_SAME;
	return count;
}

/* "1 new, 2 gone, 3 unchanged" */
static void put_heading(const struct text_layout *layout, const struct finding_changes *changes)
{
	char words[256], kind[KIND_COLUMNS + 1];
	size_t used = 0;

	for (size_t rank = 0; rank < ORDER_COUNT; rank++) {
		size_t count = count_of(changes, rank);

		if (count)
			used += (size_t)snprintf(words + used, sizeof(words) - used, "%s%zu %s",
						 used ? "; " : "", count,
						 kind_words(rank, kind, sizeof(kind)));
	}
	text_heading(layout, "FINDINGS", "%s", used ? words : "neither has one");
}

static void put_share(const struct text_layout *layout, const struct diff *diff,
		      const struct finding_change *change, enum diff_side side)
{
	fprintf(layout->file, "%6s ",
		change->entry->present[side] ? diff_share(diff, side, change->share[side]).text
					     : "-");
}

static void put_row(const struct text_layout *layout, const struct diff *diff,
		    const struct finding_change *change, size_t rank)
{
	const struct profile_line *place = finding_place(finding_change_shown(change));
	unsigned left = layout->columns - FIXED_COLUMNS - 2, where = left * 3 / 5;
	char suffix[32], kind[KIND_COLUMNS + 1];

	put_share(layout, diff, change, DIFF_BASE);
	put_share(layout, diff, change, DIFF_NOW);
	text_cell(layout, change->pattern_alone ? "takes" : "could save", OF_COLUMNS);
	text_cell(layout, kind_words(rank, kind, sizeof(kind)), KIND_COLUMNS);
	fputc(' ', layout->file);
	text_line_suffix(place, suffix, sizeof(suffix));
	text_path_cell(layout, place->file, suffix, where, true);
	fputs("  ", layout->file);
	text_last_cell(layout, finding_change_code(change), left - where);
}

static void put_table_heads(const struct text_layout *layout)
{
	fputs("  base    now of the CPU time\n", layout->file);
}

void diff_text_put_changed(const struct text_layout *layout, const struct finding_changes *changes,
			   size_t maximum, const struct text_part *remedy)
{
	size_t count = diff_text_changed(changes), shown = 0;

	put_heading(layout, changes);
	if (!count || !maximum)
		return;
	put_table_heads(layout);
	for (size_t rank = 0; rank < ORDER_COUNT && order[rank].kind != FINDING_SAME; rank++)
		for (size_t i = 0; i < changes->count && shown < maximum; i++) {
			if (!is_of(&changes->items[i], rank))
				continue;
			put_row(layout, changes->diff, &changes->items[i], rank);
			if (!shown++ && remedy)
				text_part_put(layout, remedy);
		}
	if (shown < count)
		fprintf(layout->file, "  (%zu more)\n", count - shown);
}

/* A sentence or two that may be empty; NULL: none. */
static void put_sentences(const struct text_layout *layout, const char *first, const char *second,
			  const char *third)
{
	const char *const sentences[] = { first, second, third };
	char words[2 * FINDING_BYTES + 256];
	size_t used = 0;

	for (size_t i = 0; i < sizeof(sentences) / sizeof(sentences[0]); i++)
		if (sentences[i] && *sentences[i] && used < sizeof(words))
			used += (size_t)snprintf(words + used, sizeof(words) - used, "%s%s",
						 used ? " " : "", sentences[i]);
	if (used)
		text_wrapped(layout, INDENT, words);
}

void diff_text_put_remedy(const struct text_layout *layout, const struct finding_changes *changes)
{
	const struct finding_change *change = first_of(changes);

	if (change && is_worse(change))
		put_sentences(layout, finding_change_shown(change)->what,
			      finding_change_shown(change)->advice, NULL);
}

void diff_text_put_findings(const struct text_layout *layout, const struct finding_changes *changes)
{
	put_heading(layout, changes);
	if (!changes->count)
		return;
	put_table_heads(layout);
	for (size_t rank = 0; rank < ORDER_COUNT; rank++)
		for (size_t i = 0; i < changes->count; i++) {
			const struct finding_change *change = &changes->items[i];
			const struct finding *finding = finding_change_shown(change);

			if (!is_of(change, rank))
				continue;
			put_row(layout, changes->diff, change, rank);
			if (!is_worse(change))
				continue;
			put_sentences(layout, finding->what, finding->advice, NULL);
			put_sentences(layout, finding->gain, finding->evidence, finding->caution);
		}
}

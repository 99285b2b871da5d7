/* SPDX-License-Identifier: Apache-2.0 */
#include "daemon/heap/heap_comparison.h"

#include "daemon/heap/heap_diff_rows.h"
#include "daemon/heap/heap_growth.h"

#include <stdlib.h>
#include <string.h>

/* Less, of bytes and of RSS, is no change to speak of. Two looks do not tell how much goes up and
 * down all the time, as more of them would (heap_verdict.c). */
#define CHANGE_MIN   262144
#define CHANGE_SHARE 0.01
/* Libraries' pages that a first look itself brings into the process's page tables, and more. */
#define FILES_MIN 1048576
const char *heap_comparison_kind_name(enum heap_diff_kind kind)
{
	static const char *const names[] = {
		[HEAP_DIFF_SAME] = "same",       [HEAP_DIFF_OBJECTS] = "objects",
		[HEAP_DIFF_GARBAGE] = "garbage", [HEAP_DIFF_NATIVE] = "native",
		[HEAP_DIFF_FREE] = "free",       [HEAP_DIFF_FILES] = "files",
		[HEAP_DIFF_LESS] = "less",
	};

	return names[kind];
}

static void find_parts(struct heap_diff *diff)
{
	for (enum heap_side side = 0; side < HEAP_SIDES; side++) {
		const struct heap_look *look = &diff->files[side]->look;
		const struct heap_regions *regions = &look->snapshot.regions;
		uint64_t figures[HEAP_FIGURES];
		const uint64_t parts[HEAP_DIFF_KINDS] = {
			[HEAP_DIFF_SAME] = regions->rss_bytes,
			[HEAP_DIFF_FILES] = regions->libraries_bytes + regions->stacks_bytes,
		};

		heap_growth_figures(look, figures);
		for (size_t kind = 0; kind < HEAP_DIFF_KINDS; kind++)
			diff->parts[kind][side] = parts[kind];
		diff->parts[HEAP_DIFF_OBJECTS][side] = figures[HEAP_FIGURE_HELD];
		diff->parts[HEAP_DIFF_GARBAGE][side] = figures[HEAP_FIGURE_GARBAGE];
		diff->parts[HEAP_DIFF_NATIVE][side] = figures[HEAP_FIGURE_NATIVE];
		diff->parts[HEAP_DIFF_FREE][side] = figures[HEAP_FIGURE_FREE];
		if (diff->holders)
			continue;
		diff->parts[HEAP_DIFF_OBJECTS][side] +=
			figures[HEAP_FIGURE_GARBAGE] + regions->malloc_unheld_bytes;
		diff->parts[HEAP_DIFF_GARBAGE][side] = 0;
		diff->parts[HEAP_DIFF_NATIVE][side] -= regions->malloc_unheld_bytes;
	}
}

/* Free memory that came out of what was used before is no growth; what is used now was free. */
static int64_t free_change(const struct heap_diff *diff, const int64_t changes[HEAP_DIFF_KINDS])
{
	int64_t change = changes[HEAP_DIFF_FREE], moved = 0;
	bool more = change > 0;

	if (more && changes[HEAP_DIFF_SAME] <= 0)
		return 0;
	for (size_t i = 0; i < diff->type_count; i++) {
		int64_t of_type = heap_diff_change(diff->types[i].bytes);

		if (more ? of_type < 0 : of_type > 0)
			moved += of_type;
	}
	return more ? (change + moved > 0 ? change + moved : 0)
		    : (change + moved < 0 ? change + moved : 0);
}

static double change_min(const struct heap_diff *diff)
{
	const uint64_t *rss = diff->parts[HEAP_DIFF_SAME];
	double most = (double)(rss[HEAP_NOW] > rss[HEAP_BASE] ? rss[HEAP_NOW] : rss[HEAP_BASE]);

	return CHANGE_SHARE * most > CHANGE_MIN ? CHANGE_SHARE * most : CHANGE_MIN;
}

static void judge(struct heap_diff *diff)
{
	enum heap_diff_kind grew = HEAP_DIFF_OBJECTS, shrank = HEAP_DIFF_OBJECTS;
	int64_t changes[HEAP_DIFF_KINDS];
	double least = change_min(diff);

	for (enum heap_diff_kind kind = 0; kind < HEAP_DIFF_KINDS; kind++)
		changes[kind] = heap_diff_change(diff->parts[kind]);
	changes[HEAP_DIFF_FREE] = free_change(diff, changes);
	if (llabs(changes[HEAP_DIFF_FILES]) < FILES_MIN)
		changes[HEAP_DIFF_FILES] = 0;
	for (enum heap_diff_kind kind = HEAP_DIFF_OBJECTS; kind < HEAP_DIFF_LESS; kind++) {
		grew = changes[kind] > changes[grew] ? kind : grew;
		shrank = changes[kind] < changes[shrank] ? kind : shrank;
	}
	diff->less = shrank;
	if ((double)changes[grew] >= least)
		diff->kind = grew;
	else if ((double)-changes[shrank] >= least)
		diff->kind = HEAP_DIFF_LESS;
}

static bool same_command(char *const *a, char *const *b)
{
	if (!a || !b)
		return a == b;
	for (; *a && *b; a++, b++)
		if (strcmp(*a, *b) != 0)
			return false;
	return *a == *b;
}

static void compare_processes(struct heap_diff *diff)
{
	const struct heap_look *base = &diff->files[HEAP_BASE]->look,
			       *now = &diff->files[HEAP_NOW]->look;

	diff->program = same_command(base->command, now->command);
	if (base->pid != now->pid || base->python.major != now->python.major ||
	    base->python.minor != now->python.minor)
		diff->process = HEAP_SAME_NOT;
	else if (base->start_time && now->start_time)
		diff->process = base->start_time == now->start_time ? HEAP_SAME : HEAP_SAME_NOT;
}

struct heap_diff *heap_comparison_create(const struct heap_file *base, const struct heap_file *now)
{
	struct heap_diff *diff = heap_diff_join(base, now);

	if (!diff || heap_diff_choose_rows(diff)) {
		heap_diff_destroy(diff);
		return NULL;
	}
	find_parts(diff);
	judge(diff);
	compare_processes(diff);
	return diff;
}

uint32_t heap_comparison_first_row(const struct heap_diff *diff)
{
	bool less = diff->kind == HEAP_DIFF_LESS;
	uint32_t row = diff->row_count ? diff->rows[less ? diff->row_count - 1 : 0] : 0;
	int64_t change = row ? heap_diff_change(diff->paths[row].bytes) : 0;

	return (less ? change < 0 : change > 0) ? row : 0;
}

uint32_t heap_comparison_hidden_row(const struct heap_diff *diff)
{
	uint32_t row = diff->row_count ? diff->rows[0] : 0;
	bool none_grew = diff->kind == HEAP_DIFF_SAME || diff->kind == HEAP_DIFF_LESS;

	if (!row || !none_grew ||
	    (double)heap_diff_change(diff->paths[row].bytes) < change_min(diff))
		return 0;
	return row;
}

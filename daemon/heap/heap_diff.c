/* SPDX-License-Identifier: Apache-2.0 */
#include "daemon/heap/heap_diff.h"

#include "common/array.h"
#include "common/hash.h"
#include "daemon/cct/id_table.h"
#include "daemon/heap/heap_growth.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Less, of bytes and of RSS, is no change to speak of. Two looks do not tell how much goes up and
 * down all the time, as more of them would (heap_verdict.c). */
#define CHANGE_MIN   262144
#define CHANGE_SHARE 0.01
/* Libraries' pages that a first look itself brings into the process's page tables, and more. */
#define FILES_MIN 1048576
/* Objects more or fewer, right there, that a path is shown for. */
#define OBJECTS_MIN 8
/* One child leads on when it has so much of all. */
#define MOST(bytes) ((bytes) / 10 * 8)
/* So much of what goes the other way makes two rows of what would be one. */
#define MIXED_PART 5

const char *heap_diff_kind_name(enum heap_diff_kind kind)
{
	static const char *const names[] = {
		[HEAP_DIFF_SAME] = "same",       [HEAP_DIFF_OBJECTS] = "objects",
		[HEAP_DIFF_GARBAGE] = "garbage", [HEAP_DIFF_NATIVE] = "native",
		[HEAP_DIFF_FREE] = "free",       [HEAP_DIFF_FILES] = "files",
		[HEAP_DIFF_LESS] = "less",
	};

	return names[kind];
}

int64_t heap_diff_change(const uint64_t figures[HEAP_SIDES])
{
	return (int64_t)figures[HEAP_NOW] - (int64_t)figures[HEAP_BASE];
}

bool heap_diff_is_unchanged(const struct heap_type_change *type)
{
	return !heap_diff_change(type->bytes) && !heap_diff_change(type->count);
}

/* ---- types */

static int compare_types(const void *left, const void *right)
{
	const struct heap_type_change *a = left, *b = right;
	int64_t x = heap_diff_change(a->bytes), y = heap_diff_change(b->bytes);

	if (x != y)
		return x < y ? 1 : -1;
	x = heap_diff_change(a->count);
	y = heap_diff_change(b->count);
	if (x != y)
		return x < y ? 1 : -1;
	return strcmp(a->name, b->name);
}

static int compare_names(const void *left, const void *right)
{
	const struct heap_type_change *a = left, *b = right;

	return strcmp(a->name, b->name);
}

static struct heap_type_change type_change(enum heap_side side, const struct heap_type_count *type)
{
	struct heap_type_change change = { .name = type->name };

	change.present[side] = true;
	change.count[side] = type->count;
	change.bytes[side] = type->bytes + type->storage_bytes;
	change.storage_bytes[side] = type->storage_bytes;
	return change;
}

/* Those of one name become one. */
static size_t join_names(struct heap_type_change *changes, size_t count)
{
	size_t kept = 0;

	qsort(changes, count, sizeof(*changes), compare_names);
	for (size_t i = 0; i < count; i++) {
		struct heap_type_change *into;

		if (!kept || strcmp(changes[kept - 1].name, changes[i].name) != 0) {
			changes[kept++] = changes[i];
			continue;
		}
		into = &changes[kept - 1];
		for (size_t side = 0; side < HEAP_SIDES; side++) {
			into->present[side] |= changes[i].present[side];
			into->count[side] += changes[i].count[side];
			into->bytes[side] += changes[i].bytes[side];
			into->storage_bytes[side] += changes[i].storage_bytes[side];
		}
	}
	qsort(changes, kept, sizeof(*changes), compare_types);
	return kept;
}

static int find_types(struct heap_diff *diff)
{
	size_t room = 1;

	for (size_t side = 0; side < HEAP_SIDES; side++)
		room += diff->files[side]->look.snapshot.type_count;
	diff->types = calloc(room, sizeof(*diff->types));
	if (!diff->types)
		return -ENOMEM;
	for (enum heap_side side = 0; side < HEAP_SIDES; side++) {
		const struct heap_snapshot *snapshot = &diff->files[side]->look.snapshot;

		for (size_t i = 0; i < snapshot->type_count; i++)
			diff->types[diff->type_count++] = type_change(side, &snapshot->types[i]);
	}
	diff->type_count = join_names(diff->types, diff->type_count);
	return 0;
}

static int find_arrays(struct heap_diff *diff)
{
	size_t room = 1;

	for (size_t side = 0; side < HEAP_SIDES; side++)
		room += diff->files[side]->look.snapshot.array_count;
	diff->arrays = calloc(room, sizeof(*diff->arrays));
	if (!diff->arrays)
		return -ENOMEM;
	for (enum heap_side side = 0; side < HEAP_SIDES; side++) {
		const struct heap_snapshot *snapshot = &diff->files[side]->look.snapshot;

		for (size_t i = 0; i < snapshot->array_count; i++) {
			struct heap_type_change *change = &diff->arrays[diff->array_count++];

			change->name = snapshot->arrays[i].name;
			change->present[side] = true;
			change->count[side] = snapshot->arrays[i].count;
			change->bytes[side] = snapshot->arrays[i].bytes;
		}
	}
	diff->array_count = join_names(diff->arrays, diff->array_count);
	return 0;
}

/* ---- paths */

struct joining {
	struct heap_diff *diff;
	struct id_table ids;
	size_t capacity;
};

/* The path of both, made where there is none yet. 0 or -ENOMEM. */
static int join_path(struct joining *joining, uint32_t parent, const char *step, const char *type,
		     uint32_t *ret_path)
{
	struct heap_diff *diff = joining->diff;
	uint64_t hash = hash_combine(hash_add_string(HASH_BASIS, step), parent);
	uint32_t path;
	size_t probe = 0;

	hash = hash_combine(hash, hash_add_string(HASH_BASIS, type));
	while ((path = id_table_next(&joining->ids, hash, &probe)) != ID_NONE) {
		const struct heap_path_change *found = &diff->paths[path];

		if (found->parent == parent && !strcmp(found->step, step) &&
		    !strcmp(found->type, type)) {
			*ret_path = path;
			return 0;
		}
	}
	if (id_table_reserve(&joining->ids) ||
	    !ARRAY_ROOM(diff->paths, diff->path_count, joining->capacity))
		return -ENOMEM;
	*ret_path = (uint32_t)diff->path_count++;
	diff->paths[*ret_path] =
		(struct heap_path_change){ .parent = parent, .step = step, .type = type };
	id_table_add(&joining->ids, hash, *ret_path);
	return 0;
}

static int join_side(struct joining *joining, enum heap_side side)
{
	const struct heap_snapshot *snapshot = &joining->diff->files[side]->look.snapshot;
	uint32_t *joined = calloc(snapshot->paths.count + 1, sizeof(*joined));
	int error = joined ? 0 : -ENOMEM;

	for (size_t i = 1; !error && i < snapshot->paths.count; i++) {
		const struct heap_path *path = &snapshot->paths.items[i];
		struct heap_path_change *change;

		error = join_path(joining, joined[path->parent],
				  snapshot->paths.strings + path->step,
				  heap_holder_type(snapshot, (uint32_t)i), &joined[i]);
		if (error)
			break;
		change = &joining->diff->paths[joined[i]];
		change->present[side] = true;
		change->count[side] += path->count;
		change->own_bytes[side] += path->bytes;
		change->bytes[side] += snapshot->held_bytes[i];
		change->held_count[side] += snapshot->held_counts[i];
	}
	free(joined);
	return error;
}

static int find_paths(struct heap_diff *diff)
{
	struct joining joining = { .diff = diff };
	int error = 0;

	if (!ARRAY_ROOM(diff->paths, diff->path_count, joining.capacity))
		return -ENOMEM;
	diff->paths[diff->path_count++] = (struct heap_path_change){ .step = "", .type = "" };
	for (enum heap_side side = 0; !error && diff->holders && side < HEAP_SIDES; side++)
		error = join_side(&joining, side);
	id_table_deinit(&joining.ids);
	return error;
}

/* ---- rows */

/* By path. What is right there, and below without a path of its own, has grown or shrunk; a path
 * has the sums of all below it. */
struct chooser {
	struct heap_diff *diff;
	int64_t *moved[2]; /* up, and down */
	uint32_t *first_child, *next_child;
	bool *chosen;
};

static int chooser_init(struct chooser *chooser, struct heap_diff *diff)
{
	size_t count = diff->path_count;

	*chooser = (struct chooser){
		.diff = diff,
		.moved = { calloc(count, sizeof(int64_t)), calloc(count, sizeof(int64_t)) },
		.first_child = calloc(count, sizeof(uint32_t)),
		.next_child = calloc(count, sizeof(uint32_t)),
		.chosen = calloc(count, sizeof(bool)),
	};
	return chooser->moved[0] && chooser->moved[1] && chooser->first_child &&
			       chooser->next_child && chooser->chosen
		       ? 0
		       : -ENOMEM;
}

static void chooser_deinit(struct chooser *chooser)
{
	free(chooser->moved[0]);
	free(chooser->moved[1]);
	free(chooser->first_child);
	free(chooser->next_child);
	free(chooser->chosen);
}

static void add_up(struct chooser *chooser)
{
	const struct heap_path_change *paths = chooser->diff->paths;
	size_t count = chooser->diff->path_count;

	/* First its own: what it leads to, less what its children do. */
	for (size_t i = 1; i < count; i++) {
		int64_t change = heap_diff_change(paths[i].bytes);

		chooser->moved[0][i] += change;
		chooser->moved[0][paths[i].parent] -= change;
	}
	for (size_t i = count; i-- > 1;) {
		int64_t own = chooser->moved[0][i];

		chooser->moved[0][i] = own > 0 ? own : 0;
		chooser->moved[1][i] = own < 0 ? -own : 0;
	}
	chooser->moved[0][0] = 0;
	for (size_t i = count; i-- > 1;) {
		uint32_t parent = paths[i].parent;

		chooser->moved[0][parent] += chooser->moved[0][i];
		chooser->moved[1][parent] += chooser->moved[1][i];
		chooser->next_child[i] = chooser->first_child[parent];
		chooser->first_child[parent] = (uint32_t)i;
	}
}

/* Objects right there have come, or gone: what they have is theirs. */
static bool is_about(const struct chooser *chooser, uint32_t path, unsigned way)
{
	int64_t change = heap_diff_change(chooser->diff->paths[path].count);

	return (way ? -change : change) >= OBJECTS_MIN;
}

static uint32_t leading_child(const struct chooser *chooser, uint32_t path, unsigned way)
{
	uint32_t best = 0;

	for (uint32_t child = chooser->first_child[path]; child; child = chooser->next_child[child])
		if (!best || chooser->moved[way][child] > chooser->moved[way][best])
			best = child;
	return best;
}

static void count_entries(const struct chooser *chooser, uint32_t path)
{
	struct heap_path_change *paths = chooser->diff->paths;
	uint32_t best = path;

	if (!is_about(chooser, path, 0) && !is_about(chooser, path, 1))
		for (uint32_t child = chooser->first_child[path]; child;
		     child = chooser->next_child[child])
			if (llabs(heap_diff_change(paths[child].count)) >
			    llabs(heap_diff_change(paths[best].count)))
				best = child;
	for (size_t side = 0; side < HEAP_SIDES; side++)
		paths[path].entries[side] = paths[best].count[side];
}

static void choose(struct chooser *chooser, uint32_t path)
{
	struct heap_diff *diff = chooser->diff;

	if (chooser->chosen[path] || !heap_diff_change(diff->paths[path].bytes))
		return;
	chooser->chosen[path] = true;
	count_entries(chooser, path);
	diff->rows[diff->row_count++] = path;
}

/* way: 0 up, 1 down. Depth is that of paths. */
static void choose_below(struct chooser *chooser, uint32_t path, unsigned way)
{
	const int64_t *moved = chooser->moved[way], *against = chooser->moved[!way];

	while (moved[path] && !is_about(chooser, path, way)) {
		uint32_t best = leading_child(chooser, path, way);

		if (best && moved[best] > MOST(moved[path])) {
			path = best;
			continue;
		}
		if (!best || against[path] <= moved[path] / MIXED_PART)
			break;
		for (uint32_t child = chooser->first_child[path]; child;
		     child = chooser->next_child[child])
			choose_below(chooser, child, way);
		return;
	}
	if (moved[path])
		choose(chooser, path);
}

struct ranked {
	uint32_t path;
	int64_t bytes;
};

static int compare_ranked(const void *left, const void *right)
{
	const struct ranked *a = left, *b = right;

	if (a->bytes != b->bytes)
		return a->bytes < b->bytes ? 1 : -1;
	return a->path < b->path ? -1 : a->path > b->path;
}

static int sort_rows(struct heap_diff *diff)
{
	struct ranked *ranked = calloc(diff->row_count + 1, sizeof(*ranked));

	if (!ranked)
		return -ENOMEM;
	for (size_t i = 0; i < diff->row_count; i++)
		ranked[i] = (struct ranked){ diff->rows[i],
					     heap_diff_change(diff->paths[diff->rows[i]].bytes) };
	qsort(ranked, diff->row_count, sizeof(*ranked), compare_ranked);
	for (size_t i = 0; i < diff->row_count; i++)
		diff->rows[i] = ranked[i].path;
	free(ranked);
	return 0;
}

/* In one file alone, and too small to be sure that it was not left out of the other one. */
static bool may_be_unlisted(const struct heap_diff *diff, const struct heap_path_change *path)
{
	for (enum heap_side side = 0; side < HEAP_SIDES; side++)
		if (!path->present[side] &&
		    path->bytes[!side] <= 2 * diff->files[side]->unlisted_bytes)
			return true;
	return false;
}

static int find_rows(struct heap_diff *diff)
{
	struct chooser chooser;
	int error = chooser_init(&chooser, diff);
	size_t kept = 0;

	diff->rows = calloc(diff->path_count + 1, sizeof(*diff->rows));
	if (!diff->rows)
		error = -ENOMEM;
	if (!error)
		add_up(&chooser);
	for (unsigned way = 0; !error && way < 2; way++)
		for (uint32_t root = chooser.first_child[0]; root; root = chooser.next_child[root])
			choose_below(&chooser, root, way);
	chooser_deinit(&chooser);
	for (size_t i = 0; i < diff->row_count; i++)
		if (!may_be_unlisted(diff, &diff->paths[diff->rows[i]]))
			diff->rows[kept++] = diff->rows[i];
	diff->row_count = kept;
	return error ? error : sort_rows(diff);
}

/* ---- what it means */

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

struct heap_diff *heap_diff_create(const struct heap_file *base, const struct heap_file *now)
{
	struct heap_diff *diff = calloc(1, sizeof(*diff));

	if (!diff)
		return NULL;
	diff->files[HEAP_BASE] = base;
	diff->files[HEAP_NOW] = now;
	diff->holders = base->look.snapshot.holders == HEAP_HOLDERS_KNOWN &&
			now->look.snapshot.holders == HEAP_HOLDERS_KNOWN;
	if (find_types(diff) || find_arrays(diff) || find_paths(diff) || find_rows(diff)) {
		heap_diff_destroy(diff);
		return NULL;
	}
	find_parts(diff);
	judge(diff);
	compare_processes(diff);
	return diff;
}

void heap_diff_destroy(struct heap_diff *diff)
{
	if (!diff)
		return;
	free(diff->types);
	free(diff->arrays);
	free(diff->paths);
	free(diff->rows);
	free(diff);
}

uint32_t heap_diff_first_row(const struct heap_diff *diff)
{
	bool less = diff->kind == HEAP_DIFF_LESS;
	uint32_t row = diff->row_count ? diff->rows[less ? diff->row_count - 1 : 0] : 0;
	int64_t change = row ? heap_diff_change(diff->paths[row].bytes) : 0;

	return (less ? change < 0 : change > 0) ? row : 0;
}

uint32_t heap_diff_hidden_row(const struct heap_diff *diff)
{
	uint32_t row = diff->row_count ? diff->rows[0] : 0;
	bool none_grew = diff->kind == HEAP_DIFF_SAME || diff->kind == HEAP_DIFF_LESS;

	if (!row || !none_grew ||
	    (double)heap_diff_change(diff->paths[row].bytes) < change_min(diff))
		return 0;
	return row;
}

size_t heap_diff_steps(const struct heap_diff *diff, uint32_t path,
		       uint32_t ret_paths[HEAP_HOLDER_STEPS_MAX])
{
	size_t count = 0;

	for (uint32_t at = path; at && count < HEAP_HOLDER_STEPS_MAX; at = diff->paths[at].parent)
		count++;
	for (size_t i = count; i-- > 0; path = diff->paths[path].parent)
		ret_paths[i] = path;
	return count;
}

void heap_diff_path_words(const struct heap_diff *diff, uint32_t path, char *words, size_t size)
{
	uint32_t steps[HEAP_HOLDER_STEPS_MAX];
	size_t count = heap_diff_steps(diff, path, steps), used = 0;

	words[0] = '\0';
	for (size_t i = 0; i < count && used < size; i++)
		used += (size_t)snprintf(words + used, size - used, "%s",
					 diff->paths[steps[i]].step);
	if (*diff->paths[path].type && used < size)
		snprintf(words + used, size - used, " (%s)", diff->paths[path].type);
}

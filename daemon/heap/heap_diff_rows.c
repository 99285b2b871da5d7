/* SPDX-License-Identifier: Apache-2.0 */
#include "daemon/heap/heap_diff_rows.h"

#include <errno.h>
#include <stdlib.h>

/* Objects more or fewer, right there, that a path is shown for. */
#define OBJECTS_MIN 8
/* One child leads on when it has so much of all. */
#define MOST(bytes) ((bytes) / 10 * 8)
/* So much of what goes the other way makes two rows of what would be one. */
#define MIXED_PART 5

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

int heap_diff_choose_rows(struct heap_diff *diff)
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

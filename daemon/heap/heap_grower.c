/* SPDX-License-Identifier: Apache-2.0 */
#include "daemon/heap/heap_grower.h"

#include "common/clock.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

/* Entries more; fewer are what any program has. */
#define ENTRIES_MIN 8
/* So many times what it lost in between. */
#define GAINED_MOST 4
/* One child leads on when it has so much of all. */
#define MOST(bytes) ((bytes) / 10 * 8)

static bool is_growing(const struct heap_trend *trend)
{
	double gained = (double)trend->last - (double)trend->first;

	return trend->rises >= HEAP_GROWER_RISES_MIN && gained >= ENTRIES_MIN &&
	       gained >= GAINED_MOST * trend->fall * trend->steps && trend->gain > 0;
}

static int64_t path_gain(const struct heap_growth *growth, uint32_t path)
{
	const struct heap_row *row = heap_growth_path(growth, path);

	return row ? heap_growth_trend(growth, row->bytes).gain : 0;
}

static int compare_by_path(const void *left, const void *right)
{
	const struct heap_grower *a = left, *b = right;

	return a->path < b->path ? -1 : a->path > b->path;
}

static int compare_by_bytes(const void *left, const void *right)
{
	const struct heap_grower *a = left, *b = right;
	double x = (double)a->trend.last - (double)a->trend.first,
	       y = (double)b->trend.last - (double)b->trend.first;

	if (a->bytes > b->bytes || a->bytes < b->bytes)
		return a->bytes < b->bytes ? 1 : -1;
	return x < y ? 1 : x > y ? -1 : 0;
}

/* What a path has gained is shared by the containers there, by the entries that each gained. */
static void share_bytes(const struct heap_growth *growth, struct heap_grower *growers, size_t count)
{
	for (size_t first = 0, end; first < count; first = end) {
		int64_t gain = path_gain(growth, growers[first].path);
		double entries = 0;

		for (end = first; end < count && growers[end].path == growers[first].path; end++)
			entries +=
				(double)growers[end].trend.last - (double)growers[end].trend.first;
		for (size_t i = first; i < end && gain > 0 && entries > 0; i++)
			growers[i].bytes =
				(double)gain *
				((double)growers[i].trend.last - (double)growers[i].trend.first) /
				entries;
	}
}

int heap_growers_find(const struct heap_growth *growth, const struct heap_snapshot *last,
		      size_t limit, struct heap_grower **ret_growers, size_t *ret_count)
{
	const struct heap_table *table = &growth->containers;
	struct heap_grower *growers = calloc(table->count + 1, sizeof(*growers));
	size_t count = 0;

	if (!growers)
		return -ENOMEM;
	for (size_t i = 0; i < table->count; i++) {
		const struct heap_row *row = &table->rows[i];
		struct heap_trend trend;

		if (!(row->seen >> (growth->looks - 1) & 1) || row->last >= last->containers.count)
			continue;
		trend = heap_growth_container_trend(growth, row);
		if (is_growing(&trend))
			growers[count++] = (struct heap_grower){
				.container = row->last,
				.path = last->containers.items[row->last].path,
				.row = row,
				.trend = trend,
			};
	}
	if (count) {
		qsort(growers, count, sizeof(*growers), compare_by_path);
		share_bytes(growth, growers, count);
		qsort(growers, count, sizeof(*growers), compare_by_bytes);
	}
	*ret_growers = growers;
	*ret_count = count < limit ? count : limit;
	return 0;
}

static int compare_paths(const void *left, const void *right)
{
	const struct heap_growing_path *a = left, *b = right;

	if (a->bytes != b->bytes)
		return a->bytes < b->bytes ? 1 : -1;
	return a->path < b->path ? -1 : a->path > b->path;
}

/* By path: the child that has gained most; a parent comes before its children. */
static void find_children(const struct heap_snapshot *last, const int64_t *gains,
			  uint32_t *children)
{
	for (size_t i = 1; i < last->paths.count; i++) {
		uint32_t parent = last->paths.items[i].parent;

		if (parent && gains[i] > 0 &&
		    (!children[parent] || gains[i] > gains[children[parent]]))
			children[parent] = (uint32_t)i;
	}
}

/* There are more and more objects right there: what these have is theirs. */
static bool has_more(const struct heap_growth *growth, uint32_t path)
{
	const struct heap_row *row = heap_growth_path(growth, path);
	struct heap_trend trend = { 0 };

	if (row)
		trend = heap_growth_trend(growth, row->counts);
	return is_growing(&trend);
}

static struct heap_growing_path describe(const struct heap_growth *growth, uint32_t path,
					 int64_t gain)
{
	const struct heap_row *row = heap_growth_path(growth, path);
	struct heap_growing_path growing = { .path = path, .bytes = gain };

	if (row) {
		growing.bytes_per_s = heap_growth_trend(growth, row->bytes).per_s;
		growing.count_per_s = heap_growth_trend(growth, row->counts).per_s;
	}
	return growing;
}

int heap_growing_paths_find(const struct heap_growth *growth, const struct heap_snapshot *last,
			    size_t limit, struct heap_growing_path **ret_paths, size_t *ret_count)
{
	int64_t *gains = calloc(last->paths.count + 1, sizeof(*gains));
	uint32_t *children = calloc(last->paths.count + 1, sizeof(*children));
	struct heap_growing_path *paths = calloc(last->paths.count + 1, sizeof(*paths));
	size_t count = 0;
	int error = gains && children && paths ? 0 : -ENOMEM;

	for (size_t i = 1; !error && i < last->paths.count; i++)
		gains[i] = path_gain(growth, (uint32_t)i);
	if (!error)
		find_children(last, gains, children);
	for (size_t i = 1; !error && i < last->paths.count; i++) {
		uint32_t path = (uint32_t)i;

		if (last->paths.items[i].parent || gains[i] <= 0)
			continue;
		while (children[path] && gains[children[path]] > MOST(gains[path]) &&
		       !has_more(growth, path))
			path = children[path];
		paths[count++] = describe(growth, path, gains[path]);
	}
	free(gains);
	free(children);
	if (error) {
		free(paths);
		return error;
	}
	if (count)
		qsort(paths, count, sizeof(*paths), compare_paths);
	*ret_paths = paths;
	*ret_count = count < limit ? count : limit;
	return 0;
}

/* A class that Python code made. */
static bool is_class(const struct heap_snapshot *last, const struct heap_growing_type *type)
{
	return last->types[type->type].of_python;
}

static bool is_sized(const struct heap_snapshot *last, const struct heap_growing_type *type)
{
	return !last->types[type->type].of_one_size;
}

/* The first of them; the rest stays in its order. */
static void put_first(const struct heap_snapshot *last, struct heap_growing_type *types,
		      size_t count,
		      bool (*is)(const struct heap_snapshot *, const struct heap_growing_type *))
{
	size_t first = 0;
	struct heap_growing_type one;

	while (first < count && !is(last, &types[first]))
		first++;
	if (first == count)
		return;
	one = types[first];
	memmove(types + 1, types, first * sizeof(*types));
	types[0] = one;
}

static int compare_types(const void *left, const void *right)
{
	const struct heap_growing_type *a = left, *b = right;

	if (a->bytes != b->bytes)
		return a->bytes < b->bytes ? 1 : -1;
	if (a->type != b->type)
		return a->type < b->type ? -1 : 1;
	return a->block_bytes < b->block_bytes ? -1 : a->block_bytes > b->block_bytes;
}

struct growing_types {
	const struct heap_growth *growth;
	const struct heap_snapshot *last;
	struct heap_growing_type *items;
	size_t count;
};

static void add_type(struct growing_types *types, size_t number, uint32_t block_bytes,
		     const struct heap_row *row)
{
	struct heap_trend trend;

	if (!row || !heap_used_pools_link(&types->last->used_pools, block_bytes))
		return;
	trend = heap_growth_trend(types->growth, row->counts);
	if (is_growing(&trend))
		types->items[types->count++] = (struct heap_growing_type){
			(uint32_t)number,
			block_bytes,
			heap_growth_trend(types->growth, row->bytes).gain,
			trend.per_s,
		};
}

static void add_sizes(struct growing_types *types, size_t number)
{
	const struct heap_snapshot *last = types->last;

	for (size_t i = 0; i < last->size_count; i++)
		if (last->sizes[i].type == last->types[number].address)
			add_type(types, number, last->sizes[i].block_bytes,
				 heap_growth_size(types->growth, &last->sizes[i]));
}

static const char *type_at(const struct heap_snapshot *last, uint32_t path)
{
	uint16_t type = path && path < last->paths.count ? last->paths.items[path].type : 0;

	return type < last->type_name_count ? last->type_names[type] : "";
}

int heap_growing_types_find(const struct heap_growth *growth, const struct heap_snapshot *last,
			    uint32_t path, size_t limit, struct heap_growing_type **ret_types,
			    size_t *ret_count)
{
	struct growing_types types = {
		.growth = growth,
		.last = last,
		.items = calloc(last->type_count + last->size_count + 1, sizeof(*types.items)),
	};
	const char *held = type_at(last, path);

	if (!types.items)
		return -ENOMEM;
	for (size_t i = 0; i < last->type_count; i++) {
		const struct heap_type_count *type = &last->types[i];

		if (type->of_one_size && type->count && !(type->bytes % type->count))
			add_type(&types, i, (uint32_t)(type->bytes / type->count),
				 heap_growth_type(growth, type));
		else if (!type->of_one_size && !strcmp(type->name, held))
			add_sizes(&types, i);
	}
	if (types.count) {
		qsort(types.items, types.count, sizeof(*types.items), compare_types);
		put_first(last, types.items, types.count, is_sized);
		put_first(last, types.items, types.count, is_class);
	}
	*ret_types = types.items;
	*ret_count = types.count < limit ? types.count : limit;
	return 0;
}

/* SPDX-License-Identifier: Apache-2.0 */
#include "daemon/heap/heap_growth.h"

#include "common/clock.h"
#include "common/hash.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

/* What came loose is so much, in bytes and of all that is live. */
#define LOOSE_MIN  262144
#define LOOSE_PART 50

_Static_assert(HEAP_GROWTH_LOOKS_MAX <= 64, "a row has a bit for each look");

/* ---- tables */

static int table_init(struct heap_table *table, size_t limit)
{
	table->limit = limit;
	table->rows = calloc(limit, sizeof(*table->rows));
	table->by_key = calloc(2 * limit, sizeof(*table->by_key));
	return table->rows && table->by_key ? 0 : -ENOMEM;
}

static void table_deinit(struct heap_table *table)
{
	free(table->rows);
	free(table->by_key);
}

static size_t slot_of(const struct heap_table *table, uint64_t key)
{
	size_t slots = 2 * table->limit, slot = hash_word(key) % slots;

	while (table->by_key[slot] && table->rows[table->by_key[slot] - 1].key != key)
		slot = (slot + 1) % slots;
	return slot;
}

static struct heap_row *table_find(const struct heap_table *table, uint64_t key)
{
	uint32_t row = table->by_key[slot_of(table, key)];

	return row ? &table->rows[row - 1] : NULL;
}

/* NULL: there is no room. */
static struct heap_row *table_take(struct heap_table *table, uint64_t key)
{
	size_t slot = slot_of(table, key);

	if (!table->by_key[slot]) {
		if (table->count == table->limit)
			return NULL;
		table->rows[table->count] = (struct heap_row){ .key = key };
		table->by_key[slot] = (uint32_t)++table->count;
	}
	return &table->rows[table->by_key[slot] - 1];
}

/* Keeps the rows that were there in the last look: others do not grow. */
static void table_forget_gone(struct heap_table *table, size_t looks)
{
	size_t kept = 0;

	for (size_t i = 0; i < table->count; i++)
		if (table->rows[i].seen >> (looks - 1) & 1)
			table->rows[kept++] = table->rows[i];
	table->count = kept;
	memset(table->by_key, 0, 2 * table->limit * sizeof(*table->by_key));
	for (size_t i = 0; i < kept; i++)
		table->by_key[slot_of(table, table->rows[i].key)] = (uint32_t)i + 1;
}

static void table_halve(struct heap_table *table, size_t looks)
{
	for (size_t i = 0; i < table->count; i++) {
		struct heap_row *row = &table->rows[i];
		uint64_t seen = 0;

		for (size_t k = 0; 2 * k < looks; k++) {
			row->counts[k] = row->counts[2 * k];
			row->bytes[k] = row->bytes[2 * k];
			seen |= (row->seen >> 2 * k & 1) << k;
		}
		for (size_t k = (looks + 1) / 2; k < looks; k++)
			row->counts[k] = row->bytes[k] = 0;
		row->seen = seen;
	}
}

static void table_note(struct heap_table *table, uint64_t key, size_t look, uint32_t number,
		       uint64_t count, uint64_t bytes)
{
	struct heap_row *row = table_take(table, key);

	if (!row) {
		table->left_out++;
		return;
	}
	row->seen |= 1ull << look;
	row->last = number;
	row->counts[look] = count;
	row->bytes[look] = bytes;
}

/* ---- looks */

int heap_growth_init(struct heap_growth *growth)
{
	int error;

	*growth = (struct heap_growth){ 0 };
	error = table_init(&growth->types, HEAP_GROWTH_TYPES_MAX);
	if (!error)
		error = table_init(&growth->sizes, HEAP_GROWTH_SIZES_MAX);
	if (!error)
		error = table_init(&growth->paths, HEAP_GROWTH_PATHS_MAX);
	return error ? error : table_init(&growth->containers, HEAP_GROWTH_CONTAINERS_MAX);
}

void heap_growth_deinit(struct heap_growth *growth)
{
	table_deinit(&growth->types);
	table_deinit(&growth->sizes);
	table_deinit(&growth->paths);
	table_deinit(&growth->containers);
	free(growth->path_keys);
	*growth = (struct heap_growth){ 0 };
}

/* Every second look stays; so does the first. */
static void drop_looks(struct heap_growth *growth)
{
	size_t looks = growth->looks;

	table_halve(&growth->types, looks);
	table_halve(&growth->sizes, looks);
	table_halve(&growth->paths, looks);
	table_halve(&growth->containers, looks);
	for (size_t k = 0; 2 * k < looks; k++) {
		growth->times_ns[k] = growth->times_ns[2 * k];
		for (size_t i = 0; i < HEAP_FIGURES; i++)
			growth->figures[i][k] = growth->figures[i][2 * k];
	}
	growth->looks = (looks + 1) / 2;
}

static uint64_t minus(uint64_t whole, uint64_t part)
{
	return whole > part ? whole - part : 0;
}

void heap_growth_figures(const struct heap_look *look, uint64_t figures[HEAP_FIGURES])
{
	const struct heap_regions *regions = &look->snapshot.regions;
	uint64_t garbage = look->snapshot.quality.unheld_reached_bytes;

	figures[HEAP_FIGURE_RSS] = regions->rss_bytes;
	figures[HEAP_FIGURE_HELD] =
		minus(regions->objects_bytes + regions->malloc_held_bytes, garbage);
	figures[HEAP_FIGURE_GARBAGE] = garbage;
	figures[HEAP_FIGURE_NATIVE] = regions->malloc_unheld_bytes + regions->other_bytes;
	figures[HEAP_FIGURE_FREE] = regions->pool_free_bytes + regions->free_bytes;
}

/* As much went from the one to the other as cannot be what happens between two looks. */
static bool came_loose(uint64_t held, uint64_t garbage, uint64_t held_then, uint64_t garbage_then)
{
	uint64_t more = minus(garbage_then, garbage), live = held + garbage;

	return more >= LOOSE_MIN && more >= live / LOOSE_PART && minus(held, held_then) >= more / 2;
}

/* By path: its steps and their types. A parent comes before its children. */
static uint64_t *path_keys(const struct heap_snapshot *snapshot)
{
	const struct heap_paths *paths = &snapshot->paths;
	uint64_t *keys = calloc(paths->count + 1, sizeof(*keys));

	for (size_t i = 1; keys && i < paths->count; i++) {
		const struct heap_path *path = &paths->items[i];
		uint64_t key = hash_add_string(hash_mix(keys[path->parent] ^ HASH_BASIS),
					       paths->strings + path->step);

		if (path->type < snapshot->type_name_count)
			key = hash_add_string(hash_mix(key), snapshot->type_names[path->type]);
		keys[i] = hash_mix(key);
	}
	return keys;
}

/* Of what hung on one path much hangs on others: a chain to which something else leads, too. */
static bool went_elsewhere(const struct heap_growth *growth, const struct heap_snapshot *now,
			   uint64_t live, uint64_t live_now)
{
	const struct heap_table *table = &growth->paths;
	uint64_t *keys = path_keys(now);
	uint64_t *bytes = calloc(table->count + 1, sizeof(*bytes));
	uint64_t lost = 0;

	for (size_t i = 1; keys && bytes && now->held_bytes && i < now->paths.count; i++) {
		const struct heap_row *row = table_find(table, keys[i]);

		if (row)
			bytes[row - table->rows] = now->held_bytes[i];
	}
	for (size_t i = 0; keys && bytes && now->held_bytes && i < table->count; i++) {
		uint64_t less = minus(table->rows[i].bytes[growth->looks - 1], bytes[i]);

		lost = less > lost ? less : lost;
	}
	free(keys);
	free(bytes);
	return lost >= LOOSE_MIN && lost >= live / LOOSE_PART && live_now + lost / 2 >= live;
}

enum heap_tear heap_growth_tear(const struct heap_growth *growth, const struct heap_look *look)
{
	uint64_t figures[HEAP_FIGURES], held, garbage;

	if (!growth->looks)
		return HEAP_TEAR_NONE;
	held = growth->figures[HEAP_FIGURE_HELD][growth->looks - 1];
	garbage = growth->figures[HEAP_FIGURE_GARBAGE][growth->looks - 1];
	heap_growth_figures(look, figures);
	if (came_loose(held, garbage, figures[HEAP_FIGURE_HELD], figures[HEAP_FIGURE_GARBAGE]) ||
	    went_elsewhere(growth, &look->snapshot, held + garbage,
			   figures[HEAP_FIGURE_HELD] + figures[HEAP_FIGURE_GARBAGE]))
		return HEAP_TEAR_THIS;
	if (came_loose(figures[HEAP_FIGURE_HELD], figures[HEAP_FIGURE_GARBAGE], held, garbage))
		return HEAP_TEAR_BEFORE;
	return HEAP_TEAR_NONE;
}

static void table_clear(struct heap_table *table)
{
	table->count = 0;
	memset(table->by_key, 0, 2 * table->limit * sizeof(*table->by_key));
}

void heap_growth_restart(struct heap_growth *growth)
{
	table_clear(&growth->types);
	table_clear(&growth->sizes);
	table_clear(&growth->paths);
	table_clear(&growth->containers);
	growth->looks = 0;
	growth->taken = 0;
	growth->cpu_ns = growth->copy_cpu_ns = 0;
}

static void add_figures(struct heap_growth *growth, const struct heap_look *look)
{
	uint64_t figures[HEAP_FIGURES];

	heap_growth_figures(look, figures);
	for (size_t i = 0; i < HEAP_FIGURES; i++)
		growth->figures[i][growth->looks] = figures[i];
	growth->times_ns[growth->looks] = look->time_ns;
}

static uint64_t type_key(const struct heap_type_count *type)
{
	return hash_mix(hash_add_string(HASH_BASIS ^ hash_mix(type->address), type->name));
}

static void add_types(struct heap_growth *growth, const struct heap_snapshot *snapshot)
{
	for (size_t i = 0; i < snapshot->type_count; i++) {
		const struct heap_type_count *type = &snapshot->types[i];

		table_note(&growth->types, type_key(type), growth->looks, (uint32_t)i, type->count,
			   type->bytes + type->storage_bytes);
	}
}

static uint64_t size_key(const struct heap_size_count *size)
{
	return hash_combine(hash_mix(size->type), size->block_bytes);
}

static void add_sizes(struct heap_growth *growth, const struct heap_snapshot *snapshot)
{
	for (size_t i = 0; i < snapshot->size_count; i++) {
		const struct heap_size_count *size = &snapshot->sizes[i];

		table_note(&growth->sizes, size_key(size), growth->looks, (uint32_t)i, size->count,
			   size->count * size->block_bytes);
	}
}

/* The power of two from which on there is room for all paths that hold so much. */
static unsigned choose_power(const struct heap_snapshot *snapshot)
{
	uint64_t by_power[64] = { 0 }, all = 0;
	unsigned power = 0;

	for (size_t i = 1; i < snapshot->paths.count; i++) {
		if (!snapshot->held_bytes[i])
			continue;
		by_power[63 - __builtin_clzll(snapshot->held_bytes[i])]++;
		all++;
	}
	/* Half of the room is for what earlier looks had. */
	while (all > HEAP_GROWTH_PATHS_MAX / 2)
		all -= by_power[power++];
	return power;
}

static void add_paths(struct heap_growth *growth, const struct heap_snapshot *snapshot,
		      const uint64_t *keys)
{
	unsigned power = choose_power(snapshot);
	struct heap_table *table = &growth->paths;

	for (size_t i = 1; i < snapshot->paths.count; i++) {
		uint64_t bytes = snapshot->held_bytes[i];

		if (!bytes)
			continue;
		if (bytes >> power || table_find(table, keys[i]))
			table_note(table, keys[i], growth->looks, (uint32_t)i,
				   snapshot->paths.items[i].count, bytes);
		else
			table->left_out++;
	}
}

static void add_containers(struct heap_growth *growth, const struct heap_snapshot *snapshot)
{
	for (size_t i = 0; i < snapshot->containers.count; i++) {
		const struct heap_container *container = &snapshot->containers.items[i];

		table_note(&growth->containers,
			   hash_combine(hash_mix(container->address), container->type),
			   growth->looks, (uint32_t)i, container->length, 0);
	}
	growth->containers.left_out += snapshot->containers.left_out;
}

int heap_growth_add(struct heap_growth *growth, const struct heap_look *look)
{
	const struct heap_snapshot *snapshot = &look->snapshot;
	uint64_t *keys = path_keys(snapshot);

	if (!keys)
		return -ENOMEM;
	if (growth->looks == HEAP_GROWTH_LOOKS_MAX)
		drop_looks(growth);
	if (growth->looks) {
		if (2 * growth->types.count > growth->types.limit)
			table_forget_gone(&growth->types, growth->looks);
		if (2 * growth->sizes.count > growth->sizes.limit)
			table_forget_gone(&growth->sizes, growth->looks);
		if (2 * growth->paths.count > growth->paths.limit)
			table_forget_gone(&growth->paths, growth->looks);
		if (growth->containers.count)
			table_forget_gone(&growth->containers, growth->looks);
	}
	growth->types.left_out = growth->paths.left_out = growth->containers.left_out = 0;
	add_figures(growth, look);
	add_types(growth, snapshot);
	add_sizes(growth, snapshot);
	if (snapshot->holders == HEAP_HOLDERS_KNOWN) {
		add_paths(growth, snapshot, keys);
		add_containers(growth, snapshot);
	}
	free(growth->path_keys);
	growth->path_keys = keys;
	growth->path_count = snapshot->paths.count;
	growth->looks++;
	growth->taken++;
	growth->cpu_ns += look->cpu_ns;
	/* Both by the clock on the wall; so is their proportion, on a busy machine, too. */
	if (snapshot->quality.total_ns)
		growth->copy_cpu_ns +=
			(uint64_t)((double)look->cpu_ns * (double)snapshot->quality.copy_ns /
				   (double)snapshot->quality.total_ns);
	return 0;
}

uint64_t heap_growth_elapsed_ns(const struct heap_growth *growth)
{
	return growth->looks ? growth->times_ns[growth->looks - 1] - growth->times_ns[0] : 0;
}

/* ---- trends */

struct span {
	const uint64_t *times_ns, *values;
	size_t first, end;
};

static double rate(const struct span *span, size_t from, size_t to)
{
	double seconds =
		(double)(span->times_ns[to] - span->times_ns[from]) / (double)NS_PER_SECOND;

	return seconds > 0 ? ((double)span->values[to] - (double)span->values[from]) / seconds : 0;
}

static int compare_values(const void *left, const void *right)
{
	const uint64_t *a = left, *b = right;

	return *a < *b ? -1 : *a > *b;
}

/* The lower one of those in the middle: one look that saw less than there was is not believed. */
static uint64_t middle(const struct span *span, size_t from, size_t end)
{
	uint64_t values[HEAP_GROWTH_LOOKS_MAX];
	size_t count = end - from;

	memcpy(values, span->values + from, count * sizeof(*values));
	qsort(values, count, sizeof(*values), compare_values);
	return values[(count - 1) / 2];
}

static struct heap_trend trend_of(const struct span *span)
{
	const uint64_t *values = span->values;
	size_t count = span->end - span->first, third = (count + 2) / 3, steps;
	struct heap_trend trend = { 0 };

	if (!count)
		return trend;
	steps = count - 1;
	trend.first = values[span->first];
	trend.last = values[span->end - 1];
	trend.steps = (unsigned)steps;
	for (size_t i = span->first; i + 1 < span->end; i++) {
		trend.rises += values[i + 1] > values[i];
		trend.falls += values[i + 1] < values[i];
		trend.still = values[i + 1] == values[i] ? trend.still + 1 : 0;
		if (values[i + 1] < values[i])
			trend.fall += (double)(values[i] - values[i + 1]) / (double)steps;
	}
	trend.gain = (int64_t)middle(span, span->end - third, span->end) -
		     (int64_t)middle(span, span->first, span->first + third);
	trend.per_s = rate(span, span->first, span->end - 1);
	if (steps >= 3) {
		size_t a = span->first + steps / 3, b = span->end - 1 - steps / 3;

		trend.early = rate(span, span->first, a);
		trend.middle = a < b ? rate(span, a, b) : trend.early;
		trend.late = rate(span, b, span->end - 1);
	}
	return trend;
}

struct heap_trend heap_growth_trend(const struct heap_growth *growth,
				    const uint64_t values[HEAP_GROWTH_LOOKS_MAX])
{
	const struct span span = { growth->times_ns, values, 0, growth->looks };

	return trend_of(&span);
}

struct heap_trend heap_growth_container_trend(const struct heap_growth *growth,
					      const struct heap_row *row)
{
	struct span span = { growth->times_ns, row->counts, 0, growth->looks };

	while (span.first < span.end && !(row->seen >> span.first & 1))
		span.first++;
	return trend_of(&span);
}

/* A row of the last look, or none. */
static const struct heap_row *row_of(const struct heap_growth *growth,
				     const struct heap_table *table, uint64_t key)
{
	const struct heap_row *row = growth->looks ? table_find(table, key) : NULL;

	return row && row->seen >> (growth->looks - 1) & 1 ? row : NULL;
}

const struct heap_row *heap_growth_type(const struct heap_growth *growth,
					const struct heap_type_count *type)
{
	return row_of(growth, &growth->types, type_key(type));
}

const struct heap_row *heap_growth_size(const struct heap_growth *growth,
					const struct heap_size_count *size)
{
	return row_of(growth, &growth->sizes, size_key(size));
}

const struct heap_row *heap_growth_path(const struct heap_growth *growth, uint32_t path)
{
	return path < growth->path_count ? row_of(growth, &growth->paths, growth->path_keys[path])
					 : NULL;
}

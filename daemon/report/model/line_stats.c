/* SPDX-License-Identifier: Apache-2.0 */
#include "daemon/report/model/line_stats.h"

#include "common/array.h"
#include "common/hash.h"
#include "daemon/cct/library_path.h"

#include <errno.h>
#include <string.h>

void line_stats_init(struct line_stats *stats, bool by_function)
{
	*stats = (struct line_stats){ .by_function = by_function };
}

void line_stats_deinit(struct line_stats *stats)
{
	free(stats->lines);
	free(stats->of_node);
	free(stats->charged);
	id_table_deinit(&stats->ids);
	*stats = (struct line_stats){ 0 };
}

/* 0 is the plainest: a function; a module's own code; a lambda or comprehension. */
static int name_rank(const char *function)
{
	size_t length = strlen(function);

	if (!strcmp(function, "<module>"))
		return 1;
	return length && function[length - 1] == '>' ? 2 : 0;
}

const char *line_stats_plainer_name(const char *a, const char *b)
{
	int rank_a = name_rank(a), rank_b = name_rank(b);

	if (rank_a != rank_b)
		return rank_a < rank_b ? a : b;
	return strcmp(a, b) <= 0 ? a : b;
}

static uint64_t line_hash(const struct line_stats *stats, const struct place *place)
{
	uint64_t within = stats->by_function || !place->line
				  ? hash_add_string(HASH_BASIS, place->function)
				  : (uint32_t)place->line;

	return hash_mix(hash_mix(hash_add_string(HASH_BASIS, place->file)) ^ within);
}

static bool is_of_line(const struct line_stats *stats, const struct line_entry *line,
		       const struct place *place)
{
	/* Native functions have no line of their own. */
	bool by_function = stats->by_function || !place->line;

	return (stats->by_function || line->line == place->line) &&
	       (!by_function || !strcmp(line->function, place->function)) &&
	       !strcmp(line->file, place->file);
}

static int intern_line(struct line_stats *stats, const struct place *place, uint32_t *ret_line)
{
	uint64_t hash = line_hash(stats, place);
	size_t probe = 0;
	uint32_t id;

	while ((id = id_table_next(&stats->ids, hash, &probe)) != ID_NONE) {
		struct line_entry *line = &stats->lines[id];

		if (!is_of_line(stats, line, place))
			continue;
		line->function = line_stats_plainer_name(line->function, place->function);
		if (place->line < line->line)
			line->line = place->line;
		*ret_line = id;
		return 0;
	}
	if (!ARRAY_ROOM(stats->lines, stats->count, stats->capacity) ||
	    id_table_reserve(&stats->ids))
		return -ENOMEM;
	*ret_line = (uint32_t)stats->count;
	id_table_add(&stats->ids, hash, *ret_line);
	stats->lines[stats->count++] = (struct line_entry){
		.file = place->file,
		.line = place->line,
		.function = place->function,
		.charged_by = ID_NONE,
	};
	return 0;
}

/* While nodes are looked at, whether the walk outwards from each came to a good end. */
struct charge {
	bool settled;
	unsigned wrappers; /* passed on the way */
};

/* An instruction under a line, and one of the functions that it calls there. */
struct dispatch {
	uint32_t line;
	uint32_t code;
	int offset;
	uint32_t callee;
};

/* Those of instructions with more than DISPATCH_CALLEES_MAX, one each, sorted. */
struct dispatches {
	struct dispatch *items;
	size_t count, capacity;
};

static int dispatch_site_compare(const void *left, const void *right)
{
	const struct dispatch *a = left, *b = right;

	if (a->line != b->line)
		return a->line < b->line ? -1 : 1;
	if (a->code != b->code)
		return a->code < b->code ? -1 : 1;
	return a->offset < b->offset ? -1 : a->offset > b->offset;
}

static int dispatch_compare(const void *left, const void *right)
{
	const struct dispatch *a = left, *b = right;
	int order = dispatch_site_compare(a, b);

	return order ? order : a->callee < b->callee ? -1 : a->callee > b->callee;
}

/* False: the node is not a wrapper's under some line. */
static bool dispatch_of(const struct line_stats *stats, const struct cct_node *node,
			struct dispatch *ret)
{
	const struct cct_node *caller = node->parent;
	uint32_t charged = stats->charged[node->id];

	if (charged == node->id || stats->of_node[charged] == LINE_NONE)
		return false;
	while (caller->parent && caller->frame.kind != FRAME_PYTHON)
		caller = caller->parent;
	if (!caller->parent)
		return false;
	*ret = (struct dispatch){ .line = stats->of_node[charged],
				  .code = caller->frame.python.code->id,
				  .offset = caller->frame.python.instruction_offset,
				  .callee = node->frame.python.code->id };
	return true;
}

/* Leaves one of each instruction that calls many. */
static void keep_many(struct dispatches *dispatches)
{
	size_t kept = 0, end;

	if (dispatches->count)
		qsort(dispatches->items, dispatches->count, sizeof(dispatches->items[0]),
		      dispatch_compare);
	for (size_t start = 0; start < dispatches->count; start = end) {
		size_t callees = 1;

		for (end = start + 1; end < dispatches->count; end++) {
			if (dispatch_site_compare(&dispatches->items[start],
						  &dispatches->items[end]) != 0)
				break;
			callees +=
				dispatches->items[end].callee != dispatches->items[end - 1].callee;
		}
		if (callees > DISPATCH_CALLEES_MAX)
			dispatches->items[kept++] = dispatches->items[start];
	}
	dispatches->count = kept;
}

static int find_dispatches(const struct line_stats *stats, const struct cct *cct,
			   struct dispatches *dispatches)
{
	for (uint32_t id = 1; id < cct_node_count(cct); id++) {
		const struct cct_node *node = cct_node(cct, id);
		struct dispatch found;

		if (node->frame.kind != FRAME_PYTHON || !dispatch_of(stats, node, &found))
			continue;
		if (!ARRAY_ROOM(dispatches->items, dispatches->count, dispatches->capacity))
			return -ENOMEM;
		dispatches->items[dispatches->count++] = found;
	}
	keep_many(dispatches);
	return 0;
}

static bool is_dispatched(const struct line_stats *stats, const struct dispatches *dispatches,
			  const struct cct_node *node)
{
	struct dispatch found;

	return dispatches->count && dispatch_of(stats, node, &found) &&
	       bsearch(&found, dispatches->items, dispatches->count, sizeof(found),
		       dispatch_site_compare);
}

/*
 * Where the walk from a Python node goes. Its parents are settled: one step is
 * all there is to do.
 */
static int charge_python(struct line_stats *stats, struct charge *charges,
			 const struct cct_node *node, const struct place *place,
			 const struct dispatches *dispatches, struct call_site_table *sites)
{
	const struct charge *outer = &charges[node->parent->id];
	struct charge *charge = &charges[node->id];
	bool library = path_is_library(place->file);
	bool dispatched = is_dispatched(stats, dispatches, node);
	struct call_site site = { 0 };

	stats->charged[node->id] = node->id;
	*charge = (struct charge){ .settled = true };
	if (dispatched)
		return 0;
	if (library || !strcmp(place->function, "<module>")) {
		if (call_site_find(sites, node->frame.python.code,
				   node->frame.python.instruction_offset, &site))
			return -ENOMEM;
		charge->settled = site.in_loop;
	}
	if (charge->settled || !library)
		return 0;
	if (!outer->settled || outer->wrappers >= WRAPPERS_MAX)
		return 0;
	stats->charged[node->id] = stats->charged[node->parent->id];
	*charge = (struct charge){ .settled = true, .wrappers = outer->wrappers + 1 };
	return 0;
}

static int charge_nodes(struct line_stats *stats, struct place_table *places,
			struct call_site_table *sites, const struct cct *cct,
			const struct dispatches *dispatches, struct charge *charges)
{
	/* A node's parent is older than it is. */
	for (uint32_t id = 1; id < cct_node_count(cct); id++) {
		const struct cct_node *node = cct_node(cct, id);
		uint32_t place;

		charges[id] = charges[node->parent->id];
		if (node->frame.kind != FRAME_PYTHON) {
			stats->charged[id] = stats->charged[node->parent->id];
			continue;
		}
		if (place_table_find(places, &node->frame, &place) ||
		    charge_python(stats, charges, node, &places->places[place], dispatches, sites))
			return -ENOMEM;
	}
	return 0;
}

static int find_nodes(struct line_stats *stats, struct place_table *places, const struct cct *cct)
{
	stats->of_node[0] = LINE_NONE;
	for (uint32_t id = 1; id < cct_node_count(cct); id++) {
		const struct cct_node *node = cct_node(cct, id);
		uint32_t place;

		stats->of_node[id] = stats->of_node[node->parent->id];
		if (node->frame.kind != FRAME_PYTHON)
			continue;
		if (place_table_find(places, &node->frame, &place) ||
		    intern_line(stats, &places->places[place], &stats->of_node[id]))
			return -ENOMEM;
	}
	return 0;
}

static int find_lines(struct line_stats *stats, struct place_table *places,
		      struct call_site_table *sites, const struct cct *cct)
{
	size_t count = cct_node_count(cct);
	struct charge *charges = calloc(count, sizeof(*charges));
	struct dispatches dispatches = { 0 };
	int result = -ENOMEM;

	stats->of_node = calloc(count, sizeof(stats->of_node[0]));
	stats->charged = calloc(count, sizeof(stats->charged[0]));
	if (stats->of_node && stats->charged && charges)
		result = find_nodes(stats, places, cct);
	if (!result)
		result = charge_nodes(stats, places, sites, cct, &dispatches, charges);
	if (!result)
		result = find_dispatches(stats, cct, &dispatches);
	if (!result && dispatches.count)
		result = charge_nodes(stats, places, sites, cct, &dispatches, charges);
	free(dispatches.items);
	free(charges);
	return result;
}

int line_stats_self(struct line_stats *stats, struct place_table *places,
		    const struct cct_node *node, uint32_t *ret_line)
{
	uint32_t place;

	*ret_line = stats->of_node[node->id];
	if (*ret_line != LINE_NONE || !node->parent)
		return 0;
	/*
	 * Without Python on the stack, the native function that ran, or entered the kernel, is all
	 * that there is to name.
	 */
	while (frame_is_kernel(&node->frame) && node->parent->parent)
		node = node->parent;
	if (place_table_find(places, &node->frame, &place) ||
	    intern_line(stats, &places->places[place], ret_line))
		return -ENOMEM;
	return 0;
}

static int charge_native(struct line_stats *stats, struct place_table *places,
			 const struct cct_node *node, uint64_t time_ns)
{
	uint32_t line;

	if (!time_ns || !node->parent)
		return 0;
	if (line_stats_self(stats, places, node, &line))
		return -ENOMEM;
	for (size_t c = 0; c < TIME_CLASS_COUNT; c++) {
		stats->lines[line].self_ns[c] += node->time_ns[c];
		stats->lines[line].charged_ns[c] += node->time_ns[c];
	}
	stats->lines[line].total_ns += time_ns;
	return 0;
}

static int line_stats_charge_node(struct line_stats *stats, struct place_table *places,
				  const struct cct_node *node)
{
	uint32_t self = stats->of_node[node->id], charged = line_stats_charged(stats, node);
	uint64_t time_ns = 0;

	for (size_t c = 0; c < TIME_CLASS_COUNT; c++) {
		time_ns += node->time_ns[c];
		if (self != LINE_NONE)
			stats->lines[self].self_ns[c] += node->time_ns[c];
		if (charged != LINE_NONE)
			stats->lines[charged].charged_ns[c] += node->time_ns[c];
	}
	if (self == LINE_NONE)
		return charge_native(stats, places, node, time_ns);
	if (!time_ns)
		return 0;
	for (const struct cct_node *at = node; at; at = at->parent) {
		uint32_t line = stats->of_node[at->id];

		/* Once a sample, however often a recursion passes here. */
		if (line == LINE_NONE || stats->lines[line].charged_by == node->id)
			continue;
		stats->lines[line].charged_by = node->id;
		stats->lines[line].total_ns += time_ns;
	}
	return 0;
}

int line_stats_build(struct line_stats *stats, struct place_table *places,
		     struct call_site_table *sites, const struct cct *cct,
		     uint64_t ret_time_ns[TIME_CLASS_COUNT])
{
	uint64_t time_ns[TIME_CLASS_COUNT] = { 0 };

	if (find_lines(stats, places, sites, cct))
		return -ENOMEM;
	for (uint32_t id = 0; id < cct_node_count(cct); id++) {
		const struct cct_node *node = cct_node(cct, id);

		if (line_stats_charge_node(stats, places, node))
			return -ENOMEM;
		for (size_t c = 0; c < TIME_CLASS_COUNT; c++)
			time_ns[c] += node->time_ns[c];
	}
	memcpy(ret_time_ns, time_ns, sizeof(time_ns));
	return 0;
}

uint32_t line_stats_charged(const struct line_stats *stats, const struct cct_node *node)
{
	return stats->of_node[stats->charged[node->id]];
}

struct line_entry *line_stats_of_node(struct line_stats *stats, const struct cct_node *node)
{
	uint32_t line = line_stats_charged(stats, node);

	return line == LINE_NONE ? NULL : &stats->lines[line];
}

uint64_t access_counts_redundant(const struct access_counts *counts)
{
	return counts->redundant + counts->approximate;
}

/* SPDX-License-Identifier: Apache-2.0 */
#include "daemon/report/line_stats.h"

#include "daemon/cct/array.h"

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

static const char *plainer_name(const char *a, const char *b)
{
	int rank_a = name_rank(a), rank_b = name_rank(b);

	if (rank_a != rank_b)
		return rank_a < rank_b ? a : b;
	return strcmp(a, b) <= 0 ? a : b;
}

static uint64_t string_hash(const char *string)
{
	uint64_t hash = 0xcbf29ce484222325ull;

	for (; *string; string++)
		hash = (hash ^ (unsigned char)*string) * 0x100000001b3ull;
	return hash;
}

static uint64_t line_hash(const struct line_stats *stats, const struct place *place)
{
	uint64_t within = stats->by_function ? string_hash(place->function) : (uint32_t)place->line;

	return id_table_mix(id_table_mix(string_hash(place->file)) ^ within);
}

static bool is_of_line(const struct line_stats *stats, const struct line_entry *line,
		       const struct place *place)
{
	return (stats->by_function ? !strcmp(line->function, place->function)
				   : line->line == place->line) &&
	       !strcmp(line->file, place->file);
}

static int intern_line(struct line_stats *stats, const struct place *place, uint32_t *ret_line)
{
	uint64_t hash = line_hash(stats, place);
	struct line_entry *lines;
	size_t probe = 0;
	uint32_t id;

	while ((id = id_table_next(&stats->ids, hash, &probe)) != ID_NONE) {
		struct line_entry *line = &stats->lines[id];

		if (!is_of_line(stats, line, place))
			continue;
		line->function = plainer_name(line->function, place->function);
		if (place->line < line->line)
			line->line = place->line;
		*ret_line = id;
		return 0;
	}
	lines = array_reserve(stats->lines, stats->count, &stats->capacity, sizeof(*lines));
	if (!lines)
		return -ENOMEM;
	stats->lines = lines;
	if (id_table_reserve(&stats->ids))
		return -ENOMEM;
	*ret_line = (uint32_t)stats->count;
	id_table_add(&stats->ids, hash, *ret_line);
	lines[stats->count++] = (struct line_entry){
		.file = place->file,
		.line = place->line,
		.function = place->function,
		.charged_by = ID_NONE,
	};
	return 0;
}

static int find_lines(struct line_stats *stats, struct place_table *places, const struct cct *cct)
{
	size_t count = cct_node_count(cct);

	stats->of_node = calloc(count, sizeof(stats->of_node[0]));
	if (!stats->of_node)
		return -ENOMEM;
	stats->of_node[0] = LINE_NONE;
	/* A node's parent is older than it is. */
	for (uint32_t id = 1; id < count; id++) {
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

static void charge_node(struct line_stats *stats, const struct cct_node *node)
{
	uint32_t self = stats->of_node[node->id];
	uint64_t time_ns = 0;

	for (size_t c = 0; c < TIME_CLASS_COUNT; c++) {
		time_ns += node->time_ns[c];
		if (self != LINE_NONE)
			stats->lines[self].self_ns[c] += node->time_ns[c];
	}
	if (!time_ns)
		return;
	for (const struct cct_node *at = node; at; at = at->parent) {
		uint32_t line = stats->of_node[at->id];

		/* Once a sample, however often a recursion passes here. */
		if (line == LINE_NONE || stats->lines[line].charged_by == node->id)
			continue;
		stats->lines[line].charged_by = node->id;
		stats->lines[line].total_ns += time_ns;
	}
}

int line_stats_build(struct line_stats *stats, struct place_table *places, const struct cct *cct,
		     uint64_t ret_time_ns[TIME_CLASS_COUNT])
{
	uint64_t time_ns[TIME_CLASS_COUNT] = { 0 };

	if (find_lines(stats, places, cct))
		return -ENOMEM;
	for (uint32_t id = 0; id < cct_node_count(cct); id++) {
		const struct cct_node *node = cct_node(cct, id);

		charge_node(stats, node);
		for (size_t c = 0; c < TIME_CLASS_COUNT; c++)
			time_ns[c] += node->time_ns[c];
	}
	memcpy(ret_time_ns, time_ns, sizeof(time_ns));
	return 0;
}

struct line_entry *line_stats_of_node(struct line_stats *stats, const struct cct_node *node)
{
	uint32_t line = stats->of_node[node->id];

	return line == LINE_NONE ? NULL : &stats->lines[line];
}

uint64_t access_counts_redundant(const struct access_counts *counts)
{
	return counts->redundant + counts->approximate;
}

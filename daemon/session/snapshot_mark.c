/* SPDX-License-Identifier: Apache-2.0 */
#include "daemon/session/snapshot_mark.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

static bool has_figures(const struct cct_node *node)
{
	static const struct side_time none;

	for (size_t c = 0; c < TIME_CLASS_COUNT; c++)
		if (node->samples[c] || node->time_ns[c])
			return true;
	return memcmp(&node->side, &none, sizeof(none)) != 0;
}

static int take_nodes(const struct cct *cct, struct snapshot_mark *mark)
{
	size_t count = 0;

	for (uint32_t id = 0; id < cct_node_count(cct); id++)
		count += has_figures(cct_node(cct, id));
	mark->nodes = calloc(count + 1, sizeof(mark->nodes[0]));
	if (!mark->nodes)
		return -ENOMEM;
	for (uint32_t id = 0; id < cct_node_count(cct); id++) {
		const struct cct_node *node = cct_node(cct, id);
		struct cct_figures *figures = &mark->nodes[mark->node_count];

		if (!has_figures(node))
			continue;
		figures->id = id;
		memcpy(figures->samples, node->samples, sizeof(figures->samples));
		memcpy(figures->time_ns, node->time_ns, sizeof(figures->time_ns));
		figures->side = node->side;
		mark->node_count++;
	}
	return 0;
}

static int take_pairs(const struct pair_table *table, struct snapshot_mark *mark)
{
	size_t pair_count = pair_table_pair_count(table);
	size_t origin_count = pair_table_origin_count(table);

	mark->pairs = calloc(pair_count + 1, sizeof(mark->pairs[0]));
	mark->origins = calloc(origin_count + 1, sizeof(mark->origins[0]));
	if (!mark->pairs || !mark->origins)
		return -ENOMEM;
	for (; mark->pair_count < pair_count; mark->pair_count++) {
		struct pair *pair = &mark->pairs[mark->pair_count];

		*pair = *pair_table_pair(table, mark->pair_count);
		pair->first = pair->second = NULL;
	}
	for (; mark->origin_count < origin_count; mark->origin_count++) {
		struct pair_origin *origin = &mark->origins[mark->origin_count];

		*origin = *pair_table_origin(table, mark->origin_count);
		origin->node = NULL;
		origin->call_ns = NULL;
		origin->call_ns_kept = 0;
	}
	return 0;
}

int snapshot_mark_take(const struct snapshot *snapshot, struct snapshot_mark *ret_mark)
{
	struct snapshot_mark mark = { 0 };

	if (take_nodes(snapshot->cct, &mark) || take_pairs(snapshot->pairs, &mark)) {
		snapshot_mark_deinit(&mark);
		return -ENOMEM;
	}
	*ret_mark = mark;
	return 0;
}

void snapshot_mark_deinit(struct snapshot_mark *mark)
{
	free(mark->nodes);
	free(mark->pairs);
	free(mark->origins);
	*mark = (struct snapshot_mark){ 0 };
}

int snapshot_subtract(struct snapshot *snapshot, const struct snapshot_mark *mark)
{
	cct_subtract(snapshot->cct, mark->nodes, mark->node_count);
	return pair_table_subtract(snapshot->pairs, mark->pairs, mark->pair_count, mark->origins,
				   mark->origin_count, cct_node_count(snapshot->cct));
}

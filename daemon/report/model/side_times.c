/* SPDX-License-Identifier: Apache-2.0 */
#include "daemon/report/model/side_times.h"

#include <errno.h>
#include <string.h>

struct side_time side_times_of(const struct cct_node *node, const struct path *path)
{
	struct side_time side = node->side;

	/* Where functions have names, they also tell of the time in the kernel. */
	if (path->collects)
		side.collecting_ns = time_sum(node->time_ns);
	if (path->contends)
		side.contending_ns = time_sum(node->time_ns);
	return side;
}

/* Time is a line's own; memory, with that of library wrappers, as its time when lines are ranked.
 */
static int side_times_charge_line(struct line_stats *stats, struct place_table *places,
				  const struct cct_node *node, const struct side_time *side)
{
	struct side_time memory = { .fresh_samples = side->fresh_samples,
				    .copying_ns = side->copying_ns,
				    .copied_low_bytes = side->copied_low_bytes,
				    .copied_high_bytes = side->copied_high_bytes,
				    .allocated_bytes = side->allocated_bytes,
				    .allocated_objects = side->allocated_objects,
				    .released_bytes = side->released_bytes,
				    .released_objects = side->released_objects,
				    .allocation_samples = side->allocation_samples },
			 time = *side;
	uint32_t line, charged;

	if (line_stats_self(stats, places, node, &line))
		return -ENOMEM;
	if (line == LINE_NONE)
		return 0;
	charged = line_stats_charged(stats, node);
	memcpy(memory.fresh_bytes, side->fresh_bytes, sizeof(memory.fresh_bytes));
	memset(time.fresh_bytes, 0, sizeof(time.fresh_bytes));
	time.fresh_samples = time.copying_ns = 0;
	time.copied_low_bytes = time.copied_high_bytes = 0;
	time.allocated_bytes = time.allocated_objects = time.allocation_samples = 0;
	time.released_bytes = time.released_objects = 0;
	side_time_add(&stats->lines[line].side, &time);
	side_time_add(&stats->lines[charged == LINE_NONE ? line : charged].side, &memory);
	return 0;
}

int side_times_charge(struct path_table *paths, const struct cct *cct, struct line_stats *lines,
		      struct line_stats *functions, struct side_time *ret_run)
{
	struct side_time run = { 0 };

	for (uint32_t id = 0; id < cct_node_count(cct); id++) {
		const struct cct_node *node = cct_node(cct, id);
		struct side_time side;
		uint32_t path;

		if (!time_sum(node->time_ns) && !side_time_any(&node->side))
			continue;
		if (path_table_find(paths, node, &path))
			return -ENOMEM;
		side = side_times_of(node, &paths->paths[path]);
		side_time_add(&run, &side);
		if (side_times_charge_line(lines, paths->places, node, &side) ||
		    side_times_charge_line(functions, paths->places, node, &side))
			return -ENOMEM;
	}
	*ret_run = run;
	return 0;
}

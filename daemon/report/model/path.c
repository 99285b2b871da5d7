/* SPDX-License-Identifier: Apache-2.0 */
#include "daemon/report/model/path.h"

#include "common/array.h"
#include "common/hash.h"
#include "daemon/report/model/category_choice.h"
#include "daemon/report/model/start_frame.h"

#include <errno.h>
#include <string.h>

int path_table_init(struct path_table *table, struct place_table *places,
		    const struct access_patterns *patterns, const struct cct *cct)
{
	*table = (struct path_table){ .places = places,
				      .patterns = patterns,
				      .node_count = cct_node_count(cct) };
	table->of_node = calloc(table->node_count, sizeof(table->of_node[0]));
	if (!table->of_node || !ARRAY_ROOM(table->paths, 0, table->capacity))
		return -ENOMEM;
	table->paths[table->count++] = (struct path){ .place = ID_NONE, .start = true };
	table->of_node[0] = 1;
	return 0;
}

void path_table_deinit(struct path_table *table)
{
	free(table->paths);
	free(table->of_node);
	free(table->pending);
	id_table_deinit(&table->ids);
	*table = (struct path_table){ 0 };
}

/* "take_gil", "take_gil.constprop.0" */
static bool is_gil_request(const char *function)
{
	size_t length = strcspn(function, ".");

	return length == strlen("take_gil") && !strncmp(function, "take_gil", length);
}

static struct path make_path(const struct path_table *table, uint32_t parent, uint32_t place,
			     const struct frame *frame)
{
	const char *function = table->places->places[place].function;
	struct path path = { .parent = parent, .place = place };

	path.start =
		table->paths[parent].start && start_frame_is(frame->kind, frame->flags, function,
							     table->places->places[place].file);

	path.filter = access_filter_step(table->paths[parent].filter, frame,
					 &table->places->places[place], table->patterns);
	path.collects = table->paths[parent].collects || path.filter.collector;
	if (frame->kind != FRAME_NATIVE || frame->flags & FRAME_EVAL)
		return path;
	path.contends =
		table->paths[parent].contends || (!table->no_gil && is_gil_request(function));
	path.subscript = table->paths[parent].subscript || category_is_subscript_function(function);
	return path;
}

static int intern_path(struct path_table *table, uint32_t parent, const struct frame *frame,
		       uint32_t *ret_path)
{
	size_t probe = 0;
	uint32_t place, id;
	uint64_t hash;

	if (place_table_find(table->places, frame, &place))
		return -ENOMEM;
	hash = hash_mix((uint64_t)parent << 32 | place);
	while ((id = id_table_next(&table->ids, hash, &probe)) != ID_NONE) {
		if (table->paths[id].parent == parent && table->paths[id].place == place) {
			*ret_path = id;
			return 0;
		}
	}
	if (!ARRAY_ROOM(table->paths, table->count, table->capacity) ||
	    id_table_reserve(&table->ids))
		return -ENOMEM;
	*ret_path = (uint32_t)table->count;
	table->paths[table->count++] = make_path(table, parent, place, frame);
	id_table_add(&table->ids, hash, *ret_path);
	return 0;
}

int path_table_find(struct path_table *table, const struct cct_node *node, uint32_t *ret_path)
{
	const struct cct_node *at = node;
	size_t count = 0;
	uint32_t path;

	/* Up to what is known, then down again. */
	for (; !table->of_node[at->id]; at = at->parent) {
		if (!ARRAY_ROOM(table->pending, count, table->pending_capacity))
			return -ENOMEM;
		table->pending[count++] = at;
	}
	path = table->of_node[at->id] - 1;
	while (count > 0) {
		at = table->pending[--count];
		if (at->frame.kind == FRAME_PYTHON && table->paths[path].start &&
		    !table->start_frames)
			path = 0;
		if (intern_path(table, path, &at->frame, &path))
			return -ENOMEM;
		table->of_node[at->id] = path + 1;
	}
	*ret_path = path;
	return 0;
}

int path_compare(const struct path_table *table, uint32_t a, uint32_t b)
{
	while (a != b) {
		const struct path *path_a = &table->paths[a], *path_b = &table->paths[b];
		int order;

		if (!a || !b)
			return a ? 1 : -1;
		if (path_a->place != path_b->place) {
			order = place_compare(&table->places->places[path_a->place],
					      &table->places->places[path_b->place]);
			if (order)
				return order;
		}
		a = path_a->parent;
		b = path_b->parent;
	}
	return 0;
}

enum loss path_filter_reason(const struct path_table *table, uint32_t path)
{
	return access_filter_reason(table->paths[path].filter, table->patterns);
}

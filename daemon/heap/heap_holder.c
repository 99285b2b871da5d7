/* SPDX-License-Identifier: Apache-2.0 */
#include "daemon/heap/heap_holder.h"

#include "pyintrospect/heap/heap_nodes.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* One of them leads on when it has so much of all. */
#define MOST(bytes) ((bytes) / 10 * 8)

static int compare_holders(const void *left, const void *right)
{
	const struct heap_holder *a = left, *b = right;

	if (a->bytes != b->bytes)
		return a->bytes < b->bytes ? 1 : -1;
	return a->path < b->path ? -1 : a->path > b->path;
}

static struct heap_holder holder_of(const struct heap_snapshot *snapshot, uint32_t path)
{
	return (struct heap_holder){ path, snapshot->paths.items[path].count,
				     snapshot->held_bytes[path] };
}

static void keep_largest(struct heap_holder *holders, size_t *count, size_t limit)
{
	if (*count)
		qsort(holders, *count, sizeof(*holders), compare_holders);
	if (*count > limit)
		*count = limit;
}

/* By path: the child that holds most. A parent comes before its children. */
static uint32_t *largest_children(const struct heap_snapshot *snapshot)
{
	uint32_t *largest = calloc(snapshot->paths.count + 1, sizeof(*largest));

	for (size_t i = 1; largest && i < snapshot->paths.count; i++) {
		uint32_t parent = snapshot->paths.items[i].parent;

		if (parent && (!largest[parent] ||
			       snapshot->held_bytes[i] > snapshot->held_bytes[largest[parent]]))
			largest[parent] = (uint32_t)i;
	}
	return largest;
}

int heap_holders_choose(const struct heap_snapshot *snapshot, size_t limit,
			struct heap_holder **ret_holders, size_t *ret_count)
{
	struct heap_holder *holders = calloc(snapshot->paths.count + 1, sizeof(*holders));
	uint32_t *largest = largest_children(snapshot);
	size_t count = 0;

	if (!holders || !largest) {
		free(holders);
		free(largest);
		return -ENOMEM;
	}
	for (size_t i = 1; i < snapshot->paths.count; i++) {
		uint32_t path = (uint32_t)i;

		if (snapshot->paths.items[i].parent || !snapshot->held_bytes[i])
			continue;
		while (largest[path] &&
		       snapshot->held_bytes[largest[path]] > MOST(snapshot->held_bytes[path]))
			path = largest[path];
		holders[count++] = holder_of(snapshot, path);
	}
	free(largest);
	keep_largest(holders, &count, limit);
	*ret_holders = holders;
	*ret_count = count;
	return 0;
}

int heap_holders_all(const struct heap_snapshot *snapshot, size_t limit,
		     struct heap_holder **ret_holders, size_t *ret_count)
{
	struct heap_holder *holders = calloc(snapshot->paths.count + 1, sizeof(*holders));
	size_t count = 0;

	if (!holders)
		return -ENOMEM;
	for (size_t i = 1; i < snapshot->paths.count; i++)
		if (snapshot->held_bytes[i])
			holders[count++] = holder_of(snapshot, (uint32_t)i);
	keep_largest(holders, &count, limit);
	*ret_holders = holders;
	*ret_count = count;
	return 0;
}

void heap_holder_words(const struct heap_snapshot *snapshot, uint32_t path, char *words,
		       size_t size)
{
	uint32_t steps[HEAP_HOLDER_STEPS_MAX];
	size_t count = heap_snapshot_steps(snapshot, path, steps, HEAP_HOLDER_STEPS_MAX);
	size_t shown = count < HEAP_HOLDER_STEPS_MAX ? count : HEAP_HOLDER_STEPS_MAX, used = 0;

	words[0] = '\0';
	for (size_t i = 0; i < shown && used < size; i++)
		used += (size_t)snprintf(words + used, size - used, "%s",
					 snapshot->paths.strings +
						 snapshot->paths.items[steps[i]].step);
	if (shown < count && used < size)
		snprintf(words + used, size - used, "...");
}

const char *heap_holder_type(const struct heap_snapshot *snapshot, uint32_t path)
{
	uint16_t type = snapshot->paths.items[path].type;

	return type >= HEAP_NODE_FIRST_TYPE && type < snapshot->type_name_count
		       ? snapshot->type_names[type]
		       : "";
}

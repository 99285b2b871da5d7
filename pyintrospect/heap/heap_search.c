/* SPDX-License-Identifier: Apache-2.0 */
#include "pyintrospect/heap/heap_search.h"

#include "pyintrospect/heap/heap_reference.h"

#include <stdio.h>

#define VISITS_A_QUESTION (1u << 18)

static bool goes_on(struct heap_walk *walk)
{
	if (!walk->roots_done && !walk->stopped && ++walk->visited % VISITS_A_QUESTION == 0)
		walk->stopped = memory_read_ranges(walk->image->reader, NULL, 0);
	return !walk->stopped;
}

void heap_search_drain(struct heap_walk *walk)
{
	while (goes_on(walk) &&
	       (walk->queue_first < walk->queue_end || walk->raw_first < walk->raw_end)) {
		uint32_t node = walk->queue_first < walk->queue_end
					? walk->queue[walk->queue_first++]
					: walk->queue[walk->queue_size - walk->raw_first++];

		heap_reference_follow(walk, node, walk->path_of[node]);
	}
	walk->mends.typed = false;
}

void heap_search_unheld(struct heap_walk *walk)
{
	for (uint32_t node = 0; node < walk->nodes->count; node++) {
		uint16_t kind = walk->nodes->kinds[node];
		char words[HEAP_STEP_BYTES];

		if (walk->path_of[node] || kind < HEAP_NODE_FIRST_TYPE)
			continue;
		walk->unheld_objects++;
		walk->unheld_bytes += heap_nodes_block(walk->nodes, node).size;
		snprintf(words, sizeof(words), "(no known holder) %s",
			 walk->types->items[kind].name);
		heap_walk_take(walk, node,
			       heap_paths_child(walk->paths, 0,
						heap_paths_string(walk->paths, words), kind));
		heap_search_drain(walk);
	}
}

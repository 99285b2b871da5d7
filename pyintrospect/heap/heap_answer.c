/* SPDX-License-Identifier: Apache-2.0 */
#include "pyintrospect/heap/heap_answer.h"

static struct heap_answer answer_at(const struct heap_nodes *nodes, const uint32_t *path_of,
				    remote_addr address, bool within)
{
	/* Of glibc's, what is in no chunk was given back, unless a row of them is not whole. */
	const bool blind = nodes->foreign || nodes->broken_heaps;
	const struct heap_answer none = { .state = blind ? HEAP_ANSWER_UNKNOWN : HEAP_ANSWER_GONE };
	const struct heap_answer gone = { .state = HEAP_ANSWER_GONE };
	const struct heap_extent *extent = heap_image_find(nodes->image, address);
	uint64_t inside;
	uint32_t chunk, node;
	bool held;

	if (!extent)
		return none;
	if (heap_nodes_in_pool(nodes, extent, address))
		return gone;
	chunk = heap_nodes_find_chunk(nodes, extent, address, &inside);
	if (chunk == HEAP_NODE_NONE)
		return none;
	node = nodes->first_chunk + chunk;
	if ((inside && !within) || nodes->kinds[node] == HEAP_NODE_FREE ||
	    nodes->kinds[node] == HEAP_NODE_CACHED)
		return gone;
	held = nodes->kinds[node] >= HEAP_NODE_FIRST_TYPE || path_of[node];
	return (struct heap_answer){ .state = held ? HEAP_ANSWER_HELD : HEAP_ANSWER_NATIVE,
				     .size = nodes->chunks[chunk].size };
}

void heap_answers_find(const struct heap_nodes *nodes, const uint32_t *path_of,
		       const remote_addr *addresses, size_t count, bool within,
		       struct heap_answer *answers)
{
	for (size_t i = 0; i < count; i++)
		answers[i] = answer_at(nodes, path_of, addresses[i], within);
}

/* SPDX-License-Identifier: Apache-2.0 */
#include "pyintrospect/heap/heap_judge.h"

#include <string.h>

const uint8_t *heap_judge_start(const struct heap_nodes *nodes, struct heap_block block,
				uint8_t buffer[HEAP_JUDGED_BYTES])
{
	const struct heap_extent *extent = heap_image_find(nodes->image, block.address);
	const uint8_t *bytes;
	uint64_t there;

	if (!extent)
		return NULL;
	bytes = extent->bytes + (block.address - extent->start);
	there = extent->end - block.address;
	if (there >= block.size || there >= HEAP_JUDGED_BYTES)
		return bytes;
	memset(buffer, 0, HEAP_JUDGED_BYTES);
	memcpy(buffer, bytes, there);
	return buffer;
}

void heap_judge_all(struct heap_nodes *nodes, struct heap_types *types)
{
	uint8_t buffer[HEAP_JUDGED_BYTES];

	for (uint32_t node = 0; node < nodes->count; node++) {
		struct heap_block block;
		const uint8_t *bytes;

		if (nodes->kinds[node] != HEAP_NODE_RAW)
			continue;
		block = heap_nodes_block(nodes, node);
		bytes = heap_judge_start(nodes, block, buffer);
		if (bytes)
			nodes->kinds[node] = heap_types_classify(types, bytes, block.size);
	}
}

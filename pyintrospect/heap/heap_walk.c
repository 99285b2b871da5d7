/* SPDX-License-Identifier: Apache-2.0 */
#include "pyintrospect/heap/heap_walk.h"

#include <errno.h>
#include <stdlib.h>

int heap_walk_init(struct heap_walk *walk, struct heap_nodes *nodes, struct heap_types *types,
		   struct heap_paths *paths)
{
	static const char *const words[HEAP_STEPS] = {
		[HEAP_STEP_ITEM] = "[*]",  [HEAP_STEP_KEY] = "{key}",
		[HEAP_STEP_VALUE] = "{*}", [HEAP_STEP_SET] = "<*>",
		[HEAP_STEP_OTHER] = "->",  [HEAP_STEP_CLOSURE] = ".__closure__",
	};

	*walk = (struct heap_walk){
		.image = nodes->image, .nodes = nodes, .types = types, .paths = paths
	};
	for (size_t i = 0; i < HEAP_STEPS; i++)
		walk->steps[i] = heap_paths_string(paths, words[i]);
	walk->queue_size = nodes->foreign ? heap_nodes_begin_finding(nodes) : nodes->count;
	/* What is not used of them takes no memory. */
	walk->path_of = calloc(walk->queue_size + 1, sizeof(*walk->path_of));
	walk->queue = calloc(walk->queue_size + 1, sizeof(*walk->queue));
	return walk->path_of && walk->queue ? 0 : -ENOMEM;
}

void heap_walk_deinit(struct heap_walk *walk)
{
	free(walk->path_of);
	free(walk->queue);
	walk->path_of = walk->queue = NULL;
}

uint32_t heap_walk_node(const struct heap_walk *walk, remote_addr address, uint64_t *ret_inside)
{
	uint32_t node = heap_nodes_find(walk->nodes, address, ret_inside);
	const struct heap_extent *extent;
	uint64_t before, bytes;
	uint16_t kind;

	if (node != HEAP_NODE_NONE || !walk->nodes->foreign || address % WORD_SIZE)
		return node;
	extent = heap_image_find(walk->image, address);
	if (!extent || !heap_nodes_is_foreign(walk->nodes, extent, address))
		return HEAP_NODE_NONE;
	before = address - extent->start;
	kind = heap_types_object(walk->types, extent->bytes + before, before, extent->end - address,
				 &bytes);
	if (!kind)
		return HEAP_NODE_NONE;
	*ret_inside = walk->types->items[kind].prefix;
	return heap_nodes_add_found(walk->nodes, address, *ret_inside + bytes, (uint8_t)*ret_inside,
				    kind);
}

uint32_t heap_walk_object(const struct heap_walk *walk, remote_addr address)
{
	uint64_t inside;
	uint32_t node;

	if (address % WORD_SIZE)
		return HEAP_NODE_NONE;
	node = heap_walk_node(walk, address, &inside);
	if (node == HEAP_NODE_NONE || walk->nodes->kinds[node] < HEAP_NODE_FIRST_TYPE ||
	    inside != walk->types->items[walk->nodes->kinds[node]].prefix)
		return HEAP_NODE_NONE;
	return node;
}

/* Each node is in one of both, once: they do not meet. */
static void enqueue(struct heap_walk *walk, uint32_t node)
{
	walk->queue[walk->queue_end++] = node;
}

static void enqueue_raw(struct heap_walk *walk, uint32_t node)
{
	walk->queue[walk->queue_size - walk->raw_end++] = node;
}

void heap_walk_take(struct heap_walk *walk, uint32_t node, uint32_t path)
{
	struct heap_path *item = &walk->paths->items[path];

	if (walk->path_of[node] || !path)
		return;
	walk->path_of[node] = path;
	item->count++;
	item->bytes += heap_nodes_block(walk->nodes, node).size;
	enqueue(walk, node);
}

static void take_raw(struct heap_walk *walk, uint32_t node, uint32_t path)
{
	uint64_t size = heap_nodes_block(walk->nodes, node).size;
	uint16_t owner = walk->paths->items[path].type;

	walk->path_of[node] = path;
	walk->paths->items[path].bytes += size;
	walk->types->items[owner].storage_bytes += size;
}

void heap_walk_follow(struct heap_walk *walk, uint64_t word, uint32_t path, uint32_t step)
{
	uint64_t inside;
	uint16_t kind;
	uint32_t node;

	if (word % WORD_SIZE || !path)
		return;
	node = heap_walk_node(walk, word, &inside);
	if (node == HEAP_NODE_NONE || walk->path_of[node])
		return;
	kind = walk->nodes->kinds[node];
	if (kind >= HEAP_NODE_FIRST_TYPE) {
		if (inside == walk->types->items[kind].prefix)
			heap_walk_take(walk, node, heap_paths_child(walk->paths, path, step, kind));
	} else if (kind == HEAP_NODE_RAW && inside <= HEAP_RAW_INSIDE_MAX) {
		take_raw(walk, node, path);
		enqueue_raw(walk, node);
	}
}

/* As its owner says; no more than the mapping has. */
static uint32_t find_storage(struct heap_walk *walk, remote_addr address, uint64_t size)
{
	const struct heap_extent *extent = heap_image_find(walk->image, address);
	uint64_t most;

	if (!size || !extent || !heap_nodes_is_foreign(walk->nodes, extent, address))
		return HEAP_NODE_NONE;
	most = walk->image->mappings->mappings[extent->mapping].end - address;
	return heap_nodes_add_found(walk->nodes, address, size < most ? size : most, 0,
				    HEAP_NODE_RAW);
}

void heap_walk_claim(struct heap_walk *walk, remote_addr address, uint64_t size, uint32_t path,
		     bool scanned)
{
	uint64_t inside = 0;
	uint32_t node = heap_nodes_find(walk->nodes, address, &inside);

	if (node == HEAP_NODE_NONE && path)
		node = find_storage(walk, address, size);
	if (!path || node == HEAP_NODE_NONE || inside > HEAP_RAW_INSIDE_MAX ||
	    walk->path_of[node] || walk->nodes->kinds[node] == HEAP_NODE_FREE)
		return;
	/* An array may show the contents of an object, such as bytes: those stay that. */
	if (inside && walk->nodes->kinds[node] != HEAP_NODE_RAW)
		return;
	walk->misjudged += walk->nodes->kinds[node] != HEAP_NODE_RAW;
	walk->nodes->kinds[node] = HEAP_NODE_RAW;
	take_raw(walk, node, path);
	if (scanned)
		enqueue_raw(walk, node);
}

bool heap_walk_absorb(struct heap_walk *walk, remote_addr address, uint32_t path)
{
	uint32_t node = heap_walk_object(walk, address);

	if (!path || node == HEAP_NODE_NONE || walk->path_of[node])
		return false;
	walk->path_of[node] = path;
	walk->paths->items[path].bytes += heap_nodes_block(walk->nodes, node).size;
	return true;
}

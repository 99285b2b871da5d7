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
	heap_mends_init(&walk->mends, nodes);
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
	heap_mends_deinit(&walk->mends);
	walk->path_of = walk->queue = NULL;
}

/* What nobody has found yet, of an allocator that is not read. */
static bool locate_foreign(const struct heap_walk *walk, remote_addr address,
			   struct heap_place *ret_place)
{
	const struct heap_extent *extent;
	uint64_t before, bytes, prefix;
	uint16_t kind;
	uint32_t node;

	if (!walk->nodes->foreign || address % WORD_SIZE)
		return false;
	extent = heap_image_find(walk->image, address);
	if (!extent || !heap_nodes_is_foreign(walk->nodes, extent, address))
		return false;
	before = address - extent->start;
	kind = heap_types_object(walk->types, extent->bytes + before, before, extent->end - address,
				 &bytes);
	if (!kind)
		return false;
	prefix = walk->types->items[kind].prefix;
	node = heap_nodes_add_found(walk->nodes, address, prefix + bytes, (uint8_t)prefix, kind);
	if (node == HEAP_NODE_NONE)
		return false;
	*ret_place = (struct heap_place){ node, prefix, prefix + bytes, false };
	return true;
}

static bool locate(const struct heap_walk *walk, remote_addr address, struct heap_place *ret_place)
{
	return heap_nodes_locate(walk->nodes, address, ret_place) ||
	       locate_foreign(walk, address, ret_place);
}

uint32_t heap_walk_node(const struct heap_walk *walk, remote_addr address, uint64_t *ret_inside)
{
	struct heap_place place;

	if (!locate(walk, address, &place))
		return HEAP_NODE_NONE;
	*ret_inside = place.inside;
	return place.node;
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

/* What is plain leads nowhere: it is counted, and never looked at again. */
static void take(struct heap_walk *walk, const struct heap_place *place, uint32_t path)
{
	struct heap_path *item = &walk->paths->items[path];
	const struct heap_type *type = &walk->types->items[walk->nodes->kinds[place->node]];

	walk->path_of[place->node] = path;
	item->count++;
	item->bytes += place->size;
	if (!type->plain && !(type->text && place->ascii))
		enqueue(walk, place->node);
}

void heap_walk_take(struct heap_walk *walk, uint32_t node, uint32_t path)
{
	const struct heap_place place = {
		.node = node,
		.size = path ? heap_nodes_block(walk->nodes, node).size : 0,
	};

	if (path && !walk->path_of[node])
		take(walk, &place, path);
}

static void take_raw(struct heap_walk *walk, uint32_t node, uint64_t size, uint32_t path)
{
	uint16_t owner = walk->paths->items[path].type;

	walk->path_of[node] = path;
	walk->paths->items[path].bytes += size;
	walk->types->items[owner].storage_bytes += size;
}

/* An item is an object; what has no name may be storage. */
static bool may_be_object(const struct heap_walk *walk, uint16_t kind, uint32_t step)
{
	return kind != HEAP_NODE_RAW || step != walk->steps[HEAP_STEP_OTHER];
}

/* An object of the copy that is where a reference leads to, or not by now. */
static void follow_late(struct heap_walk *walk, remote_addr address, const struct heap_place *place,
			uint32_t path, uint32_t step)
{
	if (heap_mends_differ(&walk->mends, address, place->size - place->inside))
		heap_mends_note(&walk->mends, address, path, step);
}

/* Whatever else is in use. */
static void follow_other(struct heap_walk *walk, remote_addr address,
			 const struct heap_place *place, uint32_t path, uint32_t step)
{
	uint16_t kind = walk->nodes->kinds[place->node];

	if (may_be_object(walk, kind, step))
		heap_mends_note(&walk->mends, address, path, step);
	if (kind == HEAP_NODE_RAW && place->inside <= HEAP_RAW_INSIDE_MAX && !walk->mends.at_work &&
	    !walk->path_of[place->node]) {
		take_raw(walk, place->node, place->size, path);
		enqueue_raw(walk, place->node);
	}
}

void heap_walk_follow(struct heap_walk *walk, uint64_t word, uint32_t path, uint32_t step)
{
	struct heap_place place;
	uint32_t child;
	uint16_t kind;

	if (word % WORD_SIZE || !path)
		return;
	if (!locate(walk, word, &place)) {
		heap_mends_note(&walk->mends, word, path, step);
		return;
	}
	if (walk->path_of[place.node] && !walk->mends.at_work)
		return;
	kind = walk->nodes->kinds[place.node];
	if (kind < HEAP_NODE_FIRST_TYPE || place.inside != walk->types->items[kind].prefix) {
		follow_other(walk, word, &place, path, step);
		return;
	}
	if (walk->mends.at_work)
		follow_late(walk, word, &place, path, step);
	if (walk->path_of[place.node])
		return;
	child = heap_paths_child(walk->paths, path, step, kind);
	if (child)
		take(walk, &place, child);
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
	struct heap_place place = { .inside = 0 };

	/* What an object uses that is not in the copy is as young as it is. */
	if (!path || walk->mends.at_work)
		return;
	if (!heap_nodes_locate(walk->nodes, address, &place)) {
		place.node = find_storage(walk, address, size);
		if (place.node == HEAP_NODE_NONE)
			return;
		place.size = heap_nodes_block(walk->nodes, place.node).size;
	}
	if (place.inside > HEAP_RAW_INSIDE_MAX || walk->path_of[place.node] ||
	    walk->nodes->kinds[place.node] == HEAP_NODE_FREE)
		return;
	/* An array may show the contents of an object, such as bytes: those stay that. */
	if (place.inside && walk->nodes->kinds[place.node] != HEAP_NODE_RAW)
		return;
	walk->misjudged += walk->nodes->kinds[place.node] != HEAP_NODE_RAW;
	walk->nodes->kinds[place.node] = HEAP_NODE_RAW;
	take_raw(walk, place.node, place.size, path);
	if (scanned)
		enqueue_raw(walk, place.node);
}

bool heap_walk_absorb(struct heap_walk *walk, remote_addr address, uint32_t path)
{
	uint32_t node = heap_walk_object(walk, address);

	bool young = path && walk->mends.at_work && heap_mends_mark(&walk->mends, address);

	if (!path || node == HEAP_NODE_NONE || walk->path_of[node])
		return young;
	walk->path_of[node] = path;
	walk->absorbed++;
	walk->paths->items[path].bytes += heap_nodes_block(walk->nodes, node).size;
	return true;
}

/* SPDX-License-Identifier: Apache-2.0 */
#include "daemon/cct/cct.h"

#include "common/array.h"
#include "common/hash.h"
#include "daemon/cct/id_table.h"

#include <errno.h>
#include <stdlib.h>

/* Nodes come in chunks that never move, so that pointers to them stay good. */
#define CHUNK_NODES 1024

/* Ids are 32 bits wide, and pairs of them must fit into a 64-bit key with a bit to spare. */
#define NODES_MAX ((size_t)INT32_MAX)

struct cct {
	struct cct_node **chunks;
	size_t chunk_count, chunk_capacity;
	size_t node_count, node_limit;
	struct id_table children; /* by parent and frame */
};

static struct cct_node *node_at(const struct cct *cct, size_t id)
{
	return &cct->chunks[id / CHUNK_NODES][id % CHUNK_NODES];
}

static bool cct_add_chunk(struct cct *cct)
{
	struct cct_node *chunk;

	if (!ARRAY_ROOM(cct->chunks, cct->chunk_count, cct->chunk_capacity))
		return false;
	chunk = calloc(CHUNK_NODES, sizeof(*chunk));
	if (!chunk)
		return false;
	cct->chunks[cct->chunk_count++] = chunk;
	return true;
}

/* NULL: limit or memory. The node is all zeros but for its id. */
static struct cct_node *take_node(struct cct *cct)
{
	struct cct_node *node;

	if (cct->node_count >= cct->node_limit)
		return NULL;
	if (cct->node_count == cct->chunk_count * CHUNK_NODES && !cct_add_chunk(cct))
		return NULL;
	node = node_at(cct, cct->node_count);
	node->id = (uint32_t)cct->node_count++;
	return node;
}

struct cct *cct_create(size_t node_limit)
{
	struct cct *cct = calloc(1, sizeof(*cct));

	if (!cct)
		return NULL;
	cct->node_limit = node_limit < 1 ? 1 : node_limit > NODES_MAX ? NODES_MAX : node_limit;
	if (!take_node(cct)) {
		cct_destroy(cct);
		return NULL;
	}
	return cct;
}

void cct_destroy(struct cct *cct)
{
	if (!cct)
		return;
	for (size_t i = 0; i < cct->chunk_count; i++)
		free(cct->chunks[i]);
	free(cct->chunks);
	id_table_deinit(&cct->children);
	free(cct);
}

struct cct_node *cct_root(struct cct *cct)
{
	return node_at(cct, 0);
}

size_t cct_node_count(const struct cct *cct)
{
	return cct->node_count;
}

const struct cct_node *cct_node(const struct cct *cct, uint32_t id)
{
	return id < cct->node_count ? node_at(cct, id) : NULL;
}

static struct cct_node *find_child(const struct cct *cct, const struct cct_node *parent,
				   const struct frame *frame, uint64_t hash)
{
	size_t probe = 0;
	uint32_t id;

	while ((id = id_table_next(&cct->children, hash, &probe)) != ID_NONE) {
		struct cct_node *node = node_at(cct, id);

		if (node->parent == parent && frame_equal(&node->frame, frame))
			return node;
	}
	return NULL;
}

static struct cct_node *add_child(struct cct *cct, struct cct_node *parent,
				  const struct frame *frame, uint64_t hash)
{
	struct cct_node *node;

	if (id_table_reserve(&cct->children))
		return NULL;
	node = take_node(cct);
	if (!node)
		return NULL;
	node->parent = parent;
	node->next_sibling = parent->first_child;
	parent->first_child = node;
	node->depth = parent->depth + 1;
	node->frame = *frame;
	id_table_add(&cct->children, hash, node->id);
	return node;
}

struct cct_node *cct_insert(struct cct *cct, const struct frame *frames, size_t count)
{
	struct cct_node *node = cct_root(cct);

	for (size_t i = 0; i < count && node; i++) {
		uint64_t hash = hash_mix(frame_hash(&frames[i]) + node->id);
		struct cct_node *child = find_child(cct, node, &frames[i], hash);

		/* A frame is doubtful only as long as every sample of it was. */
		if (child)
			child->frame.flags &= frames[i].flags;
		else
			child = add_child(cct, node, &frames[i], hash);
		node = child;
	}
	return node;
}

/* The next node of a copy. NULL: no memory. */
static struct cct_node *copy_node(struct cct *copy, const struct cct_node *original)
{
	struct cct_node *node = take_node(copy), *parent;

	if (!node)
		return NULL;
	/* A node's parent is older than it is. */
	parent = node_at(copy, original->parent->id);
	node->parent = parent;
	node->next_sibling = parent->first_child;
	parent->first_child = node;
	return node;
}

/* All but what points to other nodes. */
static void copy_contents(struct cct_node *node, const struct cct_node *original)
{
	struct cct_node links = *node;

	*node = *original;
	node->parent = links.parent;
	node->first_child = links.first_child;
	node->next_sibling = links.next_sibling;
}

int cct_copy_nodes(struct cct *copy, const struct cct *cct, size_t first, size_t count)
{
	size_t end = count < cct->node_count - first ? first + count : cct->node_count;

	for (size_t id = first; id < end; id++) {
		const struct cct_node *original = node_at(cct, id);
		struct cct_node *node =
			id < copy->node_count ? node_at(copy, id) : copy_node(copy, original);

		if (!node)
			return -ENOMEM;
		copy_contents(node, original);
	}
	return 0;
}

void cct_subtract(struct cct *copy, const struct cct_figures *figures, size_t count)
{
	for (size_t i = 0; i < count; i++) {
		struct cct_node *node;

		if (figures[i].id >= copy->node_count)
			continue;
		node = node_at(copy, figures[i].id);
		for (size_t c = 0; c < TIME_CLASS_COUNT; c++) {
			node->samples[c] -= figures[i].samples[c];
			node->time_ns[c] -= figures[i].time_ns[c];
		}
		side_time_subtract(&node->side, &figures[i].side);
	}
}

void cct_node_charge(struct cct_node *node, enum time_class time_class, uint64_t samples,
		     uint64_t time_ns)
{
	node->samples[time_class] += samples;
	node->time_ns[time_class] += time_ns;
}

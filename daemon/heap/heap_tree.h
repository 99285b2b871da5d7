/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A look's live bytes as a tree of frames, for the formats that have stacks: a frame is a step of
 * a holder path with the type that it leads to, "app.cache (dict)".
 *
 *   node  0 app.cache (dict)   1 {*} (Order)   2 .lines (list)   3 .name (str)   4 app.log (list)
 *   depth 0                    1               2                 2               0
 *
 * Nodes are in preorder, of each the child that holds most first. All bytes and objects are in one
 * of them: where there are too many paths, those that hold least are part of their parents, and
 * such roots one node at the end. Where holders are not known, a tree of one root that says so, and
 * a frame for each type below it.
 */
#ifndef PIEPROFD_DAEMON_HEAP_HEAP_TREE_H
#define PIEPROFD_DAEMON_HEAP_HEAP_TREE_H

#include "pyintrospect/heap/heap_snapshot.h"

/* Deeper ones are part of those that far in: stacks are written out whole, for each node. */
#define HEAP_TREE_DEPTH_MAX 64
/* For files that others read. */
#define HEAP_TREE_NODES_MAX 100000

/* Words of a frame, with their end. */
#define HEAP_FRAME_BYTES (HEAP_STEP_BYTES + HEAP_NAME_BYTES + 4)

struct heap_frame {
	const char *step; /* "": a type alone */
	const char *type; /* "": none */
};

struct heap_node {
	uint32_t frame, depth;
	uint64_t bytes, count;           /* right here, and below what is left out */
	uint64_t held_bytes, held_count; /* with all below */
};

struct heap_tree {
	struct heap_frame *frames; /* each once; words are the snapshot's */
	size_t frame_count;
	struct heap_node *nodes;
	size_t node_count;
	size_t folded; /* paths that are part of others: those that hold least */
};

/* At most limit nodes, and one for smaller roots, or that says that there are no holders. The
 * snapshot must live as long. 0 or -ENOMEM; then nothing is there. */
__attribute__((warn_unused_result)) int heap_tree_init(struct heap_tree *tree,
						       const struct heap_snapshot *snapshot,
						       size_t limit);
void heap_tree_deinit(struct heap_tree *tree);

/* "app.cache (dict)". Not escaped. */
void heap_frame_words(const struct heap_frame *frame, char words[HEAP_FRAME_BYTES]);

#endif

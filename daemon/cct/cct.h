/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The calling context tree: one for all threads, a node for each distinct
 * path from the outermost frame. Nodes live until the tree does and keep
 * their address. Children are found through one hash table keyed by (parent,
 * frame), so that wide nodes cost nothing.
 */
#ifndef PIEPROFD_DAEMON_CCT_CCT_H
#define PIEPROFD_DAEMON_CCT_CCT_H

#include "daemon/cct/frame.h"
#include "daemon/cct/side_time.h"
#include "daemon/cct/time_class.h"

struct cct_node {
	struct cct_node *parent;      /* NULL: the root, which has no frame */
	struct cct_node *first_child; /* in order of creation, newest first */
	struct cct_node *next_sibling;
	struct frame frame;
	uint32_t id;                        /* order of creation; the root is 0 */
	uint32_t depth;                     /* the root's is 0 */
	uint64_t samples[TIME_CLASS_COUNT]; /* that ended here */
	uint64_t time_ns[TIME_CLASS_COUNT];
	struct side_time side;
};

struct cct;

/* node_limit caps the tree. NULL: out of memory. */
struct cct *cct_create(size_t node_limit);
void cct_destroy(struct cct *cct);
struct cct_node *cct_root(struct cct *cct);
size_t cct_node_count(const struct cct *cct);
const struct cct_node *cct_node(const struct cct *cct, uint32_t id);

/* The node of this stack (outermost frame first), created as needed; NULL: limit reached or no
 * memory. */
struct cct_node *cct_insert(struct cct *cct, const struct frame *frames, size_t count);

/*
 * Brings the nodes [first, first + count) of a copy up to date, those that it
 * has not yet included; first is at most its number of nodes. The copy is a tree
 * by cct_create() that nothing was inserted into, and nothing can be: it is for
 * reading. Its nodes have the ids of the originals. 0 or -ENOMEM.
 */
__attribute__((warn_unused_result)) int cct_copy_nodes(struct cct *copy, const struct cct *cct,
						       size_t first, size_t count);

/* What was charged to a node until some moment. */
struct cct_figures {
	uint32_t id;
	uint64_t samples[TIME_CLASS_COUNT];
	uint64_t time_ns[TIME_CLASS_COUNT];
	struct side_time side;
};

/* Takes these out of a copy, which then shows what came after; ids it lacks are passed over. */
void cct_subtract(struct cct *copy, const struct cct_figures *figures, size_t count);

/* Charges samples that stand for time_ns in all. */
void cct_node_charge(struct cct_node *node, enum time_class time_class, uint64_t samples,
		     uint64_t time_ns);

#endif

/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What grew from look to look: containers that have more and more in them, and the paths below
 * which there is more and more. Numbers are of the last look that was added to the growth.
 */
#ifndef PIEPROFD_DAEMON_HEAP_HEAP_GROWER_H
#define PIEPROFD_DAEMON_HEAP_HEAP_GROWER_H

#include "daemon/heap/heap_growth.h"

/* Steps up that make a container a growing one. */
#define HEAP_GROWER_RISES_MIN 3

struct heap_grower {
	uint32_t container; /* of the snapshot's containers */
	uint32_t path;
	const struct heap_row *row; /* its lengths; borrowed of the growth */
	struct heap_trend trend;    /* of its length */
	double bytes;               /* that its path leads to more; of several, its share */
};

/*
 * The containers that grow, those first that most bytes more hang on, at most limit. *ret_growers
 * is the caller's to free. 0 or -ENOMEM.
 */
__attribute__((warn_unused_result)) int heap_growers_find(const struct heap_growth *growth,
							  const struct heap_snapshot *last,
							  size_t limit,
							  struct heap_grower **ret_growers,
							  size_t *ret_count);

struct heap_growing_path {
	uint32_t path;
	int64_t bytes; /* gained by all that it leads to */
	double bytes_per_s;
	double count_per_s; /* objects right there */
};

/*
 * Roots below which there is more, each as far as most of it goes one way, and no further than to
 * where there are more and more objects; likewise.
 */
__attribute__((warn_unused_result)) int heap_growing_paths_find(
	const struct heap_growth *growth, const struct heap_snapshot *last, size_t limit,
	struct heap_growing_path **ret_paths, size_t *ret_count);

struct heap_growing_type {
	uint32_t type; /* of the snapshot's types */
	uint32_t block_bytes;
	int64_t bytes; /* gained, with storage */
	double per_s;  /* objects */
};

/*
 * Types with more and more objects, each in a block of pymalloc's, all of one size; likewise. The
 * first one is a class that Python code made, if there is one: its objects are fewer, and say more.
 * Types with items in themselves, which are of many sizes, are what most objects are that come and
 * go: of these the one of which the objects at a path are is taken, by size, and before others;
 * path 0: none.
 */
__attribute__((warn_unused_result)) int heap_growing_types_find(
	const struct heap_growth *growth, const struct heap_snapshot *last, uint32_t path,
	size_t limit, struct heap_growing_type **ret_types, size_t *ret_count);

#endif

/* SPDX-License-Identifier: Apache-2.0 */
/* Where the memory of a process is: parts that add up to what it has in RAM. */
#ifndef PIEPROFD_PYINTROSPECT_HEAP_HEAP_REGIONS_H
#define PIEPROFD_PYINTROSPECT_HEAP_HEAP_REGIONS_H

#include "pyintrospect/heap/heap_nodes.h"

struct heap_regions {
	uint64_t rss_bytes;           /* the sum of those that follow */
	uint64_t objects_bytes;       /* Python objects, and what of pools they use beside */
	uint64_t pool_free_bytes;     /* in pools that are in use: free blocks, heads, tails */
	uint64_t malloc_held_bytes;   /* by objects */
	uint64_t malloc_unheld_bytes; /* by nobody known; blocks of pools, too */
	uint64_t free_bytes;          /* free for malloc, and pools without an object */
	uint64_t libraries_bytes;     /* programs, libraries and other files, their data */
	uint64_t stacks_bytes;
	uint64_t other_bytes; /* anonymous or shared, of no kind that is known, or of an allocator
				 that is not read */
};

/*
 * path_of: by node, 0 for what nothing holds; NULL: not known, then all raw memory is held. 0 or
 * -ENOMEM.
 */
__attribute__((warn_unused_result)) int heap_regions_add_up(const struct heap_nodes *nodes,
							    const uint32_t *path_of,
							    struct heap_regions *ret_regions);

#endif

/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Every block of memory by a number, its node: first those of pools, which are pymalloc's or pages
 * of mimalloc's (heap_mimalloc.h), then chunks, which are glibc's or mimalloc's large blocks, by
 * address, then what is found by references alone (heap_found.h).
 *
 *   node  0 1 2 3 | 4 5 6 ... | ... | first_chunk ... | first_found ...
 *         pool 0    pool 1            chunk 0 ...
 *
 * Each has a kind: free, raw, or the number of its type (heap_type.h).
 */
#ifndef PIEPROFD_PYINTROSPECT_HEAP_HEAP_NODES_H
#define PIEPROFD_PYINTROSPECT_HEAP_HEAP_NODES_H

#include "pyintrospect/heap/heap_found.h"
#include "pyintrospect/heap/heap_image.h"

/* Of one process: 64 GB of the smallest blocks are as many. */
#define HEAP_NODES_MAX 0xfffffff0u
#define HEAP_NODE_NONE 0xffffffffu

enum heap_node_kind {
	HEAP_NODE_FREE,
	HEAP_NODE_RAW,        /* memory in use that is no object */
	HEAP_NODE_CACHED,     /* an object's remains, which the interpreter will use again */
	HEAP_NODE_FIRST_TYPE, /* and so on */
};

/* Blocks of one size, in a row. */
struct heap_pool {
	remote_addr address;
	uint32_t bytes; /* all of it */
	uint32_t first_node;
	uint32_t block_bytes;
	uint16_t head;    /* before the first block */
	uint16_t carved;  /* blocks that were ever handed out, which are nodes */
	uint16_t free;    /* of these */
	uint8_t contents; /* enum heap_contents */
	bool empty;       /* no block in use; none is a node */
	bool ascii;       /* of its strings none is of more than ASCII */
	bool debug;       /* its blocks have heads of the debug allocator (heap_debug.h) */
	bool torn;        /* what it says of itself does not agree, however often it was read */
};

enum heap_chunk_state {
	HEAP_CHUNK_FREE,
	HEAP_CHUNK_USED,
	HEAP_CHUNK_CACHED, /* free, in a thread's cache or a fast bin */
	HEAP_CHUNK_TOP,
	HEAP_CHUNK_MAPPED, /* used, a mapping of its own */
	HEAP_CHUNK_PAGE,   /* used, a page of mimalloc's, without a head */
};

/* What malloc returned, and what may be used from there. */
struct heap_chunk {
	remote_addr address;
	uint64_t size;
	uint8_t state;
	uint8_t contents;    /* enum heap_contents */
	uint8_t debug_heads; /* what is too large for a pool has two, one in the other */
};

/* Of arenas; there may be more. */
#define HEAP_ENDS_MAX 4

/* pool_bytes is a pool's size, or that of a part of one: where pools begin, and how they are found.
 */
struct heap_nodes {
	struct heap_image *image; /* borrowed */
	struct heap_pool *pools;
	size_t pool_count, pool_capacity;
	struct heap_chunk *chunks;
	size_t chunk_count, chunk_capacity;
	uint32_t pool_bytes, pool_shift;
	uint32_t first_chunk, count;
	size_t kind_capacity;
	uint16_t *kinds;      /* enum heap_node_kind, of each node */
	uint32_t *near_pools; /* of every 64th node, the pool */
	size_t torn, reread, broken_heaps;
	uint64_t objects; /* nodes that were judged to be one */
	size_t segments;  /* of mimalloc's */
	/* Of glibc's arenas, the words with the addresses at which their heaps end. */
	remote_addr ends[HEAP_ENDS_MAX];
	uint32_t end_count;
	bool cut; /* there are more than HEAP_NODES_MAX, or than may be found */
	/* Memory is another allocator's: what was found there, and how much may be. */
	bool foreign;
	uint32_t first_found; /* HEAP_NODE_NONE: nothing is to be found */
	uint32_t found_limit;
	struct heap_found found;
	/* Of a slice of the memory: where it ends, and the chunk and heap to go on with in the
	 * next. */
	remote_addr slice_end; /* 0: all of the memory is in hand */
	remote_addr resume, resume_end;
	remote_addr mapped_end; /* of a mapped chunk that began before the slice */
};

void heap_nodes_init(struct heap_nodes *nodes, struct heap_image *image, uint32_t pool_bytes);
void heap_nodes_deinit(struct heap_nodes *nodes);

/* More nodes of a kind, behind those that there are. -ENOMEM, -E2BIG. */
__attribute__((warn_unused_result)) int heap_nodes_add(struct heap_nodes *nodes, size_t count,
						       uint16_t kind);

/* After pools and chunks were found. 0 or -ENOMEM. */
__attribute__((warn_unused_result)) int heap_nodes_index(struct heap_nodes *nodes);

/* What is added from now on may be found. How many nodes there can be then. */
size_t heap_nodes_begin_finding(struct heap_nodes *nodes);

/*
 * Memory that allocators map: also behind a library's .bss, with which it is one mapping when the
 * kernel put it right there.
 */
bool heap_nodes_may_map(const struct heap_nodes *nodes, const struct heap_extent *extent);

/* Memory that may hold what is to be found: private, of no file, no stack, and in no pool. */
bool heap_nodes_is_foreign(const struct heap_nodes *nodes, const struct heap_extent *extent,
			   remote_addr address);

/*
 * A found block, of size bytes from prefix bytes before an address on, which is in no node.
 * HEAP_NODE_NONE: there is no room for it.
 */
uint32_t heap_nodes_add_found(struct heap_nodes *nodes, remote_addr at, uint64_t size,
			      uint8_t prefix, uint16_t kind);

/* The pool around an address of that extent; NULL: there is none. */
struct heap_pool *heap_nodes_pool(const struct heap_nodes *nodes, const struct heap_extent *extent,
				  remote_addr address);
static inline bool heap_nodes_in_pool(const struct heap_nodes *nodes,
				      const struct heap_extent *extent, remote_addr address)
{
	return heap_nodes_pool(nodes, extent, address);
}

/* Finds it from now on. 0 or -ENOMEM. */
__attribute__((warn_unused_result)) int heap_nodes_mark_pool(struct heap_nodes *nodes, size_t pool);

static inline uint64_t heap_pool_blocks_bytes(const struct heap_pool *pool)
{
	return (uint64_t)pool->carved * pool->block_bytes;
}

struct heap_block {
	remote_addr address;
	uint64_t size;
};

struct heap_block heap_nodes_block(const struct heap_nodes *nodes, uint32_t node);

struct heap_place {
	uint32_t node;
	uint64_t inside; /* how far inside of it the address is */
	uint64_t size;   /* of all of it */
	bool ascii;      /* what its pool says */
};

/* The node around an address; false: there is none. */
bool heap_nodes_locate(const struct heap_nodes *nodes, remote_addr address,
		       struct heap_place *ret_place);

/* The same; HEAP_NODE_NONE. */
uint32_t heap_nodes_find(const struct heap_nodes *nodes, remote_addr address, uint64_t *ret_inside);

/* The same among the chunks of an extent alone: its number among all chunks; HEAP_NODE_NONE. */
uint32_t heap_nodes_find_chunk(const struct heap_nodes *nodes, const struct heap_extent *extent,
			       remote_addr address, uint64_t *ret_inside);

#endif

/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Copies of pieces of the target's memory, taken for one reading of one
 * stack: ask for pieces (want), read them in one batch (fetch), look at them
 * (get). A piece is read once, however often it is asked for.
 *
 *   blocks[]  {address, size} -> arena
 *   index[]   hash of the address -> block      exact starts
 *   regions[] block numbers                     looked into, e.g. the data stack
 *   stack     the C stack's snapshot, free
 *
 * What was of use is remembered per thread (struct remote_recent), so that the
 * next reading asks for it at once, in its first batch. Nothing is allocated
 * after remote_copy_init(), except when a list of recent pieces grows.
 */
#ifndef PIEPROFD_PYINTROSPECT_REMOTE_COPY_H
#define PIEPROFD_PYINTROSPECT_REMOTE_COPY_H

#include "common/memory.h"
#include "common/stack_snapshot.h"

#define REMOTE_COPY_ARENA_BYTES  (1u << 20)
#define REMOTE_COPY_BLOCKS_MAX   2048
#define REMOTE_COPY_INDEX_SIZE   4096 /* a power of two, twice the blocks */
#define REMOTE_COPY_REGIONS_MAX  16
#define REMOTE_COPY_REGION_BYTES (64u << 10)

/* Readings after which a piece that was of no use is no longer asked for beforehand. */
#define REMOTE_RECENT_AGE_MAX    8
#define REMOTE_RECENT_BLOCKS_MAX 1536

struct remote_recent_block {
	remote_addr address;
	uint32_t size;
	uint8_t age;
	bool region;
};

struct remote_recent {
	struct remote_recent_block *blocks;
	size_t count, capacity;
};

enum remote_block_state {
	REMOTE_BLOCK_WANTED,
	REMOTE_BLOCK_READ,
	REMOTE_BLOCK_FAILED,
};

struct remote_block {
	remote_addr address;
	uint32_t size;
	uint32_t offset; /* in the arena */
	uint8_t state;   /* enum remote_block_state */
	uint8_t age;
	bool region;
	bool used;
};

struct remote_copy {
	const struct memory_reader *reader;
	const struct stack_snapshot *stack; /* may be NULL */
	uint8_t *arena;
	size_t arena_used;
	struct remote_block *blocks;
	struct memory_range *ranges;
	size_t count, fetched; /* blocks before fetched are READ or FAILED */
	uint16_t *index;       /* block number + 1; 0: free */
	uint16_t regions[REMOTE_COPY_REGIONS_MAX];
	size_t region_count;
};

__attribute__((warn_unused_result)) int remote_copy_init(struct remote_copy *copy,
							 const struct memory_reader *reader);
void remote_copy_deinit(struct remote_copy *copy);

/* Forgets all copies. stack (borrowed, may be NULL) serves what lies in it. */
void remote_copy_begin(struct remote_copy *copy, const struct stack_snapshot *stack);

/* Asks for a piece with the next fetch. -ENOSPC: no room for it in this reading. */
int remote_copy_want(struct remote_copy *copy, remote_addr address, size_t size);
/* The same for a piece to look into at any address. */
int remote_copy_want_region(struct remote_copy *copy, remote_addr address, size_t size);

/* Reads what was asked for, in one batch. 0 or the reader's error. */
__attribute__((warn_unused_result)) int remote_copy_fetch(struct remote_copy *copy);

/* A copy of size bytes at address, or NULL: not read, or unreadable. Valid until the next begin. */
const uint8_t *remote_copy_get(struct remote_copy *copy, remote_addr address, size_t size);

/* get, or else want, fetch and get. 0, -EFAULT, -ENOSPC or the reader's error. */
__attribute__((warn_unused_result)) int remote_copy_read(struct remote_copy *copy,
							 remote_addr address, size_t size,
							 const uint8_t **ret_bytes);

/* Of all pieces that were of use since begin: addresses and bytes. */
uint64_t remote_copy_hash(const struct remote_copy *copy);

/* Asks for what recent lists. */
void remote_copy_want_recent(struct remote_copy *copy, const struct remote_recent *recent);
/* Brings the list up to date with this reading. Out of memory: keeps what fits. */
void remote_copy_remember(const struct remote_copy *copy, struct remote_recent *recent);
void remote_recent_deinit(struct remote_recent *recent);

#endif

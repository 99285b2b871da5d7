/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A memory reader in front of another that reads aligned blocks and keeps
 * them: many small reads near each other become one. For as long as what is
 * read stands still, that is for one stop of a thread; then it must forget.
 */
#ifndef PIEPROFD_COMMON_BLOCK_CACHE_H
#define PIEPROFD_COMMON_BLOCK_CACHE_H

#include "common/memory.h"

#include <stdint.h>

#define BLOCK_CACHE_BLOCK_BYTES 256 /* of one page: all of it can be read, or nothing */
#define BLOCK_CACHE_BLOCKS      32

struct block_cache {
	const struct memory_reader *source;
	remote_addr addresses[BLOCK_CACHE_BLOCKS]; /* of what each block holds */
	uint8_t blocks[BLOCK_CACHE_BLOCKS][BLOCK_CACHE_BLOCK_BYTES];
};

/* source is borrowed. Holds nothing yet. */
void block_cache_init(struct block_cache *cache, const struct memory_reader *source);

/* What it holds may have changed. */
void block_cache_forget(struct block_cache *cache);

/* cache is borrowed. */
struct memory_reader block_cache_reader(struct block_cache *cache);

#endif

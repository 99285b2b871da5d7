/* SPDX-License-Identifier: Apache-2.0 */
/* Memory of a process that a test lays out word by word, and the heap that is found in it. */
#ifndef PIEPROFD_TESTS_UNIT_HEAP_MEMORY_H
#define PIEPROFD_TESTS_UNIT_HEAP_MEMORY_H

#include "pyintrospect/heap/heap_chunk.h"
#include "pyintrospect/heap/heap_layout.h"
#include "pyintrospect/heap/heap_pool.h"

#include <errno.h>
#include <string.h>

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#define BASE  0x7f0000000000ull
#define BYTES 0x40000ull

static uint64_t memory[BYTES / 8];

static inline void put(uint64_t offset, uint64_t value)
{
	assert_true(offset < BYTES && offset % 8 == 0);
	memory[offset / 8] = value;
}

static inline int read_memory(void *context, struct memory_range *ranges, size_t count)
{
	(void)context;
	for (size_t i = 0; i < count; i++) {
		uint64_t offset = ranges[i].address - BASE;

		ranges[i].error = offset > BYTES || ranges[i].size > BYTES - offset ? -EFAULT : 0;
		if (!ranges[i].error)
			memcpy(ranges[i].buffer, (uint8_t *)memory + offset, ranges[i].size);
	}
	return 0;
}

static inline int read_pages(void *context, remote_addr start, size_t count, uint8_t *ret_states)
{
	(void)context;
	for (size_t i = 0; i < count; i++)
		ret_states[i] =
			start + i * PAGE_BYTES - BASE < BYTES ? PAGE_PRESENT | PAGE_EXCLUSIVE : 0;
	return 0;
}

/* One mapping of all of the memory, copied. */
struct heap {
	struct mapping items[2]; /* a library's data, which nothing is read of, and the memory */
	struct mapping_list mappings;
	struct memory_reader reader;
	struct page_reader pages;
	struct heap_image image;
	struct heap_nodes nodes;
};

/* A library's data end where the memory begins. */
static bool behind_library;

/* The memory alone, in a mapping that may be longer. */
static inline void open_image(struct heap *heap, const char *path, uint32_t pool_bytes,
			      uint64_t mapped)
{
	const struct heap_image_options options = { .limit = 1u << 30 };

	*heap = (struct heap){
		.items = { { .start = BASE - BYTES,
			     .end = BASE,
			     .inode = 1,
			     .protection = 3,
			     .path = "/lib/libx.so" },
			   { .start = BASE, .end = BASE + mapped, .protection = 3, .path = path } },
		.reader = { read_memory, NULL },
		.pages = { read_pages, NULL },
	};
	heap->mappings =
		(struct mapping_list){ .mappings = behind_library ? heap->items : heap->items + 1,
				       .count = behind_library ? 2 : 1 };
	assert_int_equal(heap_image_init(&heap->image, &heap->reader, &heap->pages, &heap->mappings,
					 &options),
			 0);
	heap_nodes_init(&heap->nodes, &heap->image, pool_bytes);
}

/* foreign: as of heap_nodes. */
static inline void open_foreign_heap(struct heap *heap, const char *path, uint32_t pool_bytes,
				     bool foreign)
{
	open_image(heap, path, pool_bytes, BYTES);
	heap->nodes.foreign = foreign;
	assert_int_equal(heap_pool_find_all(&heap->nodes), 0);
	assert_int_equal(heap_nodes_index(&heap->nodes), 0);
	assert_int_equal(heap_chunk_find_all(&heap->nodes), 0);
}

static inline void open_heap(struct heap *heap, const char *path, uint32_t pool_bytes)
{
	open_foreign_heap(heap, path, pool_bytes, false);
}

static inline void close_heap(struct heap *heap)
{
	heap_nodes_deinit(&heap->nodes);
	heap_image_deinit(&heap->image);
}

/* carved blocks, of which those at the numbers in free_ones are in the list. */
static inline void put_pool(uint64_t at, uint32_t pool_bytes, uint32_t block, uint32_t carved,
			    const uint32_t *free_ones, size_t free_count)
{
	uint64_t link = at + 8;

	put(at, carved - free_count);
	put(at + 32, (uint64_t)(block / 16 - 1) << 32);
	put(at + 40, (POOL_HEAD + (uint64_t)carved * block) | (uint64_t)(pool_bytes - block) << 32);
	for (size_t i = 0; i < free_count; i++) {
		uint64_t block_at = at + POOL_HEAD + (uint64_t)free_ones[i] * block;

		put(link, BASE + block_at);
		link = block_at;
	}
	put(link, 0);
}

#define TYPES 0x8000
#define NAMES 0xf000

static inline remote_addr put_type(unsigned number, const char *name, uint64_t flags,
				   uint64_t basic, uint64_t item)
{
	uint64_t at = TYPES + (uint64_t)number * 0x400, text = NAMES + (uint64_t)number * 64;

	put(at, 1);
	put(at + OBJECT_TYPE, BASE + TYPES);
	put(at + TYPE_NAME, BASE + text);
	put(at + TYPE_BASIC, basic);
	put(at + TYPE_ITEM, item);
	put(at + TYPE_FLAGS_AT, flags | FLAG_READY);
	memcpy((uint8_t *)memory + text, name, strlen(name) + 1);
	return BASE + at;
}

#endif

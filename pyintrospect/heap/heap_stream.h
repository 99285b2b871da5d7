/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Types and regions alone, from slices of the memory that are copied one after the other: for a
 * process whose memory is more than may be copied at once.
 *
 *   | slice | slice | slice ...      each: pools, chunks, objects; counted, and forgotten
 *
 * What belongs to whom is not looked for: raw memory counts as held, and how much an object
 * uses beside its own block is told by its head.
 */
#ifndef PIEPROFD_PYINTROSPECT_HEAP_HEAP_STREAM_H
#define PIEPROFD_PYINTROSPECT_HEAP_HEAP_STREAM_H

#include "pyintrospect/heap/heap_regions.h"
#include "pyintrospect/heap/heap_type.h"

/* As much as a segment of mimalloc's, which is in one of them. */
#define HEAP_SLICE_BYTES (32u << 20)

struct heap_stream {
	const struct memory_reader *reader;
	const struct page_reader *pages;
	const struct mapping_list *mappings;
	const struct heap_image_options *options; /* its limit and range are not used */
	struct heap_types *types;                 /* counted there */
	bool foreign;                             /* as that of heap_nodes */
	/* Sums of all slices. */
	struct heap_regions regions;
	uint64_t pools, torn_pools, reread_pools, pool_block_bytes, broken_heaps;
	uint64_t copied_bytes, skipped_bytes, swapped_bytes;
};

/* 0, -ENOMEM, or what a reader said. */
__attribute__((warn_unused_result)) int heap_stream_count(struct heap_stream *stream);

#endif

/* SPDX-License-Identifier: Apache-2.0 */
/*
 * How mimalloc's segments lie in memory, of the versions that CPython brings along, x86-64 builds
 * without assertions: that of 3.13 (2.1.2, Include/internal/mimalloc/mimalloc/types.h), and the
 * newer one of 3.14.10 and 3.15.2, of which free-threaded builds are not known. They are told apart
 * by what a segment says of itself. Pure.
 *
 *   32 MiB       | head, a table of slices | slice | slice | slice ...      64 KiB each
 *                                            page    page -------
 *
 * A page is one or more slices, and has blocks of one size. It has lists of those that are free:
 * from which it is allocated, what its own thread freed since, and what others did. A block of more
 * than 16 MiB is a segment, and a page, of its own.
 */
#ifndef PIEPROFD_PYINTROSPECT_HEAP_HEAP_SEGMENT_H
#define PIEPROFD_PYINTROSPECT_HEAP_HEAP_SEGMENT_H

#include "common/address.h"

#include <stdbool.h>
#include <stdint.h>

#define HEAP_SEGMENT_BYTES (32ull << 20) /* and each begins at a multiple of that */
#define HEAP_SEGMENT_SLICE (64ull << 10)
/* Before the table of slices, in 3.13; and the most that is needed of any. */
#define HEAP_SEGMENT_HEAD       264u
#define HEAP_SEGMENT_HEAD_NEWER 288u
#define HEAP_SEGMENT_HEAD_MAX   HEAP_SEGMENT_HEAD_NEWER
/* Of the table of slices; their entries are longer in free-threaded builds. */
#define HEAP_SEGMENT_SLICES_MAX  512u
#define HEAP_SLICE_ENTRY         80u
#define HEAP_SLICE_ENTRY_THREADS 96u
#define HEAP_SLICE_ENTRY_NEWER   96u
#define HEAP_SEGMENT_TABLE_MAX                                                                     \
	(HEAP_SEGMENT_HEAD_MAX + HEAP_SEGMENT_SLICES_MAX * HEAP_SLICE_ENTRY_THREADS)
/* mi_heap_t.thread_delayed_free: blocks of full pages that other threads freed. */
#define HEAP_DELAYED_AT       2840u
#define HEAP_DELAYED_AT_NEWER 8u

/* What CPython has its heaps say of themselves in free-threaded builds; elsewhere it is 0. */
enum heap_page_tag {
	HEAP_PAGE_MEMORY,
	HEAP_PAGE_OBJECTS,
	HEAP_PAGE_COLLECTED,
	HEAP_PAGE_MANAGED, /* collected, with two words before each */
};

struct heap_segment {
	uint64_t bytes;   /* all of it */
	uint32_t entries; /* of the table */
	uint32_t first;   /* of its slices that may be a page's */
	bool huge;        /* one page, of all slices that there are */
	bool newer;       /* than 3.13's */
	uint32_t table;   /* where it is */
	uint32_t entry_bytes;
	uint32_t delayed_at; /* HEAP_DELAYED_AT */
};

struct heap_page {
	uint32_t slices; /* 0: it is not whole, or part of another one */
	bool used;       /* it is a page; else these slices are free */
	uint8_t tag;
	uint32_t capacity; /* blocks that were ever handed out */
	uint32_t in_use;   /* as mimalloc counts: with those in others_free */
	uint64_t block_bytes;
	uint32_t head; /* bytes before the first block */
	remote_addr free, own_free, others_free;
	remote_addr heap; /* whose page it is; 0: a thread's that has ended */
};

/* From its first HEAP_SEGMENT_HEAD_MAX bytes. False: it is none. */
bool heap_segment_parse(const uint8_t *head, bool free_threaded, struct heap_segment *ret_segment);

/*
 * From the entry of its table, of the segment at an address. False: it does not fit into the
 * segment from there on.
 */
bool heap_segment_page(const struct heap_segment *segment, remote_addr address, uint32_t slice,
		       const uint8_t *entry, struct heap_page *ret_page);

#endif

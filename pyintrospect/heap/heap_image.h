/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A copy of the memory that is a process's own, taken while it runs, and what the pages of
 * all its mappings are.
 *
 *   mapping   |PP..PPPP............................PP|     P: in memory, private
 *   extents   |--------|                          |--|     small gaps are zeros
 *
 * Pages that were never touched, or are swapped out, are not read: that would change the
 * target. Pages of files and shared ones are counted, not copied. Everything the target
 * decides is bounded; what is left out is counted.
 */
#ifndef PIEPROFD_PYINTROSPECT_HEAP_HEAP_IMAGE_H
#define PIEPROFD_PYINTROSPECT_HEAP_HEAP_IMAGE_H

#include "common/mapping.h"
#include "common/memory.h"
#include "common/page_state.h"

/* Of which the states are asked for, as address space: 256 GiB. */
#define HEAP_PAGES_MAX   (1ull << 26)
#define HEAP_EXTENTS_MAX (1u << 18)

enum heap_area {
	HEAP_AREA_ANONYMOUS, /* may hold pools, chunks, anything */
	HEAP_AREA_BREAK,     /* [heap] */
	HEAP_AREA_DATA,      /* written pages of files, and what follows them (.data, .bss) */
	HEAP_AREA_STACK,     /* of the main thread or another */
};
#define HEAP_AREAS 4

struct heap_extent {
	remote_addr start, end; /* whole pages */
	uint8_t *bytes;         /* end - start of them; zeros where nothing was read */
	uint8_t *states;        /* enum page_state of each page */
	enum heap_area area;
	uint32_t mapping; /* its number in the list of mappings */
	bool after_hole;  /* not at its mapping's start */
	/* Where pools may be: one number each, of the pool + 1 (heap_pool.h). */
	remote_addr first_pool;
	uint32_t pool_slots;
	uint32_t *pools;
	/* The chunks inside, and the first one at or behind each page (heap_chunk.h). */
	uint32_t first_chunk, end_chunk;
	uint32_t *chunk_of_page;
};

/*
 * Room for what is read of the process itself instead of out of the copy, until it is used anew.
 * Pages that are not in memory are not read.
 */
#define HEAP_FRESH_BYTES (1u << 20)
#define HEAP_FRESH_PAGES 256

struct heap_fresh {
	uint8_t *room; /* HEAP_FRESH_BYTES of it */
	size_t used;
	remote_addr present[HEAP_FRESH_PAGES]; /* pages that were in memory, by their number */
};

struct heap_image {
	const struct memory_reader *reader;
	const struct page_reader *pages;
	const struct mapping_list *mappings;
	struct heap_extent *extents;
	struct heap_extent *largest;
	size_t extent_count, extent_capacity;
	uint32_t **places; /* by 1 GiB, then 1 MiB: the first extent that ends behind it, + 1 */
	uint8_t *bytes;    /* of all extents */
	bool borrowed;     /* they are in somebody's room */
	/* heap_image_at() and what builds on it read the process, and not the copy; NULL: they
	 * don't. */
	struct heap_fresh *fresh;
	size_t size;
	uint64_t private_bytes; /* in memory, to be copied */
	uint64_t file_bytes;    /* in memory, of files */
	uint64_t shared_bytes;  /* in memory, shared without a file of its own */
	uint64_t unread_bytes;  /* in memory, private, of mappings that may not be read */
	uint64_t swapped_bytes;
	uint64_t copied_bytes;
	uint64_t skipped_bytes; /* of address space, behind HEAP_PAGES_MAX; or not to be read */
};

struct heap_image_options {
	const remote_addr *stacks; /* addresses in threads' stacks */
	size_t stack_count;
	uint64_t limit;            /* private bytes to copy at most */
	struct address_range only; /* looked at; end 0: everywhere */
	/* What the kernel counts as the process's own in RAM; 0: not known. */
	uint64_t anonymous_bytes;
	/* Where the copy is put, if it has room for it: pages that are used again need not be
	 * cleared by the kernel first. Borrowed until the image's end; NULL: nowhere. */
	uint8_t *room;
	uint64_t room_bytes;
};

/*
 * Looks at all mappings, and copies. reader, pages and mappings are borrowed. 0; -E2BIG:
 * more than the limit, nothing is copied, but counted; -ENOMEM, or what a reader said.
 * Deinit it in any case.
 */
__attribute__((warn_unused_result)) int heap_image_init(struct heap_image *image,
							const struct memory_reader *reader,
							const struct page_reader *pages,
							const struct mapping_list *mappings,
							const struct heap_image_options *options);
void heap_image_deinit(struct heap_image *image);

struct heap_extent *heap_image_search(const struct heap_image *image, remote_addr address);

/* The extent around an address; NULL: none was copied. Most of what is looked for is in one. */
static inline struct heap_extent *heap_image_find(const struct heap_image *image,
						  remote_addr address)
{
	struct heap_extent *largest = image->largest;

	if (largest && address - largest->start < largest->end - largest->start)
		return largest;
	return heap_image_search(image, address);
}

/* The first extent that ends behind an address; their end: none does. */
struct heap_extent *heap_image_next(const struct heap_image *image, remote_addr address);

/* The copy of these bytes; NULL: not all of them are in one extent. */
const uint8_t *heap_image_at(const struct heap_image *image, remote_addr address, uint64_t size);

/* Out of the copy, or else of the target. 0 or what the reader said. */
__attribute__((warn_unused_result)) int heap_image_read(const struct heap_image *image,
							remote_addr address, void *buffer,
							size_t size);
/* A word of it, 0 where it is not to be had. */
uint64_t heap_image_word(const struct heap_image *image, remote_addr address);

/* Reads a piece again, such as a pool that was caught between two states. */
__attribute__((warn_unused_result)) int heap_image_reread(struct heap_image *image,
							  remote_addr address, size_t size);

/* How much of this piece of an extent is in memory. */
uint64_t heap_extent_resident(const struct heap_extent *extent, remote_addr address, uint64_t size);

#endif

/* SPDX-License-Identifier: Apache-2.0 */
#include "pyintrospect/heap/heap_image.h"

#include "common/array.h"
#include "pyintrospect/field.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#define PAGES_A_LOOK 4096
/* Absent pages between two that are there: zeros of ours cost nothing. */
#define GAP_PAGES 256
/* Extents begin and end where a pool may. */
#define EXTENT_ALIGNMENT (4 * PAGE_BYTES)
#define COPY_BYTES       (1u << 20)
#define COPIES_A_BATCH   64

#define ADDRESS_BITS 47
#define LARGE_BITS   30
#define SMALL_BITS   20
#define LARGE_PLACES (1u << (ADDRESS_BITS - LARGE_BITS))
#define SMALL_PLACES (1u << (LARGE_BITS - SMALL_BITS))

/* ---- which mapping is what */

static bool is_named(const struct mapping *mapping, const char *start)
{
	return !strncmp(mapping->path, start, strlen(start));
}

/* Memory shared without a file on a disk. */
static bool is_shared(const struct mapping *mapping)
{
	return is_named(mapping, "/dev/zero") || is_named(mapping, "/SYSV") ||
	       is_named(mapping, "/memfd:") || is_named(mapping, "/dev/shm/");
}

static bool holds_stack(const struct mapping *mapping, const struct heap_image_options *options)
{
	for (size_t i = 0; i < options->stack_count; i++)
		if (options->stacks[i] >= mapping->start && options->stacks[i] < mapping->end)
			return true;
	return is_named(mapping, "[stack");
}

static enum heap_area area_of(const struct heap_image *image, size_t number,
			      const struct heap_image_options *options)
{
	const struct mapping *mapping = &image->mappings->mappings[number];
	const struct mapping *before = number ? mapping - 1 : NULL;

	if (mapping->inode)
		return HEAP_AREA_DATA;
	if (is_named(mapping, "[heap]"))
		return HEAP_AREA_BREAK;
	if (holds_stack(mapping, options))
		return HEAP_AREA_STACK;
	/* .bss */
	if (before && before->inode && before->end == mapping->start &&
	    before->protection & PROT_WRITE)
		return HEAP_AREA_DATA;
	return HEAP_AREA_ANONYMOUS;
}

/* ---- extents */

struct scan {
	struct heap_image *image;
	const struct mapping *mapping;
	struct heap_extent extent; /* being made; end == 0: none */
	size_t state_capacity;
	uint64_t limit;
	struct address_range only;
	bool copies; /* what is there is within the limit so far */
};

static int end_extent(struct scan *scan)
{
	struct heap_image *image = scan->image;
	struct heap_extent *extent = &scan->extent;

	if (!extent->end)
		return 0;
	if (image->extent_count == HEAP_EXTENTS_MAX) {
		image->skipped_bytes += extent->end - extent->start;
		free(extent->states);
		*extent = (struct heap_extent){ .area = extent->area, .mapping = extent->mapping };
		return 0;
	}
	if (!ARRAY_ROOM(image->extents, image->extent_count, image->extent_capacity))
		return -ENOMEM;
	extent->after_hole = extent->start != scan->mapping->start;
	image->size += extent->end - extent->start;
	image->extents[image->extent_count++] = *extent;
	*extent = (struct heap_extent){ .area = extent->area, .mapping = extent->mapping };
	scan->state_capacity = 0;
	return 0;
}

/* Up to this address, with pages that are not there. */
static int extend(struct scan *scan, remote_addr end)
{
	struct heap_extent *extent = &scan->extent;
	size_t used = (extent->end - extent->start) / PAGE_BYTES;
	size_t wanted = (end - extent->start) / PAGE_BYTES;

	if (wanted > scan->state_capacity) {
		size_t larger =
			scan->state_capacity * 2 > wanted ? scan->state_capacity * 2 : wanted + 16;
		uint8_t *grown = realloc(extent->states, larger);

		if (!grown)
			return -ENOMEM;
		extent->states = grown;
		scan->state_capacity = larger;
	}
	if (wanted > used) {
		memset(extent->states + used, 0, wanted - used);
		extent->end = end;
	}
	return 0;
}

static remote_addr aligned_down(const struct scan *scan, remote_addr address)
{
	address -= address % EXTENT_ALIGNMENT;
	if (address < scan->only.start)
		address = scan->only.start;
	return address > scan->mapping->start ? address : scan->mapping->start;
}

static remote_addr aligned_up(const struct scan *scan, remote_addr address)
{
	address += EXTENT_ALIGNMENT - 1;
	address -= address % EXTENT_ALIGNMENT;
	if (address > scan->only.end)
		address = scan->only.end;
	return address < scan->mapping->end ? address : scan->mapping->end;
}

static int add_page(struct scan *scan, remote_addr page, uint8_t state)
{
	struct heap_extent *extent = &scan->extent;
	int error = 0;

	if (!scan->copies)
		return 0;
	if (extent->end && page > extent->end + (uint64_t)GAP_PAGES * PAGE_BYTES)
		error = end_extent(scan);
	if (error)
		return error;
	if (!extent->end)
		extent->start = extent->end = aligned_down(scan, page);
	error = extend(scan, aligned_up(scan, page + PAGE_BYTES));
	if (!error)
		extent->states[(page - extent->start) / PAGE_BYTES] = state;
	return error;
}

static int scan_page(struct scan *scan, remote_addr page, uint8_t state)
{
	struct heap_image *image = scan->image;

	if (state & PAGE_SWAPPED)
		image->swapped_bytes += PAGE_BYTES;
	if (!(state & PAGE_PRESENT))
		return 0;
	if (state & PAGE_OF_FILE) {
		if (is_shared(scan->mapping))
			image->shared_bytes += PAGE_BYTES;
		else
			image->file_bytes += PAGE_BYTES;
		return 0;
	}
	if (!(scan->mapping->protection & PROT_READ)) {
		image->unread_bytes += PAGE_BYTES;
		return 0;
	}
	image->private_bytes += PAGE_BYTES;
	scan->copies &= image->private_bytes <= scan->limit;
	return add_page(scan, page, state);
}

static int scan_mapping(struct scan *scan, uint64_t *pages_left)
{
	const struct mapping *mapping = scan->mapping;
	uint8_t states[PAGES_A_LOOK];
	remote_addr first = mapping->start > scan->only.start ? mapping->start : scan->only.start;
	remote_addr end = mapping->end < scan->only.end ? mapping->end : scan->only.end;
	uint64_t pages = first < end ? (end - first) / PAGE_BYTES : 0;
	int error;

	/* The kernel's own. */
	if (is_named(mapping, "[v") || mapping->end >> ADDRESS_BITS)
		return 0;
	if (pages > *pages_left) {
		scan->image->skipped_bytes += end - first;
		return 0;
	}
	*pages_left -= pages;
	for (uint64_t i = 0; i < pages; i += PAGES_A_LOOK) {
		const struct page_reader *reader = scan->image->pages;
		remote_addr start = first + i * PAGE_BYTES;
		size_t count = pages - i < PAGES_A_LOOK ? pages - i : PAGES_A_LOOK;

		error = reader->read(reader->context, start, count, states);
		for (size_t k = 0; k < count && !error; k++)
			if (states[k])
				error = scan_page(scan, start + k * PAGE_BYTES, states[k]);
		if (error)
			return error;
	}
	return end_extent(scan);
}

static int scan_mappings(struct heap_image *image, const struct heap_image_options *options)
{
	struct scan scan = {
		.image = image, .limit = options->limit, .only = options->only, .copies = true
	};
	uint64_t pages_left = HEAP_PAGES_MAX;
	int error = 0;

	if (!scan.only.end)
		scan.only.end = UINT64_MAX;

	for (size_t i = 0; i < image->mappings->count && !error; i++) {
		scan.mapping = &image->mappings->mappings[i];
		scan.extent.area = area_of(image, i, options);
		scan.extent.mapping = (uint32_t)i;
		error = scan_mapping(&scan, &pages_left);
	}
	free(scan.extent.states);
	return error ? error : scan.copies ? 0 : -E2BIG;
}

/* ---- places */

static int index_extents(struct heap_image *image)
{
	image->places = calloc(LARGE_PLACES, sizeof(*image->places));
	if (!image->places)
		return -ENOMEM;
	for (size_t i = 0; i < image->extent_count; i++) {
		struct heap_extent *extent = &image->extents[i];

		if (!image->largest ||
		    extent->end - extent->start > image->largest->end - image->largest->start)
			image->largest = extent;
		for (uint64_t at = extent->start >> SMALL_BITS;
		     at <= (extent->end - 1) >> SMALL_BITS; at++) {
			uint32_t **large = &image->places[at >> (LARGE_BITS - SMALL_BITS)];

			if (!*large)
				*large = calloc(SMALL_PLACES, sizeof(**large));
			if (!*large)
				return -ENOMEM;
			if (!(*large)[at % SMALL_PLACES])
				(*large)[at % SMALL_PLACES] = (uint32_t)i + 1;
		}
	}
	return 0;
}

struct heap_extent *heap_image_search(const struct heap_image *image, remote_addr address)
{
	const uint32_t *large;
	uint32_t number;

	if (address >> ADDRESS_BITS || !image->places)
		return NULL;
	large = image->places[address >> LARGE_BITS];
	number = large ? large[(address >> SMALL_BITS) % SMALL_PLACES] : 0;
	if (!number)
		return NULL;
	for (size_t i = number - 1; i < image->extent_count; i++) {
		struct heap_extent *extent = &image->extents[i];

		if (address < extent->start)
			return NULL;
		if (address < extent->end)
			return extent;
	}
	return NULL;
}

struct heap_extent *heap_image_next(const struct heap_image *image, remote_addr address)
{
	size_t first = 0, end = image->extent_count;

	/* They are in order, as mappings are. */
	while (first < end) {
		size_t middle = first + (end - first) / 2;

		if (image->extents[middle].end > address)
			end = middle;
		else
			first = middle + 1;
	}
	return image->extents + first;
}

static bool is_present(const struct heap_image *image, remote_addr page)
{
	remote_addr *known = &image->fresh->present[page / PAGE_BYTES % HEAP_FRESH_PAGES];
	uint8_t state = 0;

	if (*known == page)
		return true;
	if (image->pages->read(image->pages->context, page, 1, &state) || !(state & PAGE_PRESENT))
		return false;
	*known = page;
	return true;
}

static const uint8_t *read_fresh(const struct heap_image *image, remote_addr address, uint64_t size)
{
	struct heap_fresh *fresh = image->fresh;
	uint8_t *bytes = fresh->room + fresh->used;

	if (!size || size > HEAP_FRESH_BYTES - fresh->used || address >> ADDRESS_BITS ||
	    (address + size) >> ADDRESS_BITS)
		return NULL;
	for (remote_addr page = address - address % PAGE_BYTES; page < address + size;
	     page += PAGE_BYTES)
		if (!is_present(image, page))
			return NULL;
	if (memory_read(image->reader, address, bytes, size))
		return NULL;
	fresh->used += (size + sizeof(uint64_t) - 1) / sizeof(uint64_t) * sizeof(uint64_t);
	return bytes;
}

const uint8_t *heap_image_at(const struct heap_image *image, remote_addr address, uint64_t size)
{
	const struct heap_extent *extent;

	if (image->fresh)
		return read_fresh(image, address, size);
	extent = heap_image_find(image, address);
	if (!extent || size > extent->end - address)
		return NULL;
	return extent->bytes + (address - extent->start);
}

int heap_image_read(const struct heap_image *image, remote_addr address, void *buffer, size_t size)
{
	const uint8_t *bytes = heap_image_at(image, address, size);

	if (!bytes)
		return memory_read(image->reader, address, buffer, size);
	memcpy(buffer, bytes, size);
	return 0;
}

uint64_t heap_image_word(const struct heap_image *image, remote_addr address)
{
	const uint8_t *bytes = heap_image_at(image, address, sizeof(uint64_t));
	uint64_t word;

	if (bytes)
		return field_u64(bytes, 0);
	return memory_read_u64(image->reader, address, &word) ? 0 : word;
}

uint64_t heap_extent_resident(const struct heap_extent *extent, remote_addr address, uint64_t size)
{
	remote_addr end = size < extent->end - address ? address + size : extent->end;
	uint64_t resident = 0;

	while (address < end) {
		remote_addr next = address - address % PAGE_BYTES + PAGE_BYTES;

		if (next > end)
			next = end;
		if (extent->states[(address - extent->start) / PAGE_BYTES] & PAGE_PRESENT)
			resident += next - address;
		address = next;
	}
	return resident;
}

/* ---- the copy */

struct copying {
	struct heap_image *image;
	struct memory_range ranges[COPIES_A_BATCH];
	struct heap_extent *extents[COPIES_A_BATCH];
	size_t count;
};

/* As the kernel has it in fresh pages. */
static void clear_page(const struct heap_image *image, const struct heap_extent *extent,
		       size_t page)
{
	if (image->borrowed)
		memset(extent->bytes + page * PAGE_BYTES, 0, PAGE_BYTES);
}

/* Part of it is gone by now: page by page. */
static int copy_pages(struct copying *copying, size_t number)
{
	const struct memory_range *range = &copying->ranges[number];
	struct heap_extent *extent = copying->extents[number];

	for (size_t at = 0; at < range->size; at += PAGE_BYTES) {
		int error = memory_read(copying->image->reader, range->address + at,
					(uint8_t *)range->buffer + at, PAGE_BYTES);

		if (error && error != -EFAULT)
			return error;
		if (error) {
			size_t page = (range->address + at - extent->start) / PAGE_BYTES;

			extent->states[page] = 0;
			clear_page(copying->image, extent, page);
		} else
			copying->image->copied_bytes += PAGE_BYTES;
	}
	return 0;
}

static int copy_batch(struct copying *copying)
{
	int error = copying->count ? memory_read_ranges(copying->image->reader, copying->ranges,
							copying->count)
				   : 0;

	for (size_t i = 0; i < copying->count && !error; i++) {
		if (copying->ranges[i].error)
			error = copy_pages(copying, i);
		else
			copying->image->copied_bytes += copying->ranges[i].size;
	}
	copying->count = 0;
	return error;
}

static int copy_extent(struct copying *copying, struct heap_extent *extent)
{
	size_t pages = (extent->end - extent->start) / PAGE_BYTES;
	int error = 0;

	for (size_t i = 0; i < pages && !error;) {
		size_t end = i;

		while (end < pages && extent->states[end] & PAGE_PRESENT &&
		       end - i < COPY_BYTES / PAGE_BYTES)
			end++;
		if (end == i) {
			clear_page(copying->image, extent, i++);
			continue;
		}
		copying->extents[copying->count] = extent;
		copying->ranges[copying->count++] = (struct memory_range){
			.address = extent->start + i * PAGE_BYTES,
			.buffer = extent->bytes + i * PAGE_BYTES,
			.size = (end - i) * PAGE_BYTES,
		};
		if (copying->count == COPIES_A_BATCH)
			error = copy_batch(copying);
		i = end;
	}
	return error;
}

static bool is_zero(const uint8_t *bytes)
{
	return !bytes[0] && !memcmp(bytes, bytes + 1, PAGE_BYTES - 1);
}

/*
 * Pages that were read only share the kernel's page of zeros, which belongs to nobody. So may those
 * of a huge page look, and what a child shares: more are dropped than the kernel counts in no case.
 */
static void drop_zero_pages(struct heap_image *image, struct heap_extent *extent,
			    uint64_t anonymous_bytes)
{
	size_t pages = (extent->end - extent->start) / PAGE_BYTES;

	for (size_t i = 0; i < pages && image->private_bytes > anonymous_bytes; i++) {
		if (!(extent->states[i] & PAGE_PRESENT) || extent->states[i] & PAGE_EXCLUSIVE ||
		    !is_zero(extent->bytes + i * PAGE_BYTES))
			continue;
		extent->states[i] = 0;
		image->private_bytes -= PAGE_BYTES;
	}
}

static int copy_all(struct heap_image *image, const struct heap_image_options *options)
{
	struct copying copying = { .image = image };
	uint8_t *bytes = options->room;
	int error = 0;

	image->borrowed = bytes && image->size <= options->room_bytes;
	if (!image->borrowed)
		bytes = mmap(NULL, image->size ? image->size : PAGE_BYTES, PROT_READ | PROT_WRITE,
			     MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
	if (bytes == MAP_FAILED)
		return -ENOMEM;
	image->bytes = bytes;
	for (size_t i = 0; i < image->extent_count; i++) {
		image->extents[i].bytes = bytes;
		bytes += image->extents[i].end - image->extents[i].start;
	}
	for (size_t i = 0; i < image->extent_count && !error; i++)
		error = copy_extent(&copying, &image->extents[i]);
	if (!error)
		error = copy_batch(&copying);
	for (size_t i = 0; i < image->extent_count && !error; i++)
		drop_zero_pages(image, &image->extents[i], options->anonymous_bytes);
	return error;
}

int heap_image_reread(struct heap_image *image, remote_addr address, size_t size)
{
	const struct heap_extent *extent = heap_image_find(image, address);

	if (!extent || size > extent->end - address)
		return -EFAULT;
	return memory_read(image->reader, address, extent->bytes + (address - extent->start), size);
}

int heap_image_init(struct heap_image *image, const struct memory_reader *reader,
		    const struct page_reader *pages, const struct mapping_list *mappings,
		    const struct heap_image_options *options)
{
	int error;

	*image = (struct heap_image){ .reader = reader, .pages = pages, .mappings = mappings };
	error = scan_mappings(image, options);
	if (!error)
		error = index_extents(image);
	return error ? error : copy_all(image, options);
}

void heap_image_deinit(struct heap_image *image)
{
	for (size_t i = 0; i < image->extent_count; i++) {
		free(image->extents[i].states);
		free(image->extents[i].pools);
		free(image->extents[i].chunk_of_page);
	}
	for (size_t i = 0; image->places && i < LARGE_PLACES; i++)
		free(image->places[i]);
	free(image->places);
	if (image->bytes && !image->borrowed)
		munmap(image->bytes, image->size ? image->size : PAGE_BYTES);
	free(image->extents);
	*image = (struct heap_image){ 0 };
}

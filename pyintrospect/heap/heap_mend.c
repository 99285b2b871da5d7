/* SPDX-License-Identifier: Apache-2.0 */
#include "pyintrospect/heap/heap_mend.h"

#include "common/array.h"
#include "common/hash.h"
#include "pyintrospect/heap/heap_layout.h"

#include <stdlib.h>
#include <string.h>

/* At most half full. */
#define NOTED_SLOTS (2 * HEAP_MENDS_MAX)
/* Of two states of an object so much is compared, behind its count of references. */
#define COMPARED 64u

void heap_mends_init(struct heap_mends *mends, const struct heap_nodes *nodes)
{
	*mends = (struct heap_mends){ .nodes = nodes };
}

void heap_mends_deinit(struct heap_mends *mends)
{
	free(mends->items);
	free(mends->noted);
	*mends = (struct heap_mends){ 0 };
}

static uint32_t slot_of(const struct heap_mends *mends, remote_addr address)
{
	uint32_t slot = hash_word(address) % NOTED_SLOTS;

	while (mends->noted[slot] && mends->noted[slot] != address)
		slot = (slot + 1) % NOTED_SLOTS;
	return slot;
}

static bool is_in(const struct heap_nodes *nodes, const struct heap_extent *extent,
		  remote_addr address)
{
	const struct mapping *mapping = &nodes->image->mappings->mappings[extent->mapping];

	return address >= mapping->start && address < mapping->end &&
	       (extent->area == HEAP_AREA_BREAK || heap_nodes_may_map(nodes, extent));
}

/* Also where a mapping had no pages yet, behind those that it had. */
static bool is_allocators(const struct heap_nodes *nodes, remote_addr address)
{
	const struct heap_image *image = nodes->image;
	const struct heap_extent *extent = heap_image_find(image, address);

	if (extent)
		return is_in(nodes, extent, address);
	extent = heap_image_next(image, address);
	return (extent < image->extents + image->extent_count && is_in(nodes, extent, address)) ||
	       (extent > image->extents && is_in(nodes, extent - 1, address));
}

bool heap_mends_wants(struct heap_mends *mends, remote_addr address)
{
	remote_addr page = address / PAGE_BYTES, *other = &mends->others[page % HEAP_MEND_OTHERS];

	if (*other == page || !mends->typed || mends->nodes->foreign || address % WORD_SIZE)
		return false;
	if (!is_allocators(mends->nodes, address)) {
		*other = page;
		return false;
	}
	return !mends->noted || !mends->noted[slot_of(mends, address)];
}

bool heap_mends_mark(struct heap_mends *mends, remote_addr address)
{
	if (!heap_mends_wants(mends, address))
		return false;
	if (!mends->noted)
		mends->noted = calloc(NOTED_SLOTS, sizeof(*mends->noted));
	if (!mends->noted || mends->noted_count == HEAP_MENDS_MAX) {
		mends->left_out++;
		return false;
	}
	mends->noted[slot_of(mends, address)] = address;
	mends->noted_count++;
	return true;
}

void heap_mends_note(struct heap_mends *mends, remote_addr address, uint32_t path, uint32_t step)
{
	if (!heap_mends_mark(mends, address))
		return;
	if (!ARRAY_ROOM(mends->items, mends->count, mends->capacity)) {
		mends->left_out++;
		return;
	}
	mends->items[mends->count++] = (struct heap_mend){ address, path, step };
}

bool heap_mends_differ(const struct heap_mends *mends, remote_addr address, uint64_t size)
{
	const uint8_t *now =
		heap_image_at(mends->nodes->image, address, size < COMPARED ? size : COMPARED);
	const struct heap_extent *extent = heap_image_find(mends->nodes->image, address);
	const uint64_t compared = size < COMPARED ? size : COMPARED;

	return now && extent && compared > WORD_SIZE && compared <= extent->end - address &&
	       memcmp(now + WORD_SIZE, extent->bytes + (address - extent->start) + WORD_SIZE,
		      compared - WORD_SIZE) != 0;
}

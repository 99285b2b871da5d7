/* SPDX-License-Identifier: Apache-2.0 */
#include "pyintrospect/heap/heap_stream.h"

#include "pyintrospect/dict_layout.h"
#include "pyintrospect/heap/heap_blocks.h"
#include "pyintrospect/heap/heap_judge.h"
#include "pyintrospect/heap/heap_storage.h"

#include <errno.h>
#include <stdlib.h>

#define SLICES_MAX (HEAP_PAGES_MAX * PAGE_BYTES / HEAP_SLICE_BYTES)

/* What goes on from one slice to the next. */
struct carried {
	remote_addr resume, resume_end;
	remote_addr chunk_end; /* of the last chunk, where it is in later slices */
	uint16_t chunk_kind;
};

static void count_objects(const struct heap_nodes *nodes, struct heap_types *types)
{
	uint8_t buffer[HEAP_JUDGED_BYTES];

	for (uint32_t node = 0; node < nodes->count; node++) {
		struct heap_block block;
		struct heap_type *type;
		const uint8_t *bytes;
		uint64_t before;

		if (nodes->kinds[node] < HEAP_NODE_FIRST_TYPE)
			continue;
		block = heap_nodes_block(nodes, node);
		type = &types->items[nodes->kinds[node]];
		type->count++;
		type->bytes += block.size;
		bytes = heap_judge_start(nodes, block, buffer);
		/* As much as any of the kinds looked into has. */
		before = type->prefix + types->layout.head_extra;
		if (bytes && block.size >= before + ARRAY_HEAD)
			type->storage_bytes +=
				heap_storage_bytes(types, type, bytes + type->prefix);
		else if (bytes && type->kind == HEAP_KIND_LIST && block.size >= before + LIST_HEAD)
			type->storage_bytes +=
				heap_storage_bytes(types, type, bytes + type->prefix);
		else if (bytes && type->kind == HEAP_KIND_DICT &&
			 block.size >= before + DICT_HEAD_SIZE)
			type->storage_bytes +=
				heap_storage_bytes(types, type, bytes + type->prefix);
	}
}

/* ---- a slice */

static void add_regions(struct heap_regions *sum, const struct heap_regions *more)
{
	sum->rss_bytes += more->rss_bytes;
	sum->objects_bytes += more->objects_bytes;
	sum->pool_free_bytes += more->pool_free_bytes;
	sum->malloc_held_bytes += more->malloc_held_bytes;
	sum->malloc_unheld_bytes += more->malloc_unheld_bytes;
	sum->free_bytes += more->free_bytes;
	sum->libraries_bytes += more->libraries_bytes;
	sum->stacks_bytes += more->stacks_bytes;
	sum->other_bytes += more->other_bytes;
}

/* What of a chunk of earlier slices is in this one was of no kind known there. */
static void move_carried(const struct heap_image *image, const struct carried *carried,
			 struct heap_regions *regions)
{
	uint64_t bytes = 0;

	for (size_t i = 0; i < image->extent_count; i++) {
		const struct heap_extent *extent = &image->extents[i];

		if (extent->start < carried->chunk_end)
			bytes += heap_extent_resident(extent, extent->start,
						      carried->chunk_end - extent->start);
	}
	if (bytes > regions->other_bytes)
		bytes = regions->other_bytes;
	regions->other_bytes -= bytes;
	if (carried->chunk_kind >= HEAP_NODE_FIRST_TYPE)
		regions->objects_bytes += bytes;
	else if (carried->chunk_kind == HEAP_NODE_RAW)
		regions->malloc_held_bytes += bytes;
	else
		regions->free_bytes += bytes;
}

static void carry_on(const struct heap_nodes *nodes, remote_addr end, struct carried *carried)
{
	carried->resume = nodes->resume;
	carried->resume_end = nodes->resume_end;
	if (carried->chunk_end <= end)
		carried->chunk_end = 0;
	for (size_t i = nodes->chunk_count; i-- > 0;) {
		const struct heap_chunk *chunk = &nodes->chunks[i];

		if (chunk->address + chunk->size <= end)
			break;
		carried->chunk_end = chunk->address + chunk->size;
		carried->chunk_kind = nodes->kinds[nodes->first_chunk + i];
	}
}

static int add_slice(struct heap_stream *stream, const struct heap_nodes *nodes,
		     const struct carried *carried)
{
	struct heap_regions regions;
	int error = heap_regions_add_up(nodes, NULL, &regions);

	if (error)
		return error;
	move_carried(nodes->image, carried, &regions);
	add_regions(&stream->regions, &regions);
	stream->pools += nodes->pool_count;
	stream->torn_pools += nodes->torn;
	stream->reread_pools += nodes->reread;
	stream->broken_heaps += nodes->broken_heaps;
	for (size_t i = 0; i < nodes->pool_count; i++)
		stream->pool_block_bytes +=
			(uint64_t)(nodes->pools[i].carved - nodes->pools[i].free) *
			nodes->pools[i].block_bytes;
	stream->copied_bytes += nodes->image->copied_bytes;
	stream->skipped_bytes += nodes->image->skipped_bytes;
	stream->swapped_bytes += nodes->image->swapped_bytes;
	return 0;
}

static int count_slice(struct heap_stream *stream, struct address_range range,
		       struct carried *carried, uint8_t *room)
{
	struct heap_image_options options = *stream->options;
	struct heap_nodes nodes;
	struct heap_image image;
	int error;

	options.only = range;
	options.limit = UINT64_MAX;
	options.anonymous_bytes = 0; /* of a slice nobody knows */
	options.room = room;
	options.room_bytes = HEAP_SLICE_BYTES;
	error = heap_image_init(&image, stream->reader, stream->pages, stream->mappings, &options);
	heap_nodes_init(&nodes, &image, stream->types->layout.pool_bytes);
	nodes.foreign = stream->foreign;
	nodes.slice_end = range.end;
	nodes.resume = carried->resume;
	nodes.resume_end = carried->resume_end;
	nodes.mapped_end = carried->chunk_end;
	if (!error)
		error = heap_blocks_find_all(&nodes, &stream->types->layout);
	if (!error) {
		stream->types->image = &image;
		heap_judge_all(&nodes, stream->types);
		count_objects(&nodes, stream->types);
		error = add_slice(stream, &nodes, carried);
		carry_on(&nodes, range.end, carried);
	}
	heap_nodes_deinit(&nodes);
	heap_image_deinit(&image);
	return error;
}

/* As many mappings as are together no more than a slice; of a larger one the next slice. */
static struct address_range next_range(const struct mapping_list *mappings, size_t *number,
				       remote_addr *at)
{
	const struct mapping *mapping = &mappings->mappings[*number];
	struct address_range range = { .start = *at > mapping->start ? *at : mapping->start };
	uint64_t left = HEAP_SLICE_BYTES;

	if (mapping->end - range.start > left) {
		/* Pools lie at multiples of their size. */
		range.end = range.start - range.start % HEAP_SLICE_BYTES + HEAP_SLICE_BYTES;
		*at = range.end;
		return range;
	}
	while (*number < mappings->count) {
		mapping = &mappings->mappings[*number];
		if (mapping->end - mapping->start > left && mapping->start > range.start)
			break;
		range.end = mapping->end;
		left -= mapping->end - mapping->start < left ? mapping->end - mapping->start : left;
		++*number;
	}
	*at = 0;
	return range;
}

int heap_stream_count(struct heap_stream *stream)
{
	const struct heap_image *image = stream->types->image;
	struct carried carried = { 0 };
	remote_addr at = 0;
	size_t number = 0;
	int error = 0;
	/* Without it, each slice has pages of its own. */
	uint8_t *room = malloc(HEAP_SLICE_BYTES);

	for (uint64_t i = 0; number < stream->mappings->count && !error; i++) {
		struct address_range range = next_range(stream->mappings, &number, &at);

		if (i < SLICES_MAX)
			error = count_slice(stream, range, &carried, room);
		else
			stream->skipped_bytes += range.end - range.start;
	}
	free(room);
	stream->types->image = image;
	return error;
}

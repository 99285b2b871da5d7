/* SPDX-License-Identifier: Apache-2.0 */
#include "pyintrospect/heap/heap_stream.h"

#include "pyintrospect/dict_layout.h"
#include "pyintrospect/field.h"
#include "pyintrospect/heap/heap_chunk.h"
#include "pyintrospect/heap/heap_judge.h"
#include "pyintrospect/heap/heap_pool.h"

#include <errno.h>

#define SLICES_MAX     (HEAP_PAGES_MAX * PAGE_BYTES / HEAP_SLICE_BYTES)
#define TABLE_BELIEVED (1ull << 40)
#define DIMENSIONS_MAX 64

enum {
	LIST_ALLOCATED = 32,
	BYTEARRAY_ALLOCATED = 24,
	ARRAY_DIMENSIONS = 24,
	ARRAY_SIZES = 32,
	ARRAY_STRIDES = 40,
	ARRAY_BASE = 48,
};

/* What goes on from one slice to the next. */
struct carried {
	remote_addr resume, resume_end;
	remote_addr chunk_end; /* of the last chunk, where it is in later slices */
	uint16_t chunk_kind;
};

/* ---- storage, by an object's head */

static uint64_t believed(uint64_t bytes)
{
	return bytes < TABLE_BELIEVED ? bytes : 0;
}

static uint64_t keys_bytes(const struct heap_types *types, const uint8_t *dict)
{
	remote_addr keys = field_u64(dict, DICT_KEYS);
	uint8_t head[KEYS_HEAD_SIZE];
	struct dict_keys table;
	uint64_t size;

	/* Those with values beside are their class's. */
	if (field_u64(dict, DICT_VALUES) ||
	    heap_image_read(types->image, keys, head, sizeof(head)) ||
	    !dict_keys_parse(head, keys, types->layout.minor, &table))
		return 0;
	size = types->layout.minor >= 11 ? (head[8] < 40 ? 1ull << head[8] : 0)
					 : field_u64(head, 8);
	/* An empty dict's are the interpreter's own. */
	if (size <= 1)
		return 0;
	return believed(table.entries - keys +
			believed(size) * 2 / 3 * (table.hashed ? 3 : 2) * WORD_SIZE);
}

/* An array that owns its data: the larger end of it, by its first dimension. */
static uint64_t array_bytes(const struct heap_types *types, const uint8_t *array)
{
	int32_t dimensions = field_i32(array, ARRAY_DIMENSIONS);
	uint64_t bytes = 0;

	if (field_u64(array, ARRAY_BASE) || dimensions <= 0 || dimensions > DIMENSIONS_MAX)
		return 0;
	for (int32_t i = 0; i < dimensions; i++) {
		uint64_t at = (uint64_t)i * WORD_SIZE, extent;

		extent = believed(heap_image_word(types->image,
						  field_u64(array, ARRAY_SIZES) + at)) *
			 (heap_image_word(types->image, field_u64(array, ARRAY_STRIDES) + at) &
			  UINT16_MAX);
		bytes = extent > bytes ? extent : bytes;
	}
	return believed(bytes);
}

static uint64_t storage_bytes(const struct heap_types *types, const struct heap_type *type,
			      const uint8_t *object)
{
	switch (type->kind) {
	case HEAP_KIND_LIST:
		return field_u64(object, LIST_ITEMS)
			       ? believed(field_u64(object, LIST_ALLOCATED)) * WORD_SIZE
			       : 0;
	case HEAP_KIND_DICT:
		return keys_bytes(types, object);
	case HEAP_KIND_SET:
		/* A small one has eight entries inside. */
		return field_u64(object, SET_MASK) > 7
			       ? (believed(field_u64(object, SET_MASK)) + 1) * SET_ENTRY
			       : 0;
	case HEAP_KIND_BYTEARRAY:
		return believed(field_u64(object, BYTEARRAY_ALLOCATED));
	case HEAP_KIND_ARRAY:
		return array_bytes(types, object);
	default:
		return 0;
	}
}

static void count_objects(const struct heap_nodes *nodes, struct heap_types *types)
{
	uint8_t buffer[HEAP_JUDGED_BYTES];

	for (uint32_t node = 0; node < nodes->count; node++) {
		struct heap_block block;
		struct heap_type *type;
		const uint8_t *bytes;

		if (nodes->kinds[node] < HEAP_NODE_FIRST_TYPE)
			continue;
		block = heap_nodes_block(nodes, node);
		type = &types->items[nodes->kinds[node]];
		type->count++;
		type->bytes += block.size;
		bytes = heap_judge_start(nodes, block, buffer);
		/* As much as any of the kinds looked into has. */
		if (bytes && block.size >= type->prefix + (uint64_t)ARRAY_HEAD)
			type->storage_bytes += storage_bytes(types, type, bytes + type->prefix);
		else if (bytes && type->kind == HEAP_KIND_LIST &&
			 block.size >= type->prefix + (uint64_t)LIST_HEAD)
			type->storage_bytes += storage_bytes(types, type, bytes + type->prefix);
		else if (bytes && type->kind == HEAP_KIND_DICT &&
			 block.size >= type->prefix + (uint64_t)DICT_HEAD_SIZE)
			type->storage_bytes += storage_bytes(types, type, bytes + type->prefix);
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

static void add_slice(struct heap_stream *stream, const struct heap_nodes *nodes,
		      const struct carried *carried)
{
	struct heap_regions regions;

	heap_regions_add_up(nodes, NULL, &regions);
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
}

static int count_slice(struct heap_stream *stream, struct address_range range,
		       struct carried *carried)
{
	struct heap_image_options options = *stream->options;
	struct heap_nodes nodes;
	struct heap_image image;
	int error;

	options.only = range;
	options.limit = UINT64_MAX;
	options.anonymous_bytes = 0; /* of a slice nobody knows */
	error = heap_image_init(&image, stream->reader, stream->pages, stream->mappings, &options);
	heap_nodes_init(&nodes, &image, stream->types->layout.pool_bytes);
	nodes.slice_end = range.end;
	nodes.resume = carried->resume;
	nodes.resume_end = carried->resume_end;
	nodes.mapped_end = carried->chunk_end;
	if (!error)
		error = heap_pool_find_all(&nodes);
	if (!error)
		error = heap_nodes_index(&nodes);
	if (!error)
		error = heap_chunk_find_all(&nodes);
	if (!error) {
		stream->types->image = &image;
		heap_judge_all(&nodes, stream->types);
		count_objects(&nodes, stream->types);
		add_slice(stream, &nodes, carried);
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

	for (uint64_t i = 0; number < stream->mappings->count && !error; i++) {
		struct address_range range = next_range(stream->mappings, &number, &at);

		if (i < SLICES_MAX)
			error = count_slice(stream, range, &carried);
		else
			stream->skipped_bytes += range.end - range.start;
	}
	stream->types->image = image;
	return error;
}

/* SPDX-License-Identifier: Apache-2.0 */
/*
 * torch.Tensor in the processor's memory: c10/core/TensorImpl.h, StorageImpl.h.
 *
 *   object -> TensorImpl -> StorageImpl -> data
 *
 * The fields have moved between versions (1.9 to 2.15 were looked at). What is found must agree
 * with itself: as many elements as the sizes make, within the storage's bytes.
 */
#include "daemon/contents/fingerprint_internal.h"

enum {
	IMPLEMENTATION = 16, /* a pointer, or whether it is borrowed, and the pointer */
	IMPLEMENTATION_OLD = 24,
	IMPL_STORAGE = 16,
	IMPL_DIMENSIONS = 56, /* or the next word */
	IMPL_SIZE = 184,
	/* from the number of dimensions on */
	SIZES = 8,
	STRIDES = 48,
	OFFSET = 88,
	ELEMENTS = 96,
	DATA_TYPE = 104,
	DEVICE = 106,
	DIMENSIONS_INLINE = 5,
	STORAGE_DATA = 16,
	STORAGE_DEVICE = 40, /* a type, an index */
	STORAGE_BYTES = 48,
	STORAGE_SIZE = 56,
};

/* c10/core/ScalarType.h */
static const struct {
	char element;
	uint8_t size;
} scalar_types[] = {
	{ 'u', 1 }, { 'i', 1 }, { 'i', 2 }, { 'i', 4 }, { 'i', 8 },  { 'f', 2 },
	{ 'f', 4 }, { 'f', 8 }, { 'c', 4 }, { 'c', 8 }, { 'c', 16 }, { 'b', 1 },
	{ 0, 0 },   { 0, 0 },   { 0, 0 },   { 'e', 2 },
};

/* Whether the fields from so far on are a shape. */
static bool is_shape(const uint8_t *impl, size_t at)
{
	uint64_t dimensions, elements, product = 1;
	uint16_t type;

	memcpy(&dimensions, impl + at, 8);
	memcpy(&elements, impl + at + ELEMENTS, 8);
	memcpy(&type, impl + at + DATA_TYPE, 2);
	if (dimensions > DIMENSIONS_INLINE || impl[at + DEVICE] != 0 ||
	    type >= sizeof(scalar_types) / sizeof(scalar_types[0]) || !scalar_types[type].size)
		return false;
	for (uint64_t i = 0; i < dimensions; i++) {
		uint64_t length;

		memcpy(&length, impl + at + SIZES + 8 * i, 8);
		if (length > CONTENT_SIZE_BELIEVED ||
		    (length && product > CONTENT_SIZE_BELIEVED / length))
			return false;
		product *= length;
	}
	return product == elements;
}

static void parse_impl(struct fingerprints *set, struct content_node *node,
		       const struct memory_range *range)
{
	const uint8_t *impl = range->buffer;
	size_t at = IMPL_DIMENSIONS;
	uint64_t dimensions;
	uint16_t type;

	if (!range->error && !is_shape(impl, at))
		at += 8;
	if (range->error || !is_shape(impl, at) ||
	    !content_plausible(content_word_of(range, IMPL_STORAGE))) {
		content_opaque(node);
		return;
	}
	memcpy(&dimensions, impl + at, 8);
	memcpy(&type, impl + at + DATA_TYPE, 2);
	node->element = scalar_types[type].element;
	node->item_size = scalar_types[type].size;
	node->dimension_count = (uint8_t)dimensions;
	node->own = hash_combine(node->own, type);
	for (uint64_t i = 0; i < dimensions; i++) {
		uint64_t length = content_word_of(range, at + SIZES + 8 * i);

		node->own = hash_combine(node->own, length);
		if (i < CONTENT_DIMENSIONS)
			node->dimensions[i] = (int64_t)length;
	}
	/* The shape stays in the arena. */
	node->values_at = (uint32_t)(impl + at - set->arena);
	content_request(set, node, content_word_of(range, IMPL_STORAGE), STORAGE_SIZE, true);
	node->stage = STAGE_THIRD;
}

static void parse_storage(struct fingerprints *set, struct content_node *node,
			  const struct memory_range *range)
{
	const uint8_t *shape = set->arena + node->values_at;
	uint64_t bytes, offset, lengths[DIMENSIONS_INLINE], strides[DIMENSIONS_INLINE];
	uint64_t end = 0, elements = 1;
	bool good = !range->error && ((const uint8_t *)range->buffer)[STORAGE_DEVICE] == 0;

	if (!good) {
		content_opaque(node);
		return;
	}
	bytes = content_word_of(range, STORAGE_BYTES);
	memcpy(&offset, shape + OFFSET, 8);
	good = bytes <= CONTENT_SIZE_BELIEVED && offset <= bytes;
	for (size_t i = 0; good && i < node->dimension_count; i++) {
		memcpy(&lengths[i], shape + SIZES + 8 * i, 8);
		memcpy(&strides[i], shape + STRIDES + 8 * i, 8);
		elements *= lengths[i];
		/* Strides are of elements, and none is negative. */
		good = lengths[i] <= 1 || strides[i] <= bytes / (lengths[i] - 1);
		if (good && lengths[i])
			end += (lengths[i] - 1) * strides[i];
		strides[i] *= node->item_size;
	}
	if (!good || (elements && (offset + end + 1) * node->item_size > bytes)) {
		content_opaque(node);
		return;
	}
	node->stage = STAGE_FOURTH;
	content_request_elements(set, node,
				 content_word_of(range, STORAGE_DATA) + offset * node->item_size,
				 lengths, strides);
}

void content_parse_tensor(struct fingerprints *set, struct content_node *node,
			  const struct memory_range *ranges, size_t count)
{
	remote_addr impl = content_word(node, IMPLEMENTATION);

	switch (node->stage) {
	case STAGE_CONTENT:
		if (!content_plausible(impl))
			impl = content_word(node, IMPLEMENTATION_OLD);
		if (!content_plausible(impl) ||
		    !content_request(set, node, impl, IMPL_SIZE, true)) {
			content_opaque(node);
			return;
		}
		node->stage = STAGE_SECOND;
		return;
	case STAGE_SECOND:
		parse_impl(set, node, &ranges[0]);
		return;
	case STAGE_THIRD:
		parse_storage(set, node, &ranges[0]);
		return;
	default:
		content_mix_ranges(node, ranges, count);
	}
}

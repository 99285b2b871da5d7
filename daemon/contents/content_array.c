/* SPDX-License-Identifier: Apache-2.0 */
/* numpy.ndarray of numpy 1 and 2: numpy/ndarraytypes.h. */
#include "daemon/contents/fingerprint_internal.h"

#include <inttypes.h>
#include <stdio.h>

enum {
	/* numpy.dtype */
	DTYPE_KIND = 24,
	DTYPE_ITEM_SIZE = 32,   /* numpy 1: int, and an int of alignment behind it */
	DTYPE_ITEM_SIZE_2 = 40, /* numpy 2 */
	DTYPE_SIZE = 48,
	DTYPE_UNIT = 80,    /* numpy 1: where the unit of times is */
	DTYPE_UNIT_2 = 112, /* numpy 2 */
	UNIT_VALUE = 32,
};

#define ELEMENTS_MAX   64 /* of an array that is not in one piece */
#define ELEMENT_MAX    16 /* bytes of such an element */
#define DIMENSIONS_MAX 32

void content_request_elements(struct fingerprints *set, struct content_node *node, remote_addr data,
			      const uint64_t *lengths, const uint64_t *strides)
{
	uint64_t elements = 1, item = node->item_size;
	bool contiguous = true;

	for (size_t i = node->dimension_count; i-- > 0;) {
		contiguous &= lengths[i] == 1 || strides[i] == elements * item;
		elements *= lengths[i];
	}
	if (contiguous || !elements) {
		content_request_bytes(set, node, data, elements * item,
				      (enum content_stage)node->stage);
		return;
	}
	node->size = elements * item;
	node->partial = elements > ELEMENTS_MAX || item > ELEMENT_MAX;
	node->spread = true;
	for (uint64_t i = 0; i < ELEMENTS_MAX && i < elements; i++) {
		uint64_t left =
			elements <= ELEMENTS_MAX ? i : i * (elements - 1) / (ELEMENTS_MAX - 1);
		remote_addr address = data;

		for (size_t k = node->dimension_count; k-- > 0;) {
			address += left % lengths[k] * strides[k];
			left /= lengths[k];
		}
		content_request(set, node, address, item < ELEMENT_MAX ? item : ELEMENT_MAX, true);
	}
}

/* An array's data, when its shape is known: in one piece, or elements of it. */
static void request_array(struct fingerprints *set, struct content_node *node,
			  const struct memory_range *ranges, size_t count)
{
	size_t dimensions = node->dimension_count;
	const uint8_t *dtype = ranges[0].buffer;
	uint64_t elements = 1, item, lengths[DIMENSIONS_MAX], strides[DIMENSIONS_MAX];
	remote_addr data = content_word(node, FIELD_1);
	uint32_t alignment, small_size;
	bool contiguous = true;

	if (count < (dimensions ? 3u : 1u) || ranges[0].error ||
	    (dimensions && (ranges[1].error || ranges[2].error))) {
		content_opaque(node);
		return;
	}
	node->element = (char)dtype[DTYPE_KIND];
	memcpy(&small_size, dtype + DTYPE_ITEM_SIZE, sizeof(small_size));
	memcpy(&alignment, dtype + DTYPE_ITEM_SIZE + sizeof(small_size), sizeof(alignment));
	/* numpy 2 has 64 bits of flags here, whose upper half is empty. */
	item = alignment ? small_size : content_word_of(&ranges[0], DTYPE_ITEM_SIZE_2);
	node->own = hash_combine(node->own, (uint8_t)node->element);
	node->own = hash_combine(node->own, item);
	for (size_t i = dimensions; i-- > 0;) {
		lengths[i] = content_word_of(&ranges[1], 8 * i);
		strides[i] = content_word_of(&ranges[2], 8 * i);
		if (i < CONTENT_DIMENSIONS)
			node->dimensions[i] = (int64_t)lengths[i];
		node->own = hash_combine(node->own, lengths[i]);
		contiguous &= lengths[i] == 1 || strides[i] == elements * item;
		if (item > UINT32_MAX || lengths[i] > CONTENT_SIZE_BELIEVED ||
		    (lengths[i] && elements > CONTENT_SIZE_BELIEVED / lengths[i])) {
			content_opaque(node);
			return;
		}
		elements *= lengths[i];
	}
	if (item && elements > CONTENT_SIZE_BELIEVED / item) {
		content_opaque(node);
		return;
	}
	node->item_size = (uint32_t)item;
	/* Bytes alone do not tell what these are. */
	if (strchr("mMV", node->element) && node->element)
		content_child(set, node, content_word(node, FIELD_6));
	node->stage = STAGE_THIRD;
	if (node->element != 'O' || !elements) {
		content_request_elements(set, node, data, lengths, strides);
		return;
	}
	if (!contiguous || item != 8) {
		content_opaque(node);
		return;
	}
	content_request_items(set, node, data, elements);
	node->size = elements * item;
	if (node->stage != STAGE_DONE)
		node->stage = STAGE_THIRD;
}

/* Letters and size; of times the unit; of records which one it is. */
void content_parse_dtype(struct fingerprints *set, struct content_node *node,
			 const struct memory_range *ranges, size_t count)
{
	uint8_t kind = node->head[DTYPE_KIND];
	uint32_t alignment;
	bool first;

	if (node->stage == STAGE_SECOND) {
		if (ranges[0].error || !content_word_of(&ranges[0], 0)) {
			content_opaque(node);
			return;
		}
		content_request(set, node, content_word_of(&ranges[0], 0) + UNIT_VALUE, 8, true);
		node->stage = STAGE_THIRD;
		return;
	}
	if (node->stage == STAGE_THIRD) {
		content_mix_ranges(node, ranges, count);
		return;
	}
	memcpy(&alignment, node->head + DTYPE_ITEM_SIZE + 4, sizeof(alignment));
	first = alignment != 0;
	node->own = content_mix_bytes(node->own, node->head + DTYPE_KIND, 3);
	node->own = content_mix_bytes(
		node->own, node->head + (first ? DTYPE_ITEM_SIZE : DTYPE_ITEM_SIZE_2), 4);
	if (kind == 'M' || kind == 'm') {
		content_request(set, node, node->object + (first ? DTYPE_UNIT : DTYPE_UNIT_2), 8,
				true);
		node->stage = STAGE_SECOND;
		return;
	}
	if (!strchr("biufcSUO", kind) || !kind)
		node->own = hash_combine(node->own, node->object);
	content_done(node);
}

void content_parse_array(struct fingerprints *set, struct content_node *node,
			 const struct memory_range *ranges, size_t count)
{
	uint32_t dimensions;

	if (node->stage == STAGE_SECOND) {
		request_array(set, node, ranges, count);
		return;
	}
	if (node->stage == STAGE_THIRD) {
		if (node->element == 'O')
			content_add_items(set, node, ranges, count);
		else
			content_mix_ranges(node, ranges, count);
		return;
	}
	memcpy(&dimensions, node->head + FIELD_2, sizeof(dimensions));
	if (dimensions > DIMENSIONS_MAX) {
		content_by_identity(node, CONTENT_OTHER);
		return;
	}
	node->dimension_count = (uint8_t)dimensions;
	node->own = hash_combine(node->own, dimensions);
	if (content_request(set, node, content_word(node, FIELD_6), DTYPE_SIZE, true)) {
		content_request(set, node, content_word(node, FIELD_3), 8 * dimensions, true);
		content_request(set, node, content_word(node, FIELD_4), 8 * dimensions, true);
	}
	node->stage = STAGE_SECOND;
}

static const char *element_name(char element)
{
	switch (element) {
	case 'f':
		return "float";
	case 'i':
		return "int";
	case 'u':
		return "uint";
	case 'b':
		return "bool";
	case 'c':
		return "complex";
	case 'O':
		return "object";
	case 'U':
		return "str";
	case 'S':
		return "bytes";
	case 'e':
		return "bfloat16";
	case 'M':
		return "datetime";
	case 'm':
		return "timedelta";
	default:
		return "void";
	}
}

void content_describe_array(const struct fingerprints *set, const struct content_node *node,
			    char *text, size_t size)
{
	const struct content_type *type = content_type_of(set, node);
	bool own_name = type && (type->derived || node->kind == CONTENT_TENSOR);
	size_t used = (size_t)snprintf(text, size, "%.20s%s%s", own_name ? type->name : "",
				       own_name ? " " : "", element_name(node->element));

	if (node->element == 'f' || node->element == 'i' || node->element == 'u' ||
	    node->element == 'c')
		used += (size_t)snprintf(text + used, size - used, "%" PRIu64,
					 8 * (uint64_t)node->item_size);
	used += (size_t)snprintf(text + used, size - used, "[");
	for (size_t i = 0; i < node->dimension_count && used < size; i++) {
		if (i == CONTENT_DIMENSIONS) {
			used += (size_t)snprintf(text + used, size - used, ",...");
			break;
		}
		used += (size_t)snprintf(text + used, size - used, "%s%" PRId64, i ? "," : "",
					 node->dimensions[i]);
	}
	if (used < size)
		snprintf(text + used, size - used, "]");
}

remote_addr content_array_part(const struct content_node *node)
{
	return content_word(node, FIELD_5) ? content_word(node, FIELD_1) : 0;
}

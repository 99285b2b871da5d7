/* SPDX-License-Identifier: Apache-2.0 */
/*
 * pyarrow's arrays: arrow/array/data.h, arrow/buffer.h, arrow/chunked_array.h.
 *
 *   object -> (ChunkedArray ->) Array -> ArrayData -> type, buffers -> bytes
 *
 * They cannot change, but another may come to lie where one was. Those of one
 * piece and plain values are compared; of others, which one it is.
 */
#include "daemon/contents/fingerprint_internal.h"

enum {
	SHARED_POINTER = 32, /* in the Python object */
	CHUNKS_SIZE = 16,    /* begin, end */
	POINTER_SIZE = 16,   /* and who counts its users */
	ARRAY_DATA = 8,
	ARRAY_SIZE = 16,
	DATA_TYPE = 0,
	DATA_LENGTH = 16,
	DATA_OFFSET = 32,
	DATA_BUFFERS = 40,
	DATA_BUFFERS_END = 48,
	DATA_CHILDREN = 64,
	DATA_CHILDREN_END = 72,
	DATA_DICTIONARY = 88,
	DATA_SIZE = 96,
	BUFFERS_MAX = 3,
	BUFFER_IS_CPU = 9,
	BUFFER_DATA = 16,
	BUFFER_LENGTH = 24,
	BUFFER_SIZE = 32,
};

#define BUFFER_WHOLE_MAX 1024
#define BUFFER_PIECES    8
#define BUFFER_PIECE     128

/* What is asked for. */
enum step {
	THE_CHUNKS,
	THE_CHUNK,
	THE_ARRAY,
	THE_DATA,
	THE_BUFFERS,
	A_BUFFER,
	THE_BYTES
};

static bool arrow_ask(struct fingerprints *set, struct content_node *node, enum step step,
		      remote_addr address, size_t size)
{
	node->place = step;
	node->stage = STAGE_SECOND;
	if (content_plausible(address) && content_request(set, node, address, size, true))
		return true;
	content_opaque(node);
	return false;
}

/* Identified by address: equality is not proven. */
static void only_identity(struct content_node *node)
{
	node->partial = node->spread = true;
	node->own = hash_combine(node->own, node->object);
	content_done(node);
}

static void parse_data(struct fingerprints *set, struct content_node *node,
		       const struct memory_range *range)
{
	uint64_t length = content_word_of(range, DATA_LENGTH);
	uint64_t offset = content_word_of(range, DATA_OFFSET);
	uint64_t begin = content_word_of(range, DATA_BUFFERS);
	uint64_t size = content_word_of(range, DATA_BUFFERS_END) - begin;

	if (length > CONTENT_SIZE_BELIEVED || offset > CONTENT_SIZE_BELIEVED) {
		content_opaque(node);
		return;
	}
	node->size = length;
	node->own = hash_combine(hash_combine(node->own, length), offset);
	if (size % POINTER_SIZE || size > BUFFERS_MAX * POINTER_SIZE || !size ||
	    content_word_of(range, DATA_CHILDREN) != content_word_of(range, DATA_CHILDREN_END) ||
	    content_word_of(range, DATA_DICTIONARY)) {
		only_identity(node);
		return;
	}
	/* The type's class, by its virtual table. */
	if (arrow_ask(set, node, THE_BUFFERS, begin, size))
		(void)arrow_ask(set, node, THE_BUFFERS, content_word_of(range, DATA_TYPE), 8);
}

static void ask_buffers(struct fingerprints *set, struct content_node *node,
			const struct memory_range *ranges, size_t count)
{
	bool given = count == 2;

	node->own = hash_combine(node->own, given ? content_word_of(&ranges[1], 0) : 0);
	for (size_t at = 0; given && at < ranges[0].size; at += POINTER_SIZE) {
		remote_addr buffer = content_word_of(&ranges[0], at);

		node->own = hash_combine(node->own, buffer != 0);
		given = !buffer || arrow_ask(set, node, A_BUFFER, buffer, BUFFER_SIZE);
	}
	if (!given)
		content_opaque(node);
}

static void ask_bytes(struct fingerprints *set, struct content_node *node,
		      const struct memory_range *ranges, size_t count)
{
	node->place = THE_BYTES;
	for (size_t i = 0; i < count; i++) {
		remote_addr data = content_word_of(&ranges[i], BUFFER_DATA);
		uint64_t length = content_word_of(&ranges[i], BUFFER_LENGTH);

		if (length > CONTENT_SIZE_BELIEVED ||
		    ((const uint8_t *)ranges[i].buffer)[BUFFER_IS_CPU] != 1) {
			content_opaque(node);
			return;
		}
		node->own = hash_combine(node->own, length);
		if (length <= BUFFER_WHOLE_MAX) {
			content_request(set, node, data, length, true);
			continue;
		}
		node->partial = node->spread = true;
		for (uint64_t k = 0; k < BUFFER_PIECES; k++)
			content_request(set, node,
					data + k * (length - BUFFER_PIECE) / (BUFFER_PIECES - 1),
					BUFFER_PIECE, true);
	}
}

void content_parse_arrow(struct fingerprints *set, struct content_node *node,
			 const struct memory_range *ranges, size_t count)
{
	bool chunked = strstr(content_type_of(set, node)->name, "ChunkedArray");

	if (node->stage == STAGE_CONTENT) {
		(void)arrow_ask(set, node, chunked ? THE_CHUNKS : THE_ARRAY,
				content_word(node, SHARED_POINTER), ARRAY_SIZE);
		return;
	}
	for (size_t i = 0; i < count; i++) {
		if (!ranges[i].error)
			continue;
		content_opaque(node);
		return;
	}
	switch ((enum step)node->place) {
	case THE_CHUNKS:
		if (content_word_of(&ranges[0], 8) - content_word_of(&ranges[0], 0) != POINTER_SIZE)
			only_identity(node);
		else
			(void)arrow_ask(set, node, THE_CHUNK, content_word_of(&ranges[0], 0), 8);
		break;
	case THE_CHUNK:
		(void)arrow_ask(set, node, THE_ARRAY, content_word_of(&ranges[0], 0), ARRAY_SIZE);
		break;
	case THE_ARRAY:
		(void)arrow_ask(set, node, THE_DATA, content_word_of(&ranges[0], ARRAY_DATA),
				DATA_SIZE);
		break;
	case THE_DATA:
		parse_data(set, node, &ranges[0]);
		break;
	case THE_BUFFERS:
		ask_buffers(set, node, ranges, count);
		break;
	case A_BUFFER:
		ask_bytes(set, node, ranges, count);
		break;
	default:
		content_mix_ranges(node, ranges, count);
		break;
	}
}

/* SPDX-License-Identifier: Apache-2.0 */
/* set, frozenset, collections.deque, array.array, memoryview: CPython 3.6 to 3.15. */
#include "daemon/contents/fingerprint_internal.h"

enum {
	SET_USED = 24,
	SET_MASK = 32,
	SET_TABLE = 40,
	SET_ENTRY = 16, /* an object and its hash */
	DEQUE_LEFT = 24,
	DEQUE_RIGHT = 32,
	DEQUE_LEFT_INDEX = 40,
	DEQUE_RIGHT_INDEX = 48,
	DEQUE_BLOCK = 64, /* items, behind a link */
	DEQUE_BLOCK_ITEMS = 8,
	DEQUE_FIRST = 8, /* items that are looked at on either side */
	ARRAY_DATA = 24,
	ARRAY_DESCRIPTION = 40,
	ARRAY_ITEM_MAX = 16,
	VIEW_FLAGS = 40,
	VIEW_BUFFER = 56,
	/* behind the head */
	VIEW_LENGTH = 0,
	VIEW_ITEM_SIZE = 8,
	VIEW_DIMENSIONS = 20,
	VIEW_FORMAT = 24,
	VIEW_REST = 56,
	VIEW_RELEASED = 1,
	VIEW_IN_ONE_PIECE = 2 | 8,
};

#define SET_WHOLE_ENTRIES 128
#define SET_PIECES        4
#define SET_PIECE_ENTRIES 32
#define SET_ITEMS_MAX     16 /* of a small one, that are looked into */
#define SET_ITEMS_SOME    4  /* of a larger one: those with the lowest hashes */

/* Of a set's entries, those that its sketch is of. */
struct sketched {
	uint64_t lowest[CONTENT_SKETCH_ITEMS];
	size_t count;
};

/* Whatever else is in the set, the lowest of mixed hashes are mostly those of the same items. */
static void sketch_entry(struct sketched *sketched, uint64_t hash)
{
	uint64_t mixed = hash_mix(hash);
	size_t place = sketched->count;

	if (place < CONTENT_SKETCH_ITEMS)
		sketched->count++;
	else if (sketched->lowest[--place] <= mixed)
		return;
	for (; place > 0 && sketched->lowest[place - 1] > mixed; place--)
		sketched->lowest[place] = sketched->lowest[place - 1];
	sketched->lowest[place] = mixed;
}

static uint64_t sketch_of(const struct sketched *sketched)
{
	uint64_t sketch = 0;

	for (size_t i = 0; i < sketched->count; i++)
		sketch |= content_sketch_bit(sketched->lowest[i]);
	return sketch;
}

/* Entries have no order: hashes are summed up. */
static void add_entries(struct fingerprints *set, struct content_node *node,
			const struct memory_range *ranges, size_t count)
{
	uint64_t lowest[SET_ITEMS_MAX], objects[SET_ITEMS_MAX], sum = 0;
	size_t kept = 0, limit = node->size <= SET_ITEMS_MAX ? SET_ITEMS_MAX : SET_ITEMS_SOME;
	struct sketched sketched = { 0 };

	for (size_t i = 0; i < count; i++) {
		for (size_t at = 0; at + SET_ENTRY <= ranges[i].size; at += SET_ENTRY) {
			uint64_t object = content_word_of(&ranges[i], at);
			uint64_t hash = content_word_of(&ranges[i], at + 8);
			size_t place;

			if (ranges[i].error) {
				content_opaque(node);
				return;
			}
			if (!object || hash == UINT64_MAX) /* empty, or removed */
				continue;
			sum += hash_combine(0, hash);
			sketch_entry(&sketched, hash);
			for (place = kept; place > 0 && lowest[place - 1] > hash; place--) {
				if (place == limit)
					continue;
				lowest[place] = lowest[place - 1];
				objects[place] = objects[place - 1];
			}
			if (place == limit)
				continue;
			lowest[place] = hash;
			objects[place] = object;
			kept += kept < limit;
		}
	}
	node->own = hash_combine(node->own, sum);
	node->sketch = sketch_of(&sketched);
	for (size_t i = 0; i < kept; i++) {
		struct content_node *child = content_child(set, node, objects[i]);

		if (child)
			child->tag = lowest[i];
	}
	content_done(node);
}

void content_parse_set(struct fingerprints *set, struct content_node *node,
		       const struct memory_range *ranges, size_t count)
{
	uint64_t entries = content_word(node, SET_MASK) + 1;
	remote_addr table = content_word(node, SET_TABLE);
	bool given = true;

	if (node->stage != STAGE_CONTENT) {
		add_entries(set, node, ranges, count);
		return;
	}
	node->size = content_word(node, SET_USED);
	node->own = hash_combine(node->own, node->size);
	if (!node->size) {
		content_done(node);
		return;
	}
	if (entries & (entries - 1) || !entries || entries > UINT32_MAX || node->size > entries ||
	    !content_plausible(table)) {
		content_opaque(node);
		return;
	}
	/* Of those between the lowest, only what hash() says is compared. */
	node->partial |= node->size > SET_ITEMS_MAX;
	node->spread = true;
	if (entries <= SET_WHOLE_ENTRIES) {
		given = content_request(set, node, table, entries * SET_ENTRY, true);
	} else {
		/* Of one that has been smaller, the same entries may lie in another order. */
		for (uint64_t i = 0; i < SET_PIECES; i++)
			given &= content_request(set, node,
						 table + i * (entries - SET_PIECE_ENTRIES) /
								 (SET_PIECES - 1) * SET_ENTRY,
						 SET_PIECE_ENTRIES * SET_ENTRY, true);
	}
	if (!given)
		content_opaque(node);
	node->stage = given ? STAGE_SECOND : STAGE_DONE;
}

void content_parse_deque(struct fingerprints *set, struct content_node *node,
			 const struct memory_range *ranges, size_t count)
{
	uint64_t left = content_word(node, DEQUE_LEFT_INDEX);
	uint64_t right = content_word(node, DEQUE_RIGHT_INDEX);
	remote_addr first = content_word(node, DEQUE_LEFT), last = content_word(node, DEQUE_RIGHT);
	uint64_t on_left, on_right;

	if (node->stage != STAGE_CONTENT) {
		content_add_items(set, node, ranges, count);
		return;
	}
	node->size = content_word(node, FIELD_1);
	node->own = hash_combine(node->own, node->size);
	if (!node->size) {
		content_done(node);
		return;
	}
	if (left >= DEQUE_BLOCK || right >= DEQUE_BLOCK || node->size > CONTENT_SIZE_BELIEVED ||
	    !node->depth || (first == last && node->size != right - left + 1)) {
		content_opaque(node);
		return;
	}
	on_left = first == last ? node->size : DEQUE_BLOCK - left;
	on_right = first == last ? 0 : right + 1;
	on_left = on_left < 2 * DEQUE_FIRST ? on_left : 2 * DEQUE_FIRST;
	on_right = on_right < 2 * DEQUE_FIRST ? on_right : 2 * DEQUE_FIRST;
	/* The same for equal ones, wherever their blocks begin. */
	if (node->size > 2 * DEQUE_FIRST) {
		on_left = on_left < DEQUE_FIRST ? on_left : DEQUE_FIRST;
		on_right = on_right < DEQUE_FIRST ? on_right : DEQUE_FIRST;
	}
	node->partial |= on_left + on_right < node->size;
	node->spread = true; /* it changes at its ends */
	content_request(set, node, first + DEQUE_BLOCK_ITEMS + 8 * left, 8 * on_left, true);
	content_request(set, node, last + DEQUE_BLOCK_ITEMS + 8 * (right + 1 - on_right),
			8 * on_right, true);
	node->stage = STAGE_SECOND;
}

void content_parse_array_array(struct fingerprints *set, struct content_node *node,
			       const struct memory_range *ranges, size_t count)
{
	uint64_t items = content_word(node, FIELD_1);
	uint32_t item_size;

	if (node->stage == STAGE_THIRD) {
		content_mix_ranges(node, ranges, count);
		return;
	}
	if (node->stage == STAGE_CONTENT) {
		/* Its letter, and the size of an item. */
		content_request(set, node, content_word(node, ARRAY_DESCRIPTION), 8, true);
		node->stage = STAGE_SECOND;
		return;
	}
	memcpy(&item_size, (const uint8_t *)ranges[0].buffer + 4, sizeof(item_size));
	if (ranges[0].error || !item_size || item_size > ARRAY_ITEM_MAX ||
	    items > CONTENT_SIZE_BELIEVED) {
		content_opaque(node);
		return;
	}
	node->own = hash_combine(node->own, *(const uint8_t *)ranges[0].buffer);
	content_request_bytes(set, node, content_word(node, ARRAY_DATA), items * item_size,
			      STAGE_THIRD);
}

void content_parse_memoryview(struct fingerprints *set, struct content_node *node,
			      const struct memory_range *ranges, size_t count)
{
	uint64_t flags = content_word(node, VIEW_FLAGS);
	uint32_t dimensions;

	if (node->stage == STAGE_THIRD) {
		content_mix_ranges(node, ranges, count);
		return;
	}
	if (flags & VIEW_RELEASED || !(flags & VIEW_IN_ONE_PIECE)) {
		content_opaque(node);
		return;
	}
	if (node->stage == STAGE_CONTENT) {
		content_request(set, node, node->object + CONTENT_HEAD_SIZE, VIEW_REST, true);
		node->stage = STAGE_SECOND;
		return;
	}
	if (ranges[0].error) {
		content_opaque(node);
		return;
	}
	memcpy(&dimensions, (const uint8_t *)ranges[0].buffer + VIEW_DIMENSIONS,
	       sizeof(dimensions));
	node->own = hash_combine(node->own, dimensions);
	node->own = hash_combine(node->own, content_word_of(&ranges[0], VIEW_ITEM_SIZE));
	node->partial |= dimensions > 1; /* how long each is goes uncompared */
	if (content_word_of(&ranges[0], VIEW_FORMAT))
		content_request(set, node, content_word_of(&ranges[0], VIEW_FORMAT), 2, true);
	content_request_bytes(set, node, content_word(node, VIEW_BUFFER),
			      content_word_of(&ranges[0], VIEW_LENGTH), STAGE_THIRD);
}

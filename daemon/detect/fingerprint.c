/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A tree of objects, those of begin() first, items behind what they are in.
 * Every round each object looks at what it asked for, and asks for more:
 *
 *   head -> type -> its name -> contents -> ... -> done
 *
 * At the end numbers are made from the last object to the first.
 */
#include "daemon/detect/fingerprint.h"

#include "daemon/detect/fingerprint_internal.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Types: head and name, read once. */
#define TYPE_BASIC_SIZE    32
#define TYPE_FLAGS         168
#define TYPE_HEAD_SIZE     176
#define TYPE_NAME_SIZE     48
#define TYPE_NAME          24
#define FLAG_HEAP_TYPE     (1u << 9)
#define FLAG_TYPE_SUBCLASS (1u << 31)

#define OBJECT_TYPE 8

struct fingerprints *fingerprints_create(int minor)
{
	struct fingerprints *set = calloc(1, sizeof(*set));

	if (set)
		set->minor = minor;
	return set;
}

void fingerprints_destroy(struct fingerprints *set)
{
	free(set);
}

uint64_t content_mix(uint64_t hash, uint64_t word)
{
	hash = (hash ^ word) * 0x9e3779b97f4a7c15ull;
	return hash ^ hash >> 29;
}

uint64_t content_mix_bytes(uint64_t hash, const uint8_t *bytes, size_t size)
{
	for (size_t at = 0; at < size; at += sizeof(uint64_t)) {
		uint64_t word = 0;
		size_t left = size - at;

		memcpy(&word, bytes + at, left < sizeof(word) ? left : sizeof(word));
		hash = content_mix(hash, word);
	}
	return content_mix(hash, size);
}

bool content_request(struct fingerprints *set, struct content_node *node, remote_addr address,
		     size_t size, bool counted)
{
	struct memory_range *ranges = set->ranges[set->turn];
	size_t room = sizeof(set->arena) - set->arena_used;

	if (size == 0)
		return true;
	if (size > room || set->range_count[set->turn] == CONTENT_RANGES_MAX ||
	    (counted && size > FINGERPRINT_BYTES_MAX - set->bytes_used)) {
		node->partial = node->refused = true;
		return false;
	}
	if (!node->range_count)
		node->next_range = (uint16_t)set->range_count[set->turn];
	ranges[set->range_count[set->turn]++] = (struct memory_range){
		.address = address,
		.buffer = set->arena + set->arena_used,
		.size = size,
		.error = -1,
	};
	node->range_count++;
	set->arena_used += size;
	set->bytes_used += counted ? size : 0;
	return true;
}

bool content_child(struct fingerprints *set, struct content_node *node, remote_addr object)
{
	struct content_node *child;

	if (set->node_count == CONTENT_NODES_MAX) {
		node->partial = true;
		return false;
	}
	if (!node->child_count)
		node->first_child = (uint16_t)set->node_count;
	node->child_count++;
	child = &set->nodes[set->node_count++];
	*child = (struct content_node){ .object = object, .depth = (uint8_t)(node->depth - 1) };
	return true;
}

static bool plausible(remote_addr address)
{
	return address % 8 == 0 && address >= 4096 && address < 1ull << 47;
}

void fingerprints_begin(struct fingerprints *set, const remote_addr *objects, size_t count)
{
	set->node_count = set->root_count =
		count < FINGERPRINT_OBJECTS_MAX ? count : FINGERPRINT_OBJECTS_MAX;
	set->arena_used = set->bytes_used = 0;
	set->range_count[0] = set->range_count[1] = 0;
	for (size_t i = 0; i < set->root_count; i++)
		set->nodes[i] =
			(struct content_node){ .object = objects[i], .depth = FINGERPRINT_DEPTH };
}

const struct content_type *content_type_of(const struct fingerprints *set,
					   const struct content_node *node)
{
	return node->type ? &set->types[node->type - 1] : NULL;
}

static uint16_t find_type(const struct fingerprints *set, remote_addr address)
{
	for (uint16_t i = 0; i < set->type_count; i++)
		if (set->types[i].address == address)
			return (uint16_t)(i + 1);
	return 0;
}

static void finish(struct content_node *node, enum content_kind kind)
{
	node->kind = (uint8_t)kind;
	node->stage = STAGE_DONE;
}

/* The object's own part of the number when only its identity counts. */
void content_by_identity(struct content_node *node, enum content_kind kind)
{
	node->own = content_mix(content_mix(0, kind), node->object);
	node->opaque = kind == CONTENT_OTHER;
	finish(node, kind);
}

/* A type's name: letters of an identifier alone, as it will be shown. */
static void copy_name(const uint8_t *bytes, char name[CONTENT_TYPE_NAME])
{
	size_t i;

	for (i = 0; i + 1 < CONTENT_TYPE_NAME && bytes[i]; i++) {
		char c = (char)bytes[i];
		bool shown = (c >= '0' && c <= '9') || (c >= 'A' && c <= 'Z') ||
			     (c >= 'a' && c <= 'z') || c == '_' || c == '.';

		name[i] = shown ? c : '?';
	}
	name[i] = '\0';
}

static void keep_type(struct fingerprints *set, struct content_node *node, const uint8_t *bytes)
{
	struct content_type *type;
	uint16_t known = find_type(set, node->type_address);

	if (known) {
		node->type = known;
		return;
	}
	/* Programs have fewer in what they work on; of others the name is not told. */
	if (set->type_count == CONTENT_TYPES_MAX)
		return;
	type = &set->types[set->type_count++];
	*type = (struct content_type){ .address = node->type_address,
				       .basic_size = node->type_basic_size,
				       .flags = node->type_flags };
	copy_name(bytes, type->name);
	type->kind =
		content_kind_of(type->name, type->flags & FLAG_HEAP_TYPE ? 0 : type->basic_size,
				type->flags & FLAG_TYPE_SUBCLASS);
	node->type = set->type_count;
}

static uint64_t word_at(const uint8_t *bytes, size_t offset)
{
	uint64_t word;

	memcpy(&word, bytes + offset, sizeof(word));
	return word;
}

/* The head, type and name of an object; contents are content_parse()'s. */
static void advance(struct fingerprints *set, struct content_node *node,
		    const struct memory_range *ranges, size_t count)
{
	switch (node->stage) {
	case STAGE_NEW:
		if (!plausible(node->object) ||
		    !content_request(set, node, node->object, CONTENT_HEAD_SHORT, true) ||
		    !content_request(set, node, node->object + CONTENT_HEAD_SHORT,
				     CONTENT_HEAD_SIZE - CONTENT_HEAD_SHORT, true)) {
			node->own = content_mix(0, node->object);
			finish(node, CONTENT_UNREADABLE);
			return;
		}
		node->stage = STAGE_HEAD;
		return;
	case STAGE_HEAD:
		if (count < 2 || ranges[0].error) {
			finish(node, CONTENT_UNREADABLE);
			return;
		}
		memcpy(node->head, ranges[0].buffer, CONTENT_HEAD_SHORT);
		node->head_whole = !ranges[1].error;
		if (node->head_whole)
			memcpy(node->head + CONTENT_HEAD_SHORT, ranges[1].buffer,
			       CONTENT_HEAD_SIZE - CONTENT_HEAD_SHORT);
		node->type_address = word_at(node->head, OBJECT_TYPE);
		node->type = find_type(set, node->type_address);
		if (node->type) {
			node->stage = STAGE_CONTENT;
			content_parse(set, node, NULL, 0);
		} else if (!plausible(node->type_address)) {
			finish(node, CONTENT_UNREADABLE);
		} else if (content_request(set, node, node->type_address, TYPE_HEAD_SIZE, false)) {
			node->stage = STAGE_TYPE;
		} else {
			content_by_identity(node, CONTENT_OTHER);
		}
		return;
	case STAGE_TYPE:
		if (count < 1 || ranges[0].error) {
			finish(node, CONTENT_UNREADABLE);
			return;
		}
		node->type_basic_size = word_at(ranges[0].buffer, TYPE_BASIC_SIZE);
		node->type_flags = word_at(ranges[0].buffer, TYPE_FLAGS);
		if (!content_request(set, node, word_at(ranges[0].buffer, TYPE_NAME),
				     TYPE_NAME_SIZE, false)) {
			content_by_identity(node, CONTENT_OTHER);
			return;
		}
		node->stage = STAGE_NAME;
		return;
	case STAGE_NAME:
		if (count < 1 || ranges[0].error) {
			content_by_identity(node, CONTENT_OTHER);
			return;
		}
		keep_type(set, node, ranges[0].buffer);
		if (!node->type) {
			content_by_identity(node, CONTENT_OTHER);
			return;
		}
		node->stage = STAGE_CONTENT;
		content_parse(set, node, NULL, 0);
		return;
	default:
		content_parse(set, node, ranges, count);
	}
}

size_t fingerprints_round(struct fingerprints *set, struct memory_range **ret_ranges)
{
	const struct memory_range *last = set->ranges[set->turn];

	set->turn = !set->turn;
	set->range_count[set->turn] = 0;
	/* What is added on the way begins in this round, too. */
	for (size_t i = 0; i < set->node_count; i++) {
		struct content_node *node = &set->nodes[i];
		size_t first = node->next_range, count = node->range_count;

		if (node->stage == STAGE_DONE)
			continue;
		node->range_count = 0;
		advance(set, node, last + first, count);
		if (node->stage == STAGE_DONE || node->range_count)
			continue;
		/* It wanted nothing more; or there was no room, and only its identity is known. */
		node->stage = STAGE_DONE;
		if (node->refused) {
			node->own = content_mix(node->own, node->object);
			node->opaque = true;
		}
	}
	*ret_ranges = set->ranges[set->turn];
	return set->range_count[set->turn];
}

/* Numbers from the items up. */
static void fold(const struct fingerprints *set, const struct content_node *node,
		 struct fingerprint *result)
{
	result->content = content_mix(node->own, node->kind);
	result->whole = !node->partial;
	result->opaque = node->opaque;
	for (size_t i = 0; i < node->child_count; i++) {
		struct fingerprint item;

		/* Items lie behind what they are in, and depth is bounded. */
		fold(set, &set->nodes[node->first_child + i], &item);
		if (node->kind == CONTENT_CELL)
			result->content = item.content;
		else
			result->content = content_mix(result->content, item.content);
		result->whole &= item.whole;
		result->opaque |= item.opaque;
	}
}

struct fingerprint fingerprints_get(const struct fingerprints *set, size_t index)
{
	const struct content_node *node = &set->nodes[index];
	struct fingerprint result = { 0 };

	if (index >= set->root_count)
		return result;
	fold(set, node, &result);
	if (node->kind == CONTENT_CELL && node->child_count)
		node = &set->nodes[node->first_child];
	result.object = node->object;
	result.kind = node->kind;
	/* A module's function is one of the module's, so to say. */
	if (node->kind == CONTENT_METHOD && node->child_count &&
	    set->nodes[node->first_child].kind == CONTENT_CALLABLE)
		result.kind = CONTENT_CALLABLE;
	result.size = node->size;
	content_describe(set, node, result.shape, sizeof(result.shape));
	return result;
}

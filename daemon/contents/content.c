/* SPDX-License-Identifier: Apache-2.0 */
/*
 * How objects lie in memory, CPython 3.6 to 3.15 and numpy 1 and 2 on x86-64:
 * Include/cpython/ of each version, numpy/ndarraytypes.h.
 */
#include "daemon/contents/fingerprint_internal.h"
#include "pyintrospect/offsets.h"
#include "pyintrospect/unicode.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

enum {
	VARIABLE_SIZE = 16,
};

/* Contents up to this are taken whole, larger ones in so many pieces. */
#define WHOLE_MAX   4096
#define PIECES      16
#define PIECE_BYTES 256
/* The same of what an object holds beside other things. */
#define WHOLE_NESTED_MAX   2048
#define PIECE_NESTED_BYTES 128
/* And where most of the room for an object is taken: what comes late is not left out. */
#define WHOLE_LATE_MAX   512
#define PIECE_LATE_BYTES 32
#define LATE_FROM        (CONTENT_ROOT_BYTES_MAX / 3 * 2)
#define ITEMS_FIRST      8 /* of a list or tuple, and as many of the others */
#define ITEMS_OTHER      8
/* Addresses for each of the others, where no object holds it: which of them are the same. */
#define ITEMS_SPREAD  4
#define ENTRIES_MAX   16 /* of a dict that are looked at for its first items */
#define ENTRIES_OTHER 8  /* of its others, spread over them; half of that where it is an item */
#define INT_BYTES_MAX 4096

/* Asks for contents in one piece of memory: all of it, or pieces spread over it. */
void content_request_bytes(struct fingerprints *set, struct content_node *node, remote_addr address,
			   uint64_t size, enum content_stage next)
{
	bool late = node->level && set->root_bytes[node->root] > LATE_FROM;
	uint64_t whole = late ? WHOLE_LATE_MAX : node->nested ? WHOLE_NESTED_MAX : WHOLE_MAX;
	uint64_t piece = late ? PIECE_LATE_BYTES : node->nested ? PIECE_NESTED_BYTES : PIECE_BYTES;

	node->size = size;
	node->own = hash_combine(node->own, size);
	node->stage = (uint8_t)next;
	if (size > CONTENT_SIZE_BELIEVED) {
		content_opaque(node);
	} else if (size <= whole) {
		content_request(set, node, address, size, true);
	} else {
		node->partial = node->spread = true;
		for (uint64_t i = 0; i < PIECES; i++)
			content_request(set, node, address + i * (size - piece) / (PIECES - 1),
					piece, true);
	}
}

/* Final step: hashes all bytes read. */
static bool is_zero(const struct memory_range *range)
{
	const uint8_t *bytes = range->buffer;

	return !range->size || (!bytes[0] && !memcmp(bytes, bytes + 1, range->size - 1));
}

void content_mix_ranges(struct content_node *node, const struct memory_range *ranges, size_t count)
{
	bool zeros = node->partial;

	for (size_t i = 0; i < count; i++) {
		zeros = zeros && !ranges[i].error && is_zero(&ranges[i]);
		if (ranges[i].error) {
			/* Unreadable contents equal no others. */
			node->partial = node->opaque = true;
			node->own = hash_combine(node->own, node->object);
		} else {
			node->own = content_mix_bytes(node->own, ranges[i].buffer, ranges[i].size);
		}
	}
	/* Of an array with few ones between zeros, parts say nothing. */
	if (zeros)
		node->own = hash_combine(node->own, node->object);
	content_done(node);
}

/* An int's digits; their number and the sign are in one word, in two ways. */
static void parse_int(struct fingerprints *set, struct content_node *node)
{
	int64_t size = (int64_t)content_word(node, VARIABLE_SIZE);
	uint64_t digits, bytes;
	bool negative;

	if (set->minor >= 12) {
		digits = (uint64_t)size >> 3;
		negative = (size & 3) == 2;
		if ((size & 3) == 1)
			digits = 0;
	} else {
		negative = size < 0;
		digits = negative ? 0 - (uint64_t)size : (uint64_t)size;
	}
	node->own = hash_combine(node->own, negative);
	if (digits > INT_BYTES_MAX / 4) {
		node->partial = node->opaque = true;
		node->own = hash_combine(node->own, node->object);
		content_done(node);
		return;
	}
	bytes = 4 * digits;
	content_request_bytes(set, node, node->object + FIELD_2, bytes, STAGE_SECOND);
	if (!digits)
		node->size = 0;
	else if (digits == 1 && node->head_size >= FIELD_2 + 4)
		node->size = content_word(node, FIELD_2) & UINT32_MAX;
	else
		node->size = UINT64_MAX;
}

static void parse_str(struct fingerprints *set, struct content_node *node)
{
	const struct python_offsets *offsets = &python_layout_builtin(set->minor)->offsets;
	uint8_t head[UNICODE_HEAD_MAX] = { 0 };
	struct unicode unicode;
	uint64_t length = content_word(node, VARIABLE_SIZE);

	memcpy(head, node->head, CONTENT_HEAD_SIZE);
	if (unicode_parse(offsets, node->object, head, &unicode) ||
	    length > CONTENT_SIZE_BELIEVED) {
		content_by_identity(node, CONTENT_OTHER);
		return;
	}
	node->own = hash_combine(node->own, unicode.width);
	if (unicode.data < node->object || unicode.data - node->object > CONTENT_HEAD_SIZE) {
		/* One that is not compact, of a subclass, has its address further on. */
		node->place = unicode.width;
		content_request(set, node, node->object + (uint64_t)offsets->string_compact_data, 8,
				true);
		node->stage = STAGE_FOURTH;
		return;
	}
	content_request_bytes(set, node, unicode.data, length * unicode.width, STAGE_SECOND);
	node->size = length;
}

/* Where the characters of one that is not compact are. */
static void follow_str(struct fingerprints *set, struct content_node *node,
		       const struct memory_range *ranges)
{
	uint64_t length = content_word(node, VARIABLE_SIZE);

	if (ranges[0].error) {
		content_opaque(node);
		return;
	}
	content_request_bytes(set, node, content_word_of(&ranges[0], 0), length * node->place,
			      STAGE_SECOND);
	node->size = length;
}

void content_request_items(struct fingerprints *set, struct content_node *node, remote_addr items,
			   uint64_t count)
{
	uint64_t others;
	bool spread = node->level == 0 && count > ITEMS_FIRST + ITEMS_OTHER * ITEMS_SPREAD;

	node->size = count;
	node->own = hash_combine(node->own, count);
	if (count > CONTENT_SIZE_BELIEVED) {
		content_opaque(node);
		return;
	}
	if (node->depth == 0) {
		if (count)
			content_beyond(node);
		content_done(node);
		return;
	}
	content_request(set, node, items, 8 * (count < ITEMS_FIRST ? count : ITEMS_FIRST), true);
	if (count > ITEMS_FIRST) {
		others = count - ITEMS_FIRST;
		node->partial |= others > ITEMS_OTHER;
		node->spread = true;
		others = others < ITEMS_OTHER ? others : ITEMS_OTHER;
		node->place = spread ? ITEMS_SPREAD : 1;
		others *= node->place;
		for (uint64_t i = 1; i <= others; i++)
			content_request(
				set, node,
				items + 8 * (ITEMS_FIRST - 1 + i * (count - ITEMS_FIRST) / others),
				8, true);
	}
	node->stage = STAGE_SECOND;
}

/*
 * Items that are few objects, again and again, tell little by what each of them is: lists of such
 * differ in where each of them lies.
 */
static void add_pattern(struct content_node *node, const struct memory_range *ranges, size_t count)
{
	uint64_t seen[ITEMS_FIRST + ITEMS_OTHER * ITEMS_SPREAD], same;
	size_t seen_count = 0;
	bool alike = true;

	for (size_t i = 0; i < count; i++) {
		for (size_t at = 0; at + 8 <= ranges[i].size && !ranges[i].error; at += 8) {
			uint64_t item = content_word_of(&ranges[i], at);

			if (seen_count == sizeof(seen) / sizeof(seen[0]))
				return;
			for (same = 0; same < seen_count && seen[same] != item; same++)
				;
			alike &= !seen_count || same < seen_count;
			seen[seen_count++] = item;
			node->own = hash_combine(node->own, same);
		}
	}
	/* Where those looked at are one object, as in a list of answers, the others may be another.
	 */
	if (alike && node->partial)
		node->own = hash_combine(node->own, node->object);
}

void content_add_items(struct fingerprints *set, struct content_node *node,
		       const struct memory_range *ranges, size_t count)
{
	if (node->place > 1)
		add_pattern(node, ranges, count);
	for (size_t i = 0; i < count; i++) {
		if (ranges[i].error) {
			node->partial = node->opaque = true;
			continue;
		}
		if (node->place > 1 && i % node->place)
			continue;
		for (size_t at = 0; at + 8 <= ranges[i].size; at += 8)
			if (!content_child(set, node, content_word_of(&ranges[i], at)))
				break;
	}
	content_done(node);
}

/* Objects that its fields point to. */
static void add_fields(struct fingerprints *set, struct content_node *node, size_t first,
		       size_t count)
{
	if (node->depth == 0) {
		content_beyond(node);
		content_done(node);
		return;
	}
	for (size_t i = 0; i < count; i++)
		content_child(set, node, content_word(node, first + 8 * i));
	content_done(node);
}

/* A method of a module's is a function: the module tells nothing. */
static void parse_method(struct fingerprints *set, struct content_node *node)
{
	uint64_t function = content_word(node, FIELD_1), self = content_word(node, FIELD_2);

	node->own = hash_combine(node->own, function);
	if (!self || node->depth == 0) {
		content_by_identity(node, self ? CONTENT_METHOD : CONTENT_CALLABLE);
		node->partial = self != 0;
		return;
	}
	content_child(set, node, self);
	content_done(node);
}

static void parse_dict(struct fingerprints *set, struct content_node *node)
{
	node->size = content_word(node, FIELD_1);
	node->own = hash_combine(node->own, node->size);
	if (node->size == 0) {
		content_done(node);
	} else if (node->depth == 0) {
		content_beyond(node);
		content_done(node);
	} else {
		content_request(set, node, content_word(node, FIELD_3), KEYS_HEAD_SIZE, true);
		node->stage = STAGE_SECOND;
	}
}

/* What comes behind the first entries changes as they do: some of it, all over the dict. */
static void request_other_entries(struct fingerprints *set, struct content_node *node,
				  const struct dict_keys *keys, uint64_t looked)
{
	uint64_t stride = keys->hashed ? 24 : 16, left = keys->count - looked;
	uint64_t others = node->level ? ENTRIES_OTHER / 2 : ENTRIES_OTHER;

	if (others > left)
		others = left;
	for (uint64_t i = 1; i <= others; i++)
		content_request(set, node,
				keys->entries + stride * (looked - 1 + i * left / others), stride,
				true);
}

/* Where a dict's entries are, and its values when those are elsewhere. */
static void dict_parse_keys(struct fingerprints *set, struct content_node *node,
			    const struct memory_range *ranges, size_t count)
{
	remote_addr keys = content_word(node, FIELD_3), values = content_word(node, FIELD_4);
	struct dict_keys found;
	uint64_t looked;

	if (ranges[0].error) {
		content_mix_ranges(node, ranges, count);
		return;
	}
	if (!dict_keys_parse(ranges[0].buffer, keys, set->minor, &found))
		found = (struct dict_keys){ 0 };
	looked = found.count < ENTRIES_MAX ? found.count : ENTRIES_MAX;
	node->partial |= found.count > looked;
	node->spread = true;
	node->place = found.hashed;
	if (!looked ||
	    !content_request(set, node, found.entries, (found.hashed ? 24 : 16) * looked, true)) {
		node->opaque = true;
		node->own = hash_combine(node->own, node->object);
		content_done(node);
		return;
	}
	if (values)
		content_request(set, node, values + (set->minor >= 13 ? VALUES_INLINE_HEAD : 0),
				8 * looked, true);
	else
		request_other_entries(set, node, &found, looked);
	node->stage = STAGE_THIRD;
}

/* Keys and values of the first entries that are in use. */
static void content_add_entries(struct fingerprints *set, struct content_node *node,
				const struct memory_range *ranges, size_t count)
{
	bool split = content_word(node, FIELD_4) != 0;
	size_t stride = node->place ? 24 : 16, items = 0;

	if (!count || ranges[0].error || (split && (count < 2 || ranges[1].error))) {
		node->opaque = node->partial = true;
		node->own = hash_combine(node->own, node->object);
		content_done(node);
		return;
	}
	for (size_t i = 0; (i + 1) * stride <= ranges[0].size; i++) {
		uint64_t key = content_word_of(&ranges[0], i * stride + stride - 16);
		uint64_t value = split ? content_word_of(&ranges[1], 8 * i)
				       : content_word_of(&ranges[0], i * stride + stride - 8);

		if (!key || !value)
			continue;
		if (items++ == ITEMS_FIRST) {
			node->partial = true;
			break;
		}
		content_child(set, node, key);
		content_child(set, node, value);
	}
	for (size_t i = 1; i < count && !split; i++) {
		uint64_t key = content_word_of(&ranges[i], stride - 16);
		uint64_t value = content_word_of(&ranges[i], stride - 8);

		node->opaque |= ranges[i].error != 0;
		if (ranges[i].error || !key || !value)
			continue;
		content_child(set, node, key);
		content_child(set, node, value);
	}
	content_done(node);
}

/* What the head alone tells, or where the contents are. */
static void parse_head(struct fingerprints *set, struct content_node *node)
{
	const struct content_type *type = content_type_of(set, node);
	uint64_t size = content_word(node, VARIABLE_SIZE);

	node->kind = type->kind;
	switch (node->kind) {
	case CONTENT_NONE:
		content_done(node);
		return;
	case CONTENT_CONSTANT:
	case CONTENT_CALLABLE:
	case CONTENT_OTHER:
		content_by_identity(node, node->kind);
		return;
	case CONTENT_ITERATOR:
	case CONTENT_GENERATOR:
		if (set->call_begins)
			break;
		content_by_identity(node, CONTENT_OTHER);
		return;
	default:
		break;
	}
	if (!type->rule ||
	    (node->head_size < CONTENT_HEAD_SIZE && node->head_size < type->basic_size)) {
		/* The object is the last of its mapping, and shorter than most; or its type is odd.
		 */
		content_by_identity(node, CONTENT_OTHER);
		return;
	}
	if (type->derived || node->kind > CONTENT_CONSTANT || strchr(type->name, '.'))
		node->own = hash_combine(node->own, node->type_address);
	content_add_attributes(set, node);
	node->partial |= type->rule->partial && size;
	for (size_t i = 0; type->rule->objects >> i; i++)
		if (type->rule->objects >> i & 1 && content_word(node, FIELD_1 + 8 * i))
			content_child(set, node, content_word(node, FIELD_1 + 8 * i));
	if (type->rule->parse) {
		type->rule->parse(set, node, NULL, 0);
		return;
	}
	switch (node->kind) {
	case CONTENT_INT:
	case CONTENT_BOOL:
		parse_int(set, node);
		break;
	case CONTENT_FLOAT:
		node->own = hash_combine(node->own, content_word(node, FIELD_1));
		content_done(node);
		break;
	case CONTENT_COMPLEX:
		node->own = content_mix_bytes(node->own, node->head + FIELD_1, 16);
		content_done(node);
		break;
	case CONTENT_SCALAR:
		node->own = content_mix_bytes(hash_combine(node->own, node->type_address),
					      node->head + FIELD_1, type->root_size - FIELD_1);
		content_done(node);
		break;
	case CONTENT_STR:
		parse_str(set, node);
		break;
	case CONTENT_BYTES:
		content_request_bytes(set, node, node->object + FIELD_3, size, STAGE_SECOND);
		break;
	case CONTENT_BYTEARRAY:
		content_request_bytes(set, node, content_word(node, FIELD_4), size, STAGE_SECOND);
		break;
	case CONTENT_TUPLE:
		/* 3.14: its hash is before them. */
		content_request_items(set, node,
				      node->object + (set->minor >= 14 ? FIELD_3 : FIELD_2), size);
		break;
	case CONTENT_LIST:
		content_request_items(set, node, content_word(node, FIELD_2), size);
		break;
	case CONTENT_SLICE:
	case CONTENT_RANGE:
		add_fields(set, node, FIELD_1, 3);
		break;
	case CONTENT_CELL:
		add_fields(set, node, FIELD_1, 1);
		break;
	case CONTENT_METHOD:
		parse_method(set, node);
		break;
	case CONTENT_DICT:
		parse_dict(set, node);
		break;
	default:
		content_parse_fields(set, node, NULL, 0);
		break;
	}
}

void content_parse(struct fingerprints *set, struct content_node *node,
		   const struct memory_range *ranges, size_t count)
{
	const struct content_type *type = content_type_of(set, node);

	if (node->kind == CONTENT_ATTRIBUTES) {
		content_parse_attributes(set, node, ranges, count);
	} else if (node->stage == STAGE_CONTENT) {
		parse_head(set, node);
	} else if (!count) {
		/* There was nothing to read, or no room for it. */
		content_done(node);
	} else if (type->rule && type->rule->parse) {
		type->rule->parse(set, node, ranges, count);
	} else if (node->kind == CONTENT_TUPLE || node->kind == CONTENT_LIST) {
		content_add_items(set, node, ranges, count);
	} else if (node->kind == CONTENT_DICT && node->stage == STAGE_SECOND) {
		dict_parse_keys(set, node, ranges, count);
	} else if (node->kind == CONTENT_DICT) {
		content_add_entries(set, node, ranges, count);
	} else if (node->kind == CONTENT_STR && node->stage == STAGE_FOURTH) {
		follow_str(set, node, ranges);
	} else {
		content_mix_ranges(node, ranges, count);
	}
}

/* "Decimal" of "decimal.Decimal"; numpy's own are known by both. */
static const char *short_name(const char *name)
{
	const char *dot = strrchr(name, '.');

	return dot && dot[1] && strncmp(name, "numpy.", 6) != 0 ? dot + 1 : name;
}

void content_describe(const struct fingerprints *set, const struct content_node *node, char *text,
		      size_t size)
{
	const struct content_type *type = content_type_of(set, node);
	const char *name = type && type->name[0] ? short_name(type->name) : "?";

	if (node->kind == CONTENT_UNREADABLE)
		snprintf(text, size, "?");
	else if (node->kind == CONTENT_NONE)
		snprintf(text, size, "None");
	else if (node->kind == CONTENT_ARRAY || node->kind == CONTENT_TENSOR)
		content_describe_array(set, node, text, size);
	else if ((node->kind >= CONTENT_STR && node->kind <= CONTENT_DICT) ||
		 (node->kind >= CONTENT_SET && node->kind <= CONTENT_BUFFER))
		snprintf(text, size, "%s(%" PRIu64 ")", name, node->size);
	else if (node->kind != CONTENT_OBJECT || !content_describe_frame(set, node, text, size))
		snprintf(text, size, "%s", name);
}

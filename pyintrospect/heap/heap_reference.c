/* SPDX-License-Identifier: Apache-2.0 */
#include "pyintrospect/heap/heap_reference.h"

#include "pyintrospect/dict_layout.h"
#include "pyintrospect/field.h"
#include "pyintrospect/heap/heap_entries.h"
#include "pyintrospect/heap/heap_storage.h"
#include "pyintrospect/heap/heap_variable.h"
#include "pyintrospect/unicode.h"

#include <stdlib.h>

#define NAME_BYTES 80
/* Of a set that a target may claim to have; one beyond it is not in the copy. */
#define TABLE_BELIEVED (1ull << 32)

/* An object in hand: its copy, from its head on. */
struct held_object {
	struct heap_walk *walk;
	const struct heap_type *type;
	const uint8_t *bytes;
	const uint8_t *fields; /* object_fields() */
	uint64_t size;         /* of the copy, to the end of its block */
	remote_addr address;
	uint32_t path;
};

static void visit_item(struct heap_walk *walk, void *context, remote_addr key, remote_addr value)
{
	const struct held_object *object = context;

	heap_walk_follow(walk, value, object->path, walk->steps[HEAP_STEP_VALUE]);
	heap_walk_follow(walk, key, object->path, walk->steps[HEAP_STEP_KEY]);
}

/* ---- words */

static void follow_words(const struct held_object *object, uint64_t first, uint64_t end,
			 enum heap_step step)
{
	for (uint64_t at = first; at + WORD_SIZE <= end && at + WORD_SIZE <= object->size;
	     at += WORD_SIZE)
		heap_walk_follow(object->walk, field_u64(object->bytes + at, 0), object->path,
				 object->walk->steps[step]);
}

/* Names of slots and members, by the word that they are: read once a type. */
static void read_slots(struct heap_walk *walk, struct heap_type *type)
{
	remote_addr member = heap_image_word(
		walk->image, type->address + walk->types->layout.head_extra + TYPE_MEMBERS);

	type->read_slots = true;
	for (unsigned i = 0; member && i < HEAP_SLOT_NAMES; i++, member += MEMBER_SIZE) {
		remote_addr name = heap_image_word(walk->image, member + MEMBER_NAME);
		uint64_t offset = heap_image_word(walk->image, member + MEMBER_OFFSET);
		char words[NAME_BYTES + 1] = ".";

		if (!name)
			break;
		if (offset % WORD_SIZE || offset / WORD_SIZE >= HEAP_SLOT_NAMES)
			continue;
		for (size_t k = 1; k + 1 < sizeof(words); k++) {
			if (heap_image_read(walk->image, name + k - 1, &words[k], 1) || !words[k])
				break;
			words[k + 1] = '\0';
		}
		if (!heap_entries_is_name(words + 1))
			continue;
		if (!type->slot_names)
			type->slot_names = calloc(HEAP_SLOT_NAMES, sizeof(*type->slot_names));
		if (type->slot_names)
			type->slot_names[offset / WORD_SIZE] =
				heap_paths_string(walk->paths, words);
	}
}

/*
 * Fields of a code object that are not set until they are used hold whatever was there before: of
 * those without a name only memory and bytes are taken.
 */
static bool is_believed(const struct held_object *object, uint64_t at, uint64_t word, uint32_t step)
{
	const struct heap_walk *walk = object->walk;
	const struct python_offsets *offsets = walk->types->layout.offsets;
	uint32_t node;

	if (object->type->kind != HEAP_KIND_CODE || step ||
	    (int32_t)at == offsets->code_local_names || (int32_t)at == offsets->code_cell_names ||
	    (int32_t)at == offsets->code_free_names)
		return true;
	node = heap_walk_object(walk, word);
	return node == HEAP_NODE_NONE ||
	       walk->types->items[walk->nodes->kinds[node]].kind == HEAP_KIND_BYTES;
}

static void follow_slots(struct held_object *object)
{
	struct heap_walk *walk = object->walk;
	struct heap_type *type = &walk->types->items[object->type - walk->types->items];
	uint64_t own =
		type->kind == HEAP_KIND_VARIABLE
			? 0
			: heap_type_object_bytes(walk->types, type, object->bytes, object->size);
	/* Behind it a block has what was there before. */
	uint64_t end = own ? own : object->size;
	const uint64_t extra = walk->types->layout.head_extra;

	if (!type->read_slots)
		read_slots(walk, type);
	for (uint64_t at = OBJECT_HEAD + extra; at + WORD_SIZE <= end; at += WORD_SIZE) {
		uint64_t word = field_u64(object->bytes + at, 0), slot = at / WORD_SIZE;
		uint32_t step =
			type->slot_names && slot < HEAP_SLOT_NAMES ? type->slot_names[slot] : 0;

		if (type->weak_offset > 0 && at == (uint64_t)type->weak_offset)
			continue;
		if ((type->dict_offset > 0 && at == (uint64_t)type->dict_offset) ||
		    (type->kind == HEAP_KIND_TYPE && at == TYPE_DICT + extra) ||
		    (type->kind == HEAP_KIND_MODULE && at == MODULE_DICT_AT + extra)) {
			heap_entries_attributes(walk, word, object->path);
			continue;
		}
		if (!is_believed(object, at, word, step))
			continue;
		/* What a type has beside is text, and keys with room that nobody cleared. */
		if (type->kind == HEAP_KIND_TYPE && heap_walk_object(walk, word) == HEAP_NODE_NONE)
			heap_walk_claim(walk, word, 0, object->path, false);
		else
			heap_walk_follow(walk, word, object->path,
					 step ? step : walk->steps[HEAP_STEP_OTHER]);
	}
}

static remote_addr closure_of(const struct held_object *object)
{
	struct heap_walk *walk = object->walk;
	struct heap_type *type = &walk->types->items[object->type - walk->types->items];

	if (!type->read_slots)
		read_slots(walk, type);
	for (uint64_t slot = 0; type->slot_names && slot < HEAP_SLOT_NAMES; slot++)
		if (type->slot_names[slot] == walk->steps[HEAP_STEP_CLOSURE] &&
		    (slot + 1) * WORD_SIZE <= object->size)
			return field_u64(object->bytes, (int32_t)(slot * WORD_SIZE));
	return 0;
}

/* Behind what a built-in type has: a derived type's own slots and dict. */
static void follow_rest(struct held_object *object, uint64_t first)
{
	const struct heap_type *type = object->type;

	if (type->dict_offset > 0 && (uint64_t)type->dict_offset >= first &&
	    (uint64_t)type->dict_offset + WORD_SIZE <= object->size)
		heap_entries_attributes(object->walk,
					field_u64(object->bytes + type->dict_offset, 0),
					object->path);
	for (uint64_t at = first; at + WORD_SIZE <= type->basic; at += WORD_SIZE)
		if (at != (uint64_t)type->weak_offset && at != (uint64_t)type->dict_offset)
			follow_words(object, at, at + WORD_SIZE, HEAP_STEP_OTHER);
}

/* ---- by kind */

/* What it says itself of its storage, which matters where nobody else does. */
static uint64_t storage_of(const struct held_object *object)
{
	const struct heap_walk *walk = object->walk;

	return walk->nodes->foreign ? heap_storage_bytes(walk->types, object->type, object->bytes)
				    : 0;
}

static void follow_list(struct held_object *object)
{
	uint64_t count = field_u64(object->fields, LIST_SIZE);
	remote_addr items = field_u64(object->fields, LIST_ITEMS);
	const uint8_t *words;

	if (items)
		heap_walk_claim(object->walk, items, storage_of(object), object->path, false);
	words = count < TABLE_BELIEVED
			? heap_image_at(object->walk->image, items, count * WORD_SIZE)
			: NULL;
	for (uint64_t i = 0; words && i < count; i++)
		heap_walk_follow(object->walk, field_u64(words + i * WORD_SIZE, 0), object->path,
				 object->walk->steps[HEAP_STEP_ITEM]);
	follow_rest(object, LIST_HEAD + object->walk->types->layout.head_extra);
}

/* One that is not ASCII may have its UTF-8 beside it, one of a derived type its characters. */
static void follow_string(struct held_object *object)
{
	const struct python_offsets *offsets = object->walk->types->layout.offsets;
	uint8_t head[UNICODE_HEAD_MAX] = { 0 };
	struct unicode unicode;
	uint64_t end = (uint64_t)offsets->string_compact_data;

	memcpy(head, object->bytes, object->size < sizeof(head) ? object->size : sizeof(head));
	if (unicode_parse(offsets, 0, head, &unicode) ||
	    unicode.data == (uint64_t)offsets->string_ascii_data)
		return;
	if (unicode.data != end)
		end += WORD_SIZE;
	for (uint64_t at = (uint64_t)offsets->string_ascii_data; at + WORD_SIZE <= end;
	     at += WORD_SIZE)
		heap_walk_claim(object->walk, field_u64(head, (int32_t)at), 0, object->path, false);
	if (unicode.data != (uint64_t)offsets->string_compact_data)
		follow_rest(object, end);
}

static void follow_tuple(struct held_object *object)
{
	uint64_t first = (uint64_t)object->walk->types->layout.offsets->tuple_items;
	uint64_t count = field_u64(object->fields, OBJECT_SIZE);

	if (count < TABLE_BELIEVED)
		follow_words(object, first, first + count * WORD_SIZE, HEAP_STEP_ITEM);
}

static void follow_dict(struct held_object *object)
{
	const struct heap_entries visitor = { visit_item, object };

	(void)heap_entries_visit(object->walk, object->address, object->path, &visitor);
	follow_rest(object, DICT_HEAD_SIZE + object->walk->types->layout.head_extra);
}

static void follow_set(struct held_object *object)
{
	uint64_t mask = field_u64(object->fields, SET_MASK);
	remote_addr table = field_u64(object->fields, SET_TABLE);
	const uint8_t *entries;

	/* A small one is inside the set itself. */
	if (table - object->address >= object->size)
		heap_walk_claim(object->walk, table, storage_of(object), object->path, false);
	entries = mask < TABLE_BELIEVED
			  ? heap_image_at(object->walk->image, table, (mask + 1) * SET_ENTRY)
			  : NULL;
	for (uint64_t i = 0; entries && i <= mask; i++)
		heap_walk_follow(object->walk, field_u64(entries + i * SET_ENTRY, 0), object->path,
				 object->walk->steps[HEAP_STEP_SET]);
}

/* Only an array of objects holds references. */
static void follow_array(struct held_object *object)
{
	struct heap_walk *walk = object->walk;
	remote_addr data = field_u64(object->fields, ARRAY_DATA);
	const uint32_t extra = walk->types->layout.head_extra;
	uint8_t description[DESCRIPTION_NUMBER + sizeof(int32_t)] = { 0 };
	uint64_t before = walk->types->items[walk->paths->items[object->path].type].storage_bytes;
	uint32_t number = HEAP_ARRAY_NUMBERS - 1;
	bool objects;

	if (!heap_image_read(walk->image, field_u64(object->fields, ARRAY_DESCRIPTION) + extra,
			     description, sizeof(description))) {
		uint32_t said = (uint32_t)field_i32(description, DESCRIPTION_NUMBER);

		number = said < HEAP_ARRAY_NUMBERS - 1 ? said : number;
	}
	objects = description[DESCRIPTION_KIND] == 'O' || description[DESCRIPTION_KIND] == 'V';
	heap_walk_claim(walk, data, storage_of(object), object->path, objects);
	walk->arrays[number].count += !walk->mends.at_work;
	walk->arrays[number].bytes +=
		walk->types->items[walk->paths->items[object->path].type].storage_bytes - before;
	follow_words(object, ARRAY_DATA + WORD_SIZE + extra, object->type->basic, HEAP_STEP_OTHER);
}

/* What lies before an instance, or, from 3.13 on, behind its fixed part. */
static void follow_managed(struct held_object *object)
{
	const struct heap_type *type = object->type;
	const struct heap_layout *layout = &object->walk->types->layout;
	const int minor = layout->minor;
	remote_addr dict = field_u64(object->bytes, -(int32_t)layout->managed_dict_before);
	remote_addr values = 0, keys;

	if (!(type->flags & TYPE_FLAG_MANAGED_DICT))
		return;
	if (minor == 11)
		values = field_u64(object->bytes, -MANAGED_VALUES_BEFORE);
	if (minor == 12 && dict & 1) {
		values = dict + 1;
		dict = 0;
	}
	keys = heap_image_word(object->walk->image,
			       type->address + layout->head_extra + dict_cached_keys_offset(minor));
	if (dict)
		heap_entries_attributes(object->walk, dict, object->path);
	if (values) {
		heap_walk_claim(object->walk, values, 0, object->path, false);
		heap_entries_shared_attributes(object->walk, keys, values, object->path);
	}
	if (minor >= 13 && type->flags & TYPE_FLAG_INLINE_VALUES)
		heap_entries_shared_attributes(object->walk, keys,
					       object->address + type->basic + VALUES_INLINE_HEAD,
					       object->path);
}

static void follow_object(struct held_object *object)
{
	const struct heap_type *type = object->type;
	const uint32_t extra = object->walk->types->layout.head_extra;
	static const uint32_t least[] = {
		[HEAP_KIND_TUPLE] = VARIABLE_HEAD, [HEAP_KIND_LIST] = LIST_HEAD,
		[HEAP_KIND_DICT] = DICT_HEAD_SIZE, [HEAP_KIND_SET] = SET_HEAD,
		[HEAP_KIND_WEAKREF] = 32,          [HEAP_KIND_ARRAY] = ARRAY_HEAD,
		[HEAP_KIND_BYTEARRAY] = 40,        [HEAP_KIND_VARIABLE] = 0,
	};

	if (object->size < OBJECT_HEAD + extra || object->size < least[type->kind] + extra)
		return;
	if (type->prefix > object->walk->types->layout.collector_bytes)
		follow_managed(object);
	switch (type->kind) {
	case HEAP_KIND_INT:
	case HEAP_KIND_BYTES:
		return;
	case HEAP_KIND_STR:
		follow_string(object);
		return;
	case HEAP_KIND_WEAKREF:
		follow_words(object, WEAKREF_CALLBACK + extra, WEAKREF_CALLBACK + WORD_SIZE + extra,
			     HEAP_STEP_OTHER);
		return;
	case HEAP_KIND_BYTEARRAY:
		if (type->basic >= BYTEARRAY_BYTES + WORD_SIZE + extra)
			follow_words(object, BYTEARRAY_BYTES + extra,
				     BYTEARRAY_BYTES + WORD_SIZE + extra, HEAP_STEP_OTHER);
		else
			heap_walk_claim(object->walk, field_u64(object->fields, BYTEARRAY_DATA),
					storage_of(object), object->path, false);
		return;
	case HEAP_KIND_LIST:
		follow_list(object);
		return;
	case HEAP_KIND_TUPLE:
		follow_tuple(object);
		return;
	case HEAP_KIND_DICT:
		follow_dict(object);
		return;
	case HEAP_KIND_SET:
		follow_set(object);
		return;
	case HEAP_KIND_ARRAY:
		follow_array(object);
		return;
	case HEAP_KIND_CODE:
		/* In the bytecode lie caches, whose references count for nobody. */
		object->size = object->size < type->basic ? object->size : type->basic;
		follow_slots(object);
		return;
	case HEAP_KIND_FUNCTION:
		heap_variable_follow_closure(object->walk, object->address, object->size,
					     closure_of(object), object->path);
		follow_slots(object);
		return;
	case HEAP_KIND_THREAD_LOCAL:
		heap_variable_follow_threads(object->walk, object->address, type->basic,
					     object->path);
		follow_slots(object);
		return;
	default:
		follow_slots(object);
		return;
	}
}

void heap_reference_follow(struct heap_walk *walk, uint32_t node, uint32_t path)
{
	struct heap_block block = heap_nodes_block(walk->nodes, node);
	const struct heap_extent *extent = heap_image_find(walk->image, block.address);
	uint16_t kind = walk->nodes->kinds[node];
	struct held_object object = { .walk = walk, .path = path };
	uint32_t prefix = 0;

	if (!extent)
		return;
	if (kind >= HEAP_NODE_FIRST_TYPE) {
		object.type = &walk->types->items[kind];
		prefix = object.type->prefix;
	}
	object.bytes = extent->bytes + (block.address - extent->start) + prefix;
	object.size =
		extent->end - block.address < block.size ? extent->end - block.address : block.size;
	walk->mends.typed = object.type;
	if (object.size < prefix)
		return;
	object.size -= prefix;
	object.address = block.address + prefix;
	if (object.type && object.size >= walk->types->layout.head_extra) {
		object.fields = object_fields(&walk->types->layout, object.bytes);
		follow_object(&object);
	}
	if (!object.type)
		follow_words(&object, 0, object.size, HEAP_STEP_OTHER);
}

void heap_reference_follow_read(struct heap_walk *walk, uint16_t type, remote_addr address,
				const uint8_t *bytes, uint64_t size, uint32_t path)
{
	struct held_object object = {
		.walk = walk,
		.type = &walk->types->items[type],
		.bytes = bytes,
		.size = size,
		.address = address,
		.path = path,
	};

	if (size < walk->types->layout.head_extra)
		return;
	object.fields = object_fields(&walk->types->layout, bytes);
	follow_object(&object);
}

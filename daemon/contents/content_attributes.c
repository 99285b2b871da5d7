/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The attributes of an object of a program's class: its slots, and its dict,
 * which may not have been made yet (pyintrospect/dict_layout.h has the
 * layouts):
 *
 *   what is before the object, or its dict's address -> the dict -> keys ->
 *   entries and values -> names, of those classes alone that have caches
 *
 * Names are interned: their addresses tell them apart. Attributes have no order.
 */
#include "daemon/contents/fingerprint_internal.h"

enum {
	VALUES_INLINE_MAX = 30,
	DICT_USED = 16,
	/* a name, compact and of ASCII */
	NAME_LENGTH = 16,
	NAME_DATA_3_11 = 48,
	NAME_DATA_3_12 = 40,
	NAME_BYTES = 16,
};

#define ENTRIES_BELIEVED (1u << 24)

/* Of the object itself, and of one in it. */
#define ATTRIBUTES_MAX        32
#define ATTRIBUTES_NESTED_MAX 16
#define NAME_PROBES           8

/* Attributes that are caches: filled lazily, or no part of the value. */
static const char *const caches[] = {
	/* pandas */
	"_cache", "_item_cache", "_cacher", "_flags", "_attrs", "_id", "_is_copy", "_reset_cache",
	"refs", "parent", "_blknos", "_blklocs", "_known_consoli", "_is_consolida", "_references",
	/* pathlib */
	"_hash", "_str", "_pparts", "_cached_cpart", "_tail_cached", "_lines_cached",
	"_str_normcase", "_parts_normca", "_info",
	/* scipy */
	"_random_state"
};

bool content_name_is_cache(const char *name)
{
	for (size_t i = 0; i < sizeof(caches) / sizeof(caches[0]); i++) {
		size_t length = strlen(caches[i]);

		/* Long ones by their first letters. */
		if (!strncmp(name, caches[i], length) && (length >= 12 || !name[length]))
			return true;
	}
	return false;
}

static bool managed(const struct fingerprints *set, const struct content_type *type)
{
	return set->minor >= 11 && type->flags & TYPE_FLAG_MANAGED_DICT;
}

/* Where the dict's address is in an object that has one; 0: nowhere. */
static remote_addr dict_place(const struct content_type *type, const struct content_node *node)
{
	int64_t offset = type->dict_offset, size;
	int64_t items = (int64_t)content_word(node, FIELD_1);

	if (offset < 0) {
		/* From its end; to 3.11. */
		items = items < 0 ? -items : items;
		if (type->item_size > INSTANCE_SIZE_MAX || items > (int64_t)ENTRIES_BELIEVED ||
		    items < 0)
			return 0;
		size = (int64_t)type->basic_size + items * (int64_t)type->item_size;
		offset += (size + 7) / 8 * 8;
	} else if (offset + 8 > INSTANCE_SIZE_MAX) {
		return 0;
	}
	return offset < 16 ? 0 : node->object + (uint64_t)offset;
}

static bool is_among(remote_addr key, const struct content_choice *choice)
{
	for (size_t i = 0; i < choice->count; i++)
		if (choice->names[i] == key)
			return true;
	return false;
}

/* Those that count alone, of the attributes of an object that was asked for itself; NULL: all do.
 */
static const struct content_choice *choice_of(const struct fingerprints *set,
					      const struct content_node *node)
{
	const struct content_choice *choice = &set->choices[node->root];
	uint64_t slots = content_type_of(set, node)->slots;

	if (!choice->count || node->parent - 1 != node->root)
		return NULL;
	/* A slot that nothing is known of. */
	for (size_t i = 0; i < choice->count; i++)
		if (choice->names[i] < SLOT_WORDS && !(slots >> choice->names[i] & 1))
			return NULL;
	return choice;
}

/* Of those chosen, what no slot has. */
static size_t names_in_dict(const struct content_choice *choice)
{
	size_t count = 0;

	for (size_t i = 0; i < choice->count; i++)
		count += choice->names[i] >= SLOT_WORDS;
	return count;
}

/* Those in slots that were read with the head, and how many words others need. */
static size_t add_slots(struct fingerprints *set, struct content_node *node,
			const struct content_type *type, const uint8_t *words, size_t first,
			size_t count)
{
	const struct content_choice *choice = choice_of(set, node);
	size_t last = 0;

	for (size_t i = 0; i < SLOT_WORDS; i++) {
		struct content_node *child;
		uint64_t value;

		if (!(type->slots >> i & 1))
			continue;
		last = i + 1;
		if (i < first || i >= first + count || (choice && !is_among(i, choice)))
			continue;
		memcpy(&value, words + 8 * (i - first), sizeof(value));
		child = value ? content_child(set, node, value) : NULL;
		if (child)
			child->tag = i;
	}
	return last;
}

#define HEAD_SLOTS ((CONTENT_HEAD_SIZE - 16) / 8)

void content_add_attributes(struct fingerprints *set, struct content_node *node)
{
	const struct content_type *type = content_type_of(set, node);
	const struct content_choice *choice;
	struct content_node *child;
	remote_addr place = 0;

	if (!type->attributes && !type->slots)
		return;
	if (type->attributes && !managed(set, type)) {
		place = dict_place(type, node);
		node->opaque |= !place;
	}
	child = content_child(set, node, 0);
	if (!child || !node->depth) {
		node->opaque = true;
		node->own = hash_combine(node->own, node->object);
		return;
	}
	child->object = node->object;
	child->kind = CONTENT_ATTRIBUTES;
	child->stage = STAGE_CONTENT;
	child->type = node->type;
	child->type_address = node->type_address;
	child->place = place;
	child->depth = node->depth;
	choice = choice_of(set, child);
	child->chosen = choice && !names_in_dict(choice);
	(void)add_slots(set, child, type, node->head + 16, 0, HEAD_SLOTS);
}

/* What comes before everything else: slots that the head did not hold are the last. */
static void ask_first(struct fingerprints *set, struct content_node *node,
		      const struct content_type *type)
{
	size_t slots =
		SLOT_WORDS - (type->slots ? (size_t)__builtin_clzll(type->slots) : SLOT_WORDS);
	bool given = true;

	if (managed(set, type)) {
		remote_addr keys = node->type_address + dict_cached_keys_offset(set->minor);

		given = set->minor == 11
				? content_request(set, node, node->object - MANAGED_VALUES_BEFORE,
						  16, true)
				: content_request(set, node, node->object - MANAGED_DICT_BEFORE, 8,
						  true);
		given = given && content_request(set, node, keys, 8, true);
		if (given && set->minor >= 13 && type->flags & TYPE_FLAG_INLINE_VALUES)
			given = content_request(set, node, node->object + type->basic_size,
						VALUES_INLINE_HEAD + 8 * (size_t)type->capacity,
						true);
	} else if (node->place) {
		given = content_request(set, node, node->place, 8, true);
	}
	if (given && slots > HEAD_SLOTS)
		given = content_request(set, node, node->object + CONTENT_HEAD_SIZE,
					8 * (slots - HEAD_SLOTS), true);
	if (!given)
		content_opaque(node);
	node->stage = given ? STAGE_SECOND : STAGE_DONE;
}

static uint32_t arena_offset(const struct fingerprints *set, const void *bytes)
{
	return (uint32_t)((const uint8_t *)bytes - set->arena);
}

static uint64_t arena_word(const struct fingerprints *set, uint32_t offset)
{
	uint64_t word;

	if (offset > sizeof(set->arena) - sizeof(word))
		return 0;
	memcpy(&word, set->arena + offset, sizeof(word));
	return word;
}

static size_t limit_of(const struct content_node *node)
{
	return node->nested ? ATTRIBUTES_NESTED_MAX : ATTRIBUTES_MAX;
}

static void ask_entries(struct fingerprints *set, struct content_node *node,
			const struct dict_keys *keys)
{
	uint64_t count = keys->count;
	bool given;

	if (count > limit_of(node)) {
		count = limit_of(node);
		node->partial = true;
	}
	node->counted = (uint32_t)count;
	node->hashed = keys->hashed;
	if (!count) {
		content_done(node);
		return;
	}
	given = content_request(set, node, keys->entries, (keys->hashed ? 24 : 16) * count, true);
	if (given && node->values && !node->values_at)
		given = content_request(set, node, node->values, 8 * count, true);
	if (!given)
		content_opaque(node);
	node->stage = given ? STAGE_FIFTH : STAGE_DONE;
}

/* The keys, and when they are those of the last object of this type, all that follows. */
static void ask_keys(struct fingerprints *set, struct content_node *node,
		     const struct content_type *type)
{
	if (!content_plausible(node->keys) ||
	    !content_request(set, node, node->keys, KEYS_HEAD_SIZE, true)) {
		content_opaque(node);
		return;
	}
	node->stage = STAGE_FOURTH;
	if (type->keys_address != node->keys || !type->keys.count)
		return;
	ask_entries(set, node, &type->keys);
}

/* Where the dict or the values of an object are. */
static void parse_first(struct fingerprints *set, struct content_node *node,
			struct content_type *type, const struct memory_range *ranges, size_t count)
{
	bool is_managed = managed(set, type);
	size_t fixed = is_managed ? 2u + (set->minor >= 13 && type->flags & TYPE_FLAG_INLINE_VALUES)
				  : node->place != 0;
	remote_addr dict = 0;

	for (size_t i = 0; i < count; i++) {
		if (!ranges[i].error)
			continue;
		content_opaque(node);
		return;
	}
	if (count < fixed) {
		content_opaque(node);
		return;
	}
	if (count > fixed)
		(void)add_slots(set, node, type, ranges[fixed].buffer, HEAD_SLOTS,
				ranges[fixed].size / 8);
	if (is_managed) {
		uint64_t before = content_word_of(&ranges[0], 0);

		node->keys = content_word_of(&ranges[1], 0);
		if (set->minor == 11) {
			node->values = before;
			dict = content_word_of(&ranges[0], 8);
		} else if (set->minor == 12 && before & 1) {
			node->values = before + 1;
		} else {
			dict = before;
		}
	} else if (fixed) {
		dict = content_word_of(&ranges[0], 0);
	}
	if (!node->values && !dict && fixed == 3) {
		const uint8_t *state = ranges[2].buffer;
		uint8_t capacity = state[0] < VALUES_INLINE_MAX ? state[0] : VALUES_INLINE_MAX;

		if (!state[VALUES_VALID]) {
			content_opaque(node);
			return;
		}
		if (!capacity) {
			content_done(node);
			return;
		}
		node->values = node->object + type->basic_size + VALUES_INLINE_HEAD;
		/* They were read already when there are as many as in the one before. */
		if (ranges[2].size >= VALUES_INLINE_HEAD + 8 * (size_t)capacity)
			node->values_at = arena_offset(set, state + VALUES_INLINE_HEAD);
		node->place = capacity;
		type->capacity = capacity;
	}
	if (node->values) {
		ask_keys(set, node, type);
	} else if (!dict) {
		content_done(node);
	} else if (!content_plausible(dict) ||
		   !content_request(set, node, dict, DICT_HEAD_SIZE, true)) {
		content_opaque(node);
	} else {
		node->stage = STAGE_THIRD;
	}
}

static void attributes_parse_dict(struct fingerprints *set, struct content_node *node,
				  struct content_type *type, const struct memory_range *range)
{
	remote_addr values;

	if (range->error) {
		content_opaque(node);
		return;
	}
	values = content_word_of(range, DICT_VALUES);
	node->keys = content_word_of(range, DICT_KEYS);
	node->values = values && set->minor >= 13 ? values + VALUES_INLINE_HEAD : values;
	if (content_word_of(range, DICT_USED))
		ask_keys(set, node, type);
	else
		content_done(node);
}

/* False: these are no keys. */
static bool attributes_read_keys(const struct fingerprints *set, const struct content_node *node,
				 const struct memory_range *range, struct dict_keys *ret_keys)
{
	return dict_keys_parse(range->buffer, node->keys, set->minor, ret_keys) &&
	       ret_keys->count <= ENTRIES_BELIEVED;
}

static void attributes_parse_keys(struct fingerprints *set, struct content_node *node,
				  struct content_type *type, const struct memory_range *range)
{
	struct dict_keys keys;

	if (range->error || !attributes_read_keys(set, node, range, &keys)) {
		content_opaque(node);
		return;
	}
	/* There may be more keys than this object has room for. */
	if (node->place && node->values && keys.count > node->place)
		keys.count = node->place;
	type->keys_address = node->keys;
	type->keys = keys;
	ask_entries(set, node, &keys);
}

/* The place of a name that is kept, or of one that may go. */
static size_t place_of_name(const struct fingerprints *set, remote_addr address)
{
	size_t home = (address >> 4) * HASH_GOLDEN >> 55;

	_Static_assert(CONTENT_NAMES_MAX == 1 << 9, "nine bits");
	for (size_t i = 0; i < NAME_PROBES; i++) {
		const struct content_name *name = &set->names[(home + i) % CONTENT_NAMES_MAX];

		if (!name->address || name->address == address)
			return (home + i) % CONTENT_NAMES_MAX;
	}
	return home;
}

static const struct content_name *find_name(const struct fingerprints *set, remote_addr address)
{
	const struct content_name *name = &set->names[place_of_name(set, address)];

	return name->address == address ? name : NULL;
}

static remote_addr attribute_key_of(const struct fingerprints *set, const struct content_node *node,
				    size_t i)
{
	return arena_word(set, node->entries_at + (uint32_t)(node->hashed ? 24 * i + 8 : 16 * i));
}

static remote_addr attribute_value_of(const struct fingerprints *set,
				      const struct content_node *node, size_t i)
{
	if (node->values_at)
		return arena_word(set, node->values_at + (uint32_t)(8 * i));
	return arena_word(set,
			  node->entries_at + (uint32_t)(node->hashed ? 24 * i + 16 : 16 * i + 8));
}

/* The choice that there is, if all of it that no slot has is in the dict; NULL: all count. */
static const struct content_choice *choice_in_dict(const struct fingerprints *set,
						   const struct content_node *node)
{
	const struct content_choice *choice = choice_of(set, node);
	size_t found = 0;

	for (size_t i = 0; choice && i < node->counted; i++)
		found += attribute_value_of(set, node, i) &&
			 is_among(attribute_key_of(set, node, i), choice);
	return choice && found == names_in_dict(choice) ? choice : NULL;
}

static void add_attributes(struct fingerprints *set, struct content_node *node,
			   const struct content_type *type)
{
	const struct content_choice *choice = choice_in_dict(set, node);

	for (size_t i = 0; i < node->counted; i++) {
		remote_addr key = attribute_key_of(set, node, i);
		const struct content_name *name = type->filtered ? find_name(set, key) : NULL;
		uint64_t value = attribute_value_of(set, node, i);
		struct content_node *child;

		if (!key || !value || (name && name->cache) || (choice && !is_among(key, choice)))
			continue;
		child = content_child(set, node, value);
		if (!child)
			break;
		child->tag = key;
	}
	/* What was not looked at does not count. */
	node->chosen = choice != NULL;
	node->partial &= !choice;
	content_done(node);
}

/* Names that were not met before. */
static void ask_names(struct fingerprints *set, struct content_node *node)
{
	uint64_t data = set->minor >= 12 ? NAME_DATA_3_12 : NAME_DATA_3_11;

	for (size_t i = 0; i < node->counted; i++) {
		remote_addr key = attribute_key_of(set, node, i);

		if (key && !find_name(set, key) &&
		    (!content_request(set, node, key + NAME_LENGTH, 8, false) ||
		     !content_request(set, node, key + data, NAME_BYTES, false)))
			break;
	}
}

static void parse_names(struct fingerprints *set, const struct memory_range *ranges, size_t count)
{
	for (size_t i = 0; i + 1 < count; i += 2) {
		remote_addr address = ranges[i].address - NAME_LENGTH;
		char name[NAME_BYTES + 1] = "";
		uint64_t length;

		if (ranges[i].error || ranges[i + 1].error)
			continue;
		length = content_word_of(&ranges[i], 0);
		memcpy(name, ranges[i + 1].buffer, length < NAME_BYTES ? length : NAME_BYTES);
		set->names[place_of_name(set, address)] =
			(struct content_name){ address, content_name_is_cache(name) };
	}
}

static void parse_entries(struct fingerprints *set, struct content_node *node,
			  struct content_type *type, const struct memory_range *ranges,
			  size_t count)
{
	size_t at = 0, wanted = 1u + (node->values && !node->values_at);
	struct dict_keys keys;
	uint64_t asked;

	if (count > wanted) {
		/* The key layout kept from the previous object may not apply. */
		if (ranges[0].error || !attributes_read_keys(set, node, &ranges[0], &keys)) {
			content_opaque(node);
			return;
		}
		if (node->place && node->values && keys.count > node->place)
			keys.count = node->place;
		asked = keys.count < limit_of(node) ? keys.count : limit_of(node);
		if (keys.entries != ranges[1].address || asked != node->counted ||
		    keys.hashed != node->hashed || ranges[1].error) {
			type->keys_address = node->keys;
			type->keys = keys;
			node->stage = STAGE_FOURTH;
			node->partial = false;
			ask_entries(set, node, &keys);
			return;
		}
		at = 1;
	}
	if (count < at + wanted || ranges[at].error ||
	    (node->values && !node->values_at && ranges[at + 1].error)) {
		content_opaque(node);
		return;
	}
	node->entries_at = arena_offset(set, ranges[at].buffer);
	if (node->values && !node->values_at)
		node->values_at = arena_offset(set, ranges[at + 1].buffer);
	if (type->filtered)
		ask_names(set, node);
	node->stage = STAGE_SIXTH;
	if (!node->range_count)
		add_attributes(set, node, type);
}

void content_parse_attributes(struct fingerprints *set, struct content_node *node,
			      const struct memory_range *ranges, size_t count)
{
	struct content_type *type = &set->types[node->type - 1];

	if (node->stage == STAGE_CONTENT) {
		ask_first(set, node, type);
		if (!node->range_count && node->stage != STAGE_DONE)
			content_done(node);
		return;
	}
	if (!count) {
		content_opaque(node);
		return;
	}
	switch (node->stage) {
	case STAGE_SECOND:
		parse_first(set, node, type, ranges, count);
		break;
	case STAGE_THIRD:
		attributes_parse_dict(set, node, type, &ranges[0]);
		break;
	case STAGE_FOURTH:
		attributes_parse_keys(set, node, type, &ranges[0]);
		break;
	case STAGE_FIFTH:
		parse_entries(set, node, type, ranges, count);
		break;
	default:
		parse_names(set, ranges, count);
		add_attributes(set, node, type);
		break;
	}
}

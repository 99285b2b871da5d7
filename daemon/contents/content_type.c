/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Types: each is read once, with its bases, and says how its instances lie in
 * memory. One that a program made is understood when each word that it adds to
 * its base is known: a slot, the place of its dict or of its weak references.
 * Then its instances have the contents of the base's, and attributes.
 */
#include "daemon/contents/fingerprint_internal.h"

#include <stdlib.h>

/* PyTypeObject, the same from 3.6 to 3.15. */
enum {
	TYPE_META = 8,
	TYPE_SLOT_COUNT = 16,
	TYPE_NAME_ADDRESS = 24,
	TYPE_BASIC_SIZE = 32,
	TYPE_ITEM_SIZE = 40,
	TYPE_FLAGS = 168,
	TYPE_WEAK_OFFSET = 208,
	TYPE_MEMBERS = 240,
	TYPE_BASE = 256,
	TYPE_DICT_OFFSET = 288,
	TYPE_HEAD_SIZE = 296,
	TYPE_NAME_SIZE = 48,
	/* PyMemberDef */
	MEMBER_TYPE = 8,
	MEMBER_OFFSET = 16,
	MEMBER_SIZE = 40,
	MEMBER_IS_SLOT = 16, /* T_OBJECT_EX */
	MEMBERS_MAX = 32,
	MEMBER_NAME = 16, /* bytes of a name that are looked at */
};

#define FLAG_HEAP_TYPE     (1u << 9)
#define FLAG_TYPE_SUBCLASS (1u << 31)
#define LEVELS_MAX         24

static size_t slot_of(remote_addr address)
{
	return (address >> 4) * HASH_GOLDEN >> 53;
}

uint16_t content_type_find(struct fingerprints *set, remote_addr address, unsigned level)
{
	size_t slot = slot_of(address);

	_Static_assert(CONTENT_TYPE_SLOTS == 1 << 11 && CONTENT_TYPE_SLOTS > CONTENT_TYPES_MAX,
		       "slot_of() makes eleven bits, and some are free");
	for (; set->type_slots[slot]; slot = (slot + 1) % CONTENT_TYPE_SLOTS)
		if (set->types[set->type_slots[slot] - 1].address == address)
			return set->type_slots[slot];
	/* Programs use fewer types: further ones are ignored. */
	if (set->type_count == CONTENT_TYPES_MAX || !content_plausible(address))
		return 0;
	set->types[set->type_count++] =
		(struct content_type){ .address = address, .level = (uint8_t)level };
	set->type_slots[slot] = set->type_count;
	return set->type_count;
}

static void again(struct content_type *type)
{
	*type = (struct content_type){ .address = type->address, .level = type->level };
}

void content_types_begin(struct fingerprints *set)
{
	for (uint16_t i = set->unsettled; i < set->type_count; i++)
		if (set->types[i].stage != TYPE_SETTLED)
			again(&set->types[i]);
	for (uint16_t i = 0; i < set->check_count; i++) {
		uint16_t number = set->checks[i];

		set->types[number].range_count = 0;
		if (!set->types[number].stale)
			continue;
		again(&set->types[number]);
		set->unsettled = number < set->unsettled ? number : set->unsettled;
	}
	set->check_count = 0;
}

static bool request(struct fingerprints *set, struct content_type *type, remote_addr address,
		    size_t size)
{
	/* Like a request for an object, but not counted against a root. */
	struct content_node node = { .range_count = type->range_count,
				     .next_range = type->next_range };
	bool given = content_request(set, &node, address, size, false);

	type->range_count = node.range_count;
	type->next_range = node.next_range;
	return given;
}

void content_type_check(struct fingerprints *set, uint16_t number)
{
	struct content_type *type = &set->types[number - 1];

	if (!type->program || type->checked == set->stop || set->check_count == CONTENT_CHECKS_MAX)
		return;
	type->checked = set->stop;
	if (request(set, type, type->address + TYPE_NAME_ADDRESS, 16))
		set->checks[set->check_count++] = (uint16_t)(number - 1);
}

static void check(struct content_type *type, const struct memory_range *range)
{
	type->range_count = 0;
	type->stale |= range->error || content_word_of(range, 0) != type->name_address ||
		       content_word_of(range, 8) != type->basic_size;
}

static void type_settle(struct content_type *type, enum content_kind kind)
{
	type->kind = (uint8_t)kind;
	type->stage = TYPE_SETTLED;
}

static void type_parse_head(struct fingerprints *set, struct content_type *type,
			    const struct memory_range *head)
{
	bool given;

	type->name_address = content_word_of(head, TYPE_NAME_ADDRESS);
	type->base_address = content_word_of(head, TYPE_BASE);
	type->meta_address = content_word_of(head, TYPE_META);
	type->members = content_word_of(head, TYPE_MEMBERS);
	type->basic_size = content_word_of(head, TYPE_BASIC_SIZE);
	type->item_size = content_word_of(head, TYPE_ITEM_SIZE);
	type->flags = content_word_of(head, TYPE_FLAGS);
	type->dict_offset = (int64_t)content_word_of(head, TYPE_DICT_OFFSET);
	type->weak_offset = (int64_t)content_word_of(head, TYPE_WEAK_OFFSET);
	type->program = type->flags & FLAG_HEAP_TYPE;
	type->member_count = content_word_of(head, TYPE_SLOT_COUNT);
	if (!type->program || !content_plausible(type->members))
		type->member_count = 0;
	given = request(set, type, type->name_address, TYPE_NAME_SIZE);
	if (given && type->member_count && type->member_count <= MEMBERS_MAX)
		given = request(set, type, type->members, MEMBER_SIZE * type->member_count);
	type->stage = given ? TYPE_NAME : TYPE_REFUSED;
	if (type->level == LEVELS_MAX)
		return;
	if (type->base_address)
		type->base = content_type_find(set, type->base_address, type->level + 1u);
	if (type->meta_address != type->address)
		type->meta = content_type_find(set, type->meta_address, type->level + 1u);
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

/* Words that its members are; false: one of them is no object. */
static void parse_members(struct content_type *type, const struct memory_range *members)
{
	uint64_t known = 0;

	for (uint64_t i = 0; i < type->member_count; i++) {
		uint64_t offset = content_word_of(members, i * MEMBER_SIZE + MEMBER_OFFSET);
		uint32_t kind;

		memcpy(&kind, (const uint8_t *)members->buffer + i * MEMBER_SIZE + MEMBER_TYPE,
		       sizeof(kind));
		if (kind != MEMBER_IS_SLOT || offset < OBJECT_HEAD || offset % 8 ||
		    offset >= OBJECT_HEAD + 8 * SLOT_WORDS || offset + 8 > type->basic_size)
			return;
		known |= 1ull << (offset - OBJECT_HEAD) / 8;
	}
	type->slots = known;
}

/* Bases of what keeps things that it has computed among its attributes. */
static bool has_caches(const char *name)
{
	static const char *const names[] = {
		"PandasObject",           "DirNamesMixin",  "OpsMixin",
		"ObjectStringArrayMixin", "ExtensionArray", "ArrowExtensionArray",
		"PandasExtensionDtype",   "PurePath"
	};

	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
		if (!strcmp(name, names[i]))
			return true;
	return false;
}

static void parse_name(struct fingerprints *set, struct content_type *type,
		       const struct memory_range *ranges, size_t count)
{
	copy_name(ranges[0].buffer, type->name);
	type->filtered = type->program && has_caches(type->name);
	type->stage = TYPE_WAITS;
	if (type->member_count > MEMBERS_MAX || count < 2 || ranges[1].error)
		return;
	parse_members(type, &ranges[1]);
	if (!type->filtered || !type->slots)
		return;
	/* Some of them are filled when they are asked for. */
	for (uint64_t i = 0; i < type->member_count; i++)
		if (!request(set, type, content_word_of(&ranges[1], i * MEMBER_SIZE), MEMBER_NAME))
			break;
	type->stage = TYPE_SLOT_NAMES;
}

/* In the order of the members, which is that of the slots. */
static void parse_slot_names(struct content_type *type, const struct memory_range *ranges,
			     size_t count)
{
	uint64_t slots = type->slots;

	type->stage = TYPE_WAITS;
	for (size_t i = 0; i < count && slots; i++, slots &= slots - 1) {
		char name[MEMBER_NAME + 1] = "";

		if (!ranges[i].error)
			memcpy(name, ranges[i].buffer, MEMBER_NAME);
		if (content_name_is_cache(name))
			type->ignored |= slots & -slots;
	}
}

static const struct content_type *known(const struct fingerprints *set, uint16_t number)
{
	return number ? &set->types[number - 1] : NULL;
}

/* Whether all that an instance has more than the base's is known. */
static bool adds_up(const struct fingerprints *set, const struct content_type *type,
		    const struct content_type *base)
{
	uint64_t words = (uint64_t)__builtin_popcountll(type->slots);
	int64_t begin = (int64_t)base->basic_size, end = (int64_t)type->basic_size;

	if (type->basic_size > INSTANCE_SIZE_MAX || end < begin || (end - begin) % 8 ||
	    type->member_count != words)
		return false;
	if (type->flags & TYPE_FLAG_MANAGED_DICT && set->minor >= 11)
		; /* it lies before the instance */
	else if ((type->dict_offset >= begin && type->dict_offset < end) ||
		 (type->dict_offset < 0 && !base->dict_offset))
		words++;
	if (type->weak_offset >= begin && type->weak_offset < end)
		words++;
	return words == (uint64_t)(end - begin) / 8;
}

/* What it is, and its bases: 1 of an enumeration; -1: their names are not known yet. */
static int is_enumeration(const struct fingerprints *set, uint16_t meta)
{
	for (unsigned i = 0; meta && i < LEVELS_MAX; i++) {
		const struct content_type *type = known(set, meta);

		if (type->stage < TYPE_WAITS)
			return -1;
		if (!strcmp(type->name, "EnumMeta") || !strcmp(type->name, "EnumType"))
			return 1;
		meta = type->base;
	}
	return 0;
}

static void conclude(struct fingerprints *set, struct content_type *type)
{
	const struct content_type *base = known(set, type->base);
	const struct content_rule *rule = content_rule_find(type);

	type->filtered |= (base && base->filtered) ||
			  (rule && !strncmp(rule->name, "pandas.", strlen("pandas."))) ||
			  /* scipy's distributions, which keep where draws come from */
			  !strcmp(type->name, "rv_generic");
	if (type->flags & FLAG_TYPE_SUBCLASS) {
		type_settle(type, CONTENT_CALLABLE);
	} else if (rule) {
		type->rule = rule;
		type->slots = 0;
		type->root_size = type->basic_size;
		type_settle(type, rule->kind);
	} else if (is_enumeration(set, type->meta) == 1) {
		type_settle(type, CONTENT_CONSTANT);
	} else if (type->program && base && base->rule && base->kind != CONTENT_OTHER &&
		   base->kind != CONTENT_CALLABLE && adds_up(set, type, base)) {
		type->rule = base->rule;
		type->root_size = base->root_size;
		type->derived = true;
		type->slots = (type->slots & ~type->ignored) | base->slots;
		type->attributes = base->attributes || type->dict_offset ||
				   (set->minor >= 11 && type->flags & TYPE_FLAG_MANAGED_DICT);
		type_settle(type, base->kind);
	} else {
		type_settle(type, CONTENT_OTHER);
	}
}

static bool waits(const struct fingerprints *set, uint16_t number)
{
	return number && set->types[number - 1].stage < TYPE_SETTLED;
}

static void type_advance(struct fingerprints *set, struct content_type *type,
			 const struct memory_range *ranges, size_t count)
{
	switch (type->stage) {
	case TYPE_HEAD:
		if (count < 1 || ranges[0].error)
			type_settle(type, CONTENT_OTHER);
		else
			type_parse_head(set, type, &ranges[0]);
		return;
	case TYPE_NAME:
		if (count < 1 || ranges[0].error)
			type_settle(type, CONTENT_OTHER);
		else
			parse_name(set, type, ranges, count);
		return;
	case TYPE_SLOT_NAMES:
		parse_slot_names(type, ranges, count);
		return;
	default:
		return;
	}
}

/* Those whose bases are settled now, and the ones that waited for these. */
static void settle_waiting(struct fingerprints *set)
{
	bool changed = true;

	while (changed) {
		changed = false;
		for (uint16_t i = set->unsettled; i < set->type_count; i++) {
			struct content_type *type = &set->types[i];

			if (type->stage != TYPE_WAITS || waits(set, type->base) ||
			    is_enumeration(set, type->meta) < 0)
				continue;
			conclude(set, type);
			changed = true;
		}
	}
	while (set->unsettled < set->type_count && set->types[set->unsettled].stage == TYPE_SETTLED)
		set->unsettled++;
}

void content_types_advance(struct fingerprints *set, const struct memory_range *last)
{
	for (uint16_t i = 0; i < set->check_count; i++) {
		struct content_type *type = &set->types[set->checks[i]];

		if (type->range_count && type->stage == TYPE_SETTLED)
			check(type, &last[type->next_range]);
	}
	for (uint16_t i = set->unsettled; i < set->type_count; i++) {
		struct content_type *type = &set->types[i];
		uint16_t first = type->next_range, count = type->range_count;

		type->range_count = 0;
		if (type->stage == TYPE_NEW || type->stage >= TYPE_WAITS)
			continue;
		type_advance(set, type, last + first, count);
	}
	settle_waiting(set);
	content_types_start(set);
}

void content_types_start(struct fingerprints *set)
{
	for (uint16_t i = set->unsettled; i < set->type_count; i++) {
		struct content_type *type = &set->types[i];

		if (type->stage == TYPE_NEW)
			type->stage = request(set, type, type->address, TYPE_HEAD_SIZE)
					      ? TYPE_HEAD
					      : TYPE_REFUSED;
	}
}

bool content_types_force(struct fingerprints *set)
{
	bool forced = false;

	for (uint16_t i = set->unsettled; i < set->type_count; i++) {
		if (set->types[i].stage >= TYPE_SETTLED)
			continue;
		type_settle(&set->types[i], CONTENT_OTHER);
		forced = true;
	}
	settle_waiting(set);
	return forced;
}

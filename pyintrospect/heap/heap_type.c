/* SPDX-License-Identifier: Apache-2.0 */
#include "pyintrospect/heap/heap_type.h"

#include "common/hash.h"
#include "pyintrospect/dict_layout.h"
#include "pyintrospect/field.h"
#include "pyintrospect/heap/heap_nodes.h"
#include "pyintrospect/unicode.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define SLOTS          (1u << 17) /* twice the types */
#define REFUSED        (1u << 16)
#define BASES_MAX      8
#define BASIC_MAX      (1 << 20)
#define REFERENCES_MAX (1ull << 31)
#define ADDRESS_LEAST  0x10000
#define ADDRESS_BITS   47

int heap_types_init(struct heap_types *types, const struct heap_image *image,
		    const struct heap_layout *layout, remote_addr type_type)
{
	*types = (struct heap_types){ .image = image,
				      .layout = *layout,
				      .type_type = type_type,
				      .count = HEAP_NODE_FIRST_TYPE };
	/* Never moved: what is not used of it takes no memory. */
	types->items = calloc(HEAP_TYPES_MAX, sizeof(*types->items));
	types->by_address = calloc(SLOTS, sizeof(*types->by_address));
	types->refused = calloc(REFUSED, sizeof(*types->refused));
	return types->items && types->by_address && types->refused ? 0 : -ENOMEM;
}

void heap_types_deinit(struct heap_types *types)
{
	for (size_t i = 0; types->items && i < types->count; i++)
		free(types->items[i].slot_names);
	free(types->items);
	free(types->by_address);
	free(types->refused);
	*types = (struct heap_types){ 0 };
}

static bool is_address(uint64_t word)
{
	return word >= ADDRESS_LEAST && !(word >> ADDRESS_BITS) && word % WORD_SIZE == 0;
}

/* ---- types */

static bool read_name(const struct heap_image *image, remote_addr address,
		      char name[HEAP_TYPE_NAME])
{
	size_t there = PAGE_BYTES - address % PAGE_BYTES;
	size_t size = HEAP_TYPE_NAME - 1;

	memset(name, 0, HEAP_TYPE_NAME);
	if (!address)
		return false;
	/* It may end with the last page of a mapping. */
	if (heap_image_read(image, address, name, size) &&
	    (there >= size || heap_image_read(image, address, name, there)))
		return false;
	for (const char *at = name; *at; at++)
		if ((unsigned char)*at < ' ')
			return false;
	return name[0];
}

static uint8_t kind_by_name(const char *name)
{
	static const struct {
		const char *name;
		uint8_t kind;
	} kinds[] = {
		{ "set", HEAP_KIND_SET },
		{ "frozenset", HEAP_KIND_SET },
		{ "module", HEAP_KIND_MODULE },
		{ "function", HEAP_KIND_FUNCTION },
		{ "code", HEAP_KIND_CODE },
		{ "cell", HEAP_KIND_CELL },
		{ "_thread._local", HEAP_KIND_THREAD_LOCAL },
		{ "generator", HEAP_KIND_VARIABLE },
		{ "coroutine", HEAP_KIND_VARIABLE },
		{ "async_generator", HEAP_KIND_VARIABLE },
		{ "frame", HEAP_KIND_VARIABLE },
		{ "bytearray", HEAP_KIND_BYTEARRAY },
		{ "collections.deque", HEAP_KIND_SIZED },
		{ "array.array", HEAP_KIND_SIZED },
		{ "numpy.ndarray", HEAP_KIND_ARRAY },
		{ "weakref", HEAP_KIND_WEAKREF },
		{ "weakref.ReferenceType", HEAP_KIND_WEAKREF },
		{ "weakproxy", HEAP_KIND_WEAKREF },
		{ "weakref.ProxyType", HEAP_KIND_WEAKREF },
		{ "weakcallableproxy", HEAP_KIND_WEAKREF },
		{ "weakref.CallableProxyType", HEAP_KIND_WEAKREF },
	};

	for (size_t i = 0; i < sizeof(kinds) / sizeof(kinds[0]); i++)
		if (!strcmp(name, kinds[i].name))
			return kinds[i].kind;
	return HEAP_KIND_OTHER;
}

static uint8_t kind_by_flags(uint64_t flags)
{
	return flags & FLAG_INT     ? HEAP_KIND_INT
	       : flags & FLAG_LIST  ? HEAP_KIND_LIST
	       : flags & FLAG_TUPLE ? HEAP_KIND_TUPLE
	       : flags & FLAG_BYTES ? HEAP_KIND_BYTES
	       : flags & FLAG_STR   ? HEAP_KIND_STR
	       : flags & FLAG_DICT  ? HEAP_KIND_DICT
	       : flags & FLAG_TYPE  ? HEAP_KIND_TYPE
				    : HEAP_KIND_OTHER;
}

/* What the flags do not tell is told by the name of the type, or of one that it comes from. */
/* A class that Python code made may have any name. */
static bool is_of_c(uint64_t flags)
{
	return !(flags & FLAG_HEAP_TYPE) || flags & FLAG_IMMUTABLE;
}

static uint8_t kind_of(const struct heap_types *types, const uint8_t *head, const char *name)
{
	uint8_t kind = kind_by_flags(field_u64(head, TYPE_FLAGS_AT));
	remote_addr base = field_u64(head, TYPE_BASE);
	char base_name[HEAP_TYPE_NAME];

	if (kind == HEAP_KIND_OTHER && is_of_c(field_u64(head, TYPE_FLAGS_AT)))
		kind = kind_by_name(name);
	for (unsigned i = 0; kind == HEAP_KIND_OTHER && is_address(base) && i < BASES_MAX; i++) {
		uint64_t flags;

		base += types->layout.head_extra;
		flags = heap_image_word(types->image, base + TYPE_FLAGS_AT);
		if (is_of_c(flags) &&
		    read_name(types->image, heap_image_word(types->image, base + TYPE_NAME),
			      base_name))
			kind = kind_by_name(base_name);
		base = heap_image_word(types->image, base + TYPE_BASE);
	}
	return kind;
}

static uint8_t prefix_of(const struct heap_layout *layout, uint64_t flags)
{
	bool before = layout->minor >= 11 && flags & TYPE_FLAG_MANAGED_DICT;
	uint32_t prefix = flags & FLAG_COLLECTED ? layout->collector_bytes : 0;

	before |= layout->minor >= 12 && flags & FLAG_MANAGED_WEAKREF;
	return (uint8_t)(prefix + (before ? layout->managed_bytes : 0));
}

/* Of a class that comes from one of these an instance may have attributes. */
static bool is_plain(const struct heap_layout *layout, const struct heap_type *type)
{
	if (type->dict_offset || type->prefix)
		return false;
	if (type->kind == HEAP_KIND_INT || type->kind == HEAP_KIND_BYTES)
		return true;
	return type->kind == HEAP_KIND_OTHER && is_of_c(type->flags) && !type->item &&
	       ((!strcmp(type->name, "float") &&
		 type->basic == OBJECT_HEAD + layout->head_extra + sizeof(double)) ||
		(!strcmp(type->name, "complex") &&
		 type->basic == OBJECT_HEAD + layout->head_extra + 2 * sizeof(double)));
}

static uint16_t find_at_depth(struct heap_types *types, remote_addr address, unsigned depth);

static bool read_type(struct heap_types *types, remote_addr address, unsigned depth,
		      struct heap_type *ret_type)
{
	const remote_addr fields = address + types->layout.head_extra;
	uint8_t head[TYPE_READ];
	struct heap_type type = { .address = address };
	int64_t basic, item;
	remote_addr of;
	uint16_t metatype;

	if (depth > BASES_MAX)
		return false;
	/* Of most that is asked for this word tells: it is an object of some other type. */
	of = heap_image_word(types->image, fields + OBJECT_TYPE);
	if (address != types->type_type) {
		metatype = is_address(of) ? find_at_depth(types, of, depth + 1) : 0;
		if (!metatype || !types->items[metatype].of_types)
			return false;
	}
	if (heap_image_read(types->image, fields, head, sizeof(head)))
		return false;
	type.flags = field_u64(head, TYPE_FLAGS_AT);
	basic = (int64_t)field_u64(head, TYPE_BASIC);
	item = (int64_t)field_u64(head, TYPE_ITEM);
	if (!(type.flags & FLAG_READY) || basic < OBJECT_HEAD + types->layout.head_extra ||
	    basic > BASIC_MAX || item < 0 || item > BASIC_MAX)
		return false;
	type.basic = (uint32_t)basic;
	type.item = (uint32_t)item;
	type.weak_offset = field_i32(head, TYPE_WEAK_OFFSET);
	type.dict_offset = (int64_t)field_u64(head, TYPE_DICT_OFFSET_AT);
	if (!read_name(types->image, field_u64(head, TYPE_NAME), type.name))
		return false;
	type.of_types = type.flags & FLAG_TYPE;
	type.prefix = prefix_of(&types->layout, type.flags);
	type.kind = kind_of(types, head, type.name);
	type.plain = is_plain(&types->layout, &type);
	type.text = type.kind == HEAP_KIND_STR && is_of_c(type.flags) && !type.prefix &&
		    !type.dict_offset && !strcmp(type.name, "str");
	*ret_type = type;
	return true;
}

/* Numbers that look like addresses are many; each would be asked for by a system call. */
static bool is_mapped(const struct heap_image *image, remote_addr address)
{
	const struct mapping_list *mappings = image->mappings;

	return heap_image_find(image, address) || !mappings || mappings->left_out ||
	       mapping_find(mappings, address);
}

static uint16_t find_at_depth(struct heap_types *types, remote_addr address, unsigned depth)
{
	uint32_t slot = hash_word(address) % SLOTS;
	remote_addr *refused;
	struct heap_type type;

	for (; types->by_address[slot]; slot = (slot + 1) % SLOTS)
		if (types->items[types->by_address[slot]].address == address)
			return types->by_address[slot];
	refused = &types->refused[hash_word(address) >> 16];
	if (*refused == address)
		return 0;
	if (!is_mapped(types->image, address) || !read_type(types, address, depth, &type)) {
		*refused = address;
		return 0;
	}
	if (types->count == HEAP_TYPES_MAX) {
		types->cut = true;
		return 0;
	}
	/* The type of types may have taken the place meanwhile. */
	for (slot = hash_word(address) % SLOTS; types->by_address[slot]; slot = (slot + 1) % SLOTS)
		;
	types->items[types->count] = type;
	types->by_address[slot] = (uint16_t)types->count;
	return (uint16_t)types->count++;
}

uint16_t heap_types_find(struct heap_types *types, remote_addr address)
{
	size_t place = (address >> 4 ^ address >> 12) % HEAP_TYPES_RECENT;

	if (!is_address(address))
		return 0;
	if (types->recent[place] != address) {
		types->recent_numbers[place] = find_at_depth(types, address, 0);
		types->recent[place] = address;
	}
	return types->recent_numbers[place];
}

/* ---- objects */

bool heap_types_is_ascii(const struct heap_types *types, const uint8_t *object, uint64_t size)
{
	const struct python_offsets *offsets = types->layout.offsets;

	return size >= (uint64_t)offsets->string_ascii_data && unicode_is_ascii(offsets, object);
}

static uint64_t string_bytes(const struct heap_types *types, const struct heap_type *type,
			     const uint8_t *object, uint64_t size)
{
	const struct python_offsets *offsets = types->layout.offsets;
	uint8_t head[UNICODE_HEAD_MAX] = { 0 };
	struct unicode unicode;
	uint64_t characters, start;

	/* Most are, and the copy below is what takes time. */
	if (heap_types_is_ascii(types, object, size)) {
		characters = field_u64(object, offsets->string_length);
		return characters > size ? 0
					 : (uint64_t)offsets->string_ascii_data + characters + 1;
	}
	memcpy(head, object, size < sizeof(head) ? size : sizeof(head));
	if (unicode_parse(offsets, 0, head, &unicode))
		return 0;
	characters = field_u64(head, offsets->string_length);
	if (unicode.data != (uint64_t)offsets->string_ascii_data &&
	    unicode.data != (uint64_t)offsets->string_compact_data)
		return type->basic;
	start = unicode.data;
	if (characters > size)
		return 0;
	return start + (characters + 1) * unicode.width;
}

static uint64_t int_bytes(const struct heap_types *types, const struct heap_type *type,
			  const uint8_t *object)
{
	int64_t count = (int64_t)field_u64(object_fields(&types->layout, object), OBJECT_SIZE);
	const uint32_t least = VARIABLE_HEAD + types->layout.head_extra;

	if (types->layout.minor >= 12)
		count = (int64_t)((uint64_t)count >> 3);
	if (count < 0)
		count = -count;
	if (count < 0 || count > INT32_MAX)
		return 0;
	return (type->basic > least ? type->basic : least) +
	       (uint64_t)(count ? count : 1) * sizeof(uint32_t);
}

static uint64_t wanted_bytes(const struct heap_types *types, const struct heap_type *type,
			     const uint8_t *object, uint64_t size)
{
	uint64_t count;

	if (size < VARIABLE_HEAD + types->layout.head_extra)
		return type->basic;
	switch (type->kind) {
	case HEAP_KIND_STR:
		return string_bytes(types, type, object, size);
	case HEAP_KIND_INT:
		return int_bytes(types, type, object);
	case HEAP_KIND_VARIABLE:
		return type->basic;
	default:
		break;
	}
	if (!type->item)
		return type->basic;
	count = field_u64(object_fields(&types->layout, object), OBJECT_SIZE);
	return count > size ? 0 : type->basic + count * type->item;
}

uint64_t heap_type_object_bytes(const struct heap_types *types, const struct heap_type *type,
				const uint8_t *object, uint64_t size)
{
	uint64_t bytes = wanted_bytes(types, type, object, size);

	return bytes <= size ? bytes : 0;
}

/* The owner's count, and a signed one of all others behind two flags. */
static bool is_referenced_by_threads(const uint8_t *object)
{
	return (uint32_t)(field_u64(object, OBJECT_LOCAL_COUNT - 4) >> 32) ||
	       (int64_t)field_u64(object, OBJECT_SHARED_COUNT) >> 2 > 0;
}

static bool is_referenced(const struct heap_layout *layout, const uint8_t *object)
{
	uint64_t references = field_u64(object, OBJECT_REFERENCES);

	if (layout->free_threaded)
		return is_referenced_by_threads(object);
	/* 3.12+: 32 bits of a count, which for immortal ones is the largest; 3.14+: flags behind.
	 */
	if (layout->minor >= 14)
		return (uint32_t)references && !(uint16_t)(references >> 32);
	if (layout->minor >= 12)
		return references && references <= UINT32_MAX;
	return references && references < REFERENCES_MAX;
}

/* The collector's first link: another object, a list's head, or 0 for an object it leaves alone. */
static bool has_link(const struct heap_types *types, const struct heap_type *type,
		     const uint8_t *object)
{
	uint64_t link;

	if (!(type->flags & FLAG_COLLECTED) || !types->layout.collector_bytes)
		return true;
	link = field_u64(object, -(int32_t)types->layout.collector_bytes) & ~7ull;
	return !link || is_address(link);
}

struct candidate {
	uint16_t type;
	bool cached;
};

static bool may_hold(enum heap_contents contents, const struct heap_type *type)
{
	return contents == HEAP_CONTENTS_ANY ||
	       (contents == HEAP_CONTENTS_PLAIN) == !(type->flags & FLAG_COLLECTED);
}

/* Is there an object so far inside the block? */
static struct candidate look_at(struct heap_types *types, enum heap_contents contents,
				const uint8_t *block, uint64_t size, uint32_t prefix)
{
	const uint8_t *object = block + prefix;
	const struct candidate none = { 0 };
	struct candidate candidate = { 0 };
	const struct heap_type *type;
	uint64_t bytes;
	uint16_t number;
	bool referenced;

	if (size < prefix + OBJECT_HEAD + types->layout.head_extra)
		return candidate;
	referenced = is_referenced(&types->layout, object);
	candidate.cached =
		types->layout.free_threaded ? !referenced : !field_u64(object, OBJECT_REFERENCES);
	/* Most of what is raw begins with text, numbers or addresses, and no such count. */
	if (!referenced && !candidate.cached)
		return none;
	number = heap_types_find(types,
				 field_u64(object_fields(&types->layout, object), OBJECT_TYPE));
	if (!number)
		return none;
	type = &types->items[number];
	/* A static type is an object without a prefix; but those are in no block. */
	if (type->prefix != prefix || !may_hold(contents, type) || !has_link(types, type, object))
		return none;
	bytes = heap_type_object_bytes(types, type, object, size - prefix);
	if (!bytes || (!(type->flags & FLAG_COLLECTED) && (bytes + prefix + 15) / 16 * 32 < size))
		return none;
	if (referenced)
		candidate.type = number;
	return candidate;
}

uint16_t heap_types_object(struct heap_types *types, const uint8_t *object, uint64_t before,
			   uint64_t size, uint64_t *ret_bytes)
{
	const struct heap_type *type;
	uint16_t number;
	uint64_t bytes;

	if (size < OBJECT_HEAD + types->layout.head_extra || !is_referenced(&types->layout, object))
		return 0;
	number = heap_types_find(types,
				 field_u64(object_fields(&types->layout, object), OBJECT_TYPE));
	type = &types->items[number];
	if (!number || type->prefix > before || !has_link(types, type, object))
		return 0;
	bytes = heap_type_object_bytes(types, type, object, size);
	if (bytes)
		*ret_bytes = bytes;
	return bytes ? number : 0;
}

/* What may lie before an object: at most three. */
static size_t list_prefixes(const struct heap_layout *layout, enum heap_contents contents,
			    uint32_t ret_prefixes[3])
{
	switch (contents) {
	case HEAP_CONTENTS_RAW:
		return 0;
	case HEAP_CONTENTS_PLAIN:
		ret_prefixes[0] = 0;
		return 1;
	case HEAP_CONTENTS_COLLECTED:
		ret_prefixes[0] = layout->collector_bytes;
		return 1;
	case HEAP_CONTENTS_MANAGED:
		ret_prefixes[0] = layout->collector_bytes + layout->managed_bytes;
		return 1;
	default:
		ret_prefixes[0] = layout->collector_bytes;
		ret_prefixes[1] = 0;
		ret_prefixes[2] = layout->collector_bytes + layout->managed_bytes;
		return layout->minor >= 11 ? 3 : 2;
	}
}

uint16_t heap_types_classify(struct heap_types *types, enum heap_contents contents,
			     const uint8_t *block, uint64_t size)
{
	uint32_t prefixes[3];
	size_t count = list_prefixes(&types->layout, contents, prefixes);
	bool cached = false;

	for (size_t i = 0; i < count; i++) {
		struct candidate candidate = look_at(types, contents, block, size, prefixes[i]);

		if (candidate.type)
			return candidate.type;
		cached |= candidate.cached;
	}
	return cached ? HEAP_NODE_CACHED : HEAP_NODE_RAW;
}

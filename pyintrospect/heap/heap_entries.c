/* SPDX-License-Identifier: Apache-2.0 */
#include "pyintrospect/heap/heap_entries.h"

#include "common/hash.h"
#include "pyintrospect/dict_layout.h"
#include "pyintrospect/field.h"
#include "pyintrospect/heap/heap_storage.h"
#include "pyintrospect/unicode.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define NAME_BYTES 80
/* Of a table that a target may claim to have; one beyond it is not in the copy. */
#define TABLE_BELIEVED (1ull << 32)

/* ---- names */

bool heap_entries_string(const struct heap_walk *walk, remote_addr string, char *text, size_t size)
{
	const struct python_offsets *offsets = walk->types->layout.offsets;
	uint8_t head[UNICODE_HEAD_MAX] = { 0 };
	/* What follows a short one may be no longer there. */
	size_t wanted = (size_t)offsets->string_ascii_data;
	struct unicode unicode;
	uint8_t *characters;
	uint16_t type;
	bool read;

	if (heap_image_read(walk->image, string, head, wanted))
		return false;
	type = heap_types_find(walk->types,
			       field_u64(object_fields(&walk->types->layout, head), OBJECT_TYPE));
	if (!type || walk->types->items[type].kind != HEAP_KIND_STR)
		return false;
	if (unicode_parse(offsets, string, head, &unicode))
		return false;
	if (unicode.characters > size)
		unicode.characters = size;
	characters = malloc(unicode.characters * unicode.width + 1);
	if (!characters)
		return false;
	read = !heap_image_read(walk->image, unicode.data, characters,
				unicode.characters * unicode.width);
	if (read)
		unicode_to_utf8(characters, unicode.width, unicode.characters, text, size);
	free(characters);
	return read;
}

bool heap_entries_is_name(const char *text)
{
	for (const char *at = text; *at; at++)
		if (!(*at >= 'a' && *at <= 'z') && !(*at >= 'A' && *at <= 'Z') &&
		    !(*at >= '0' && *at <= '9') && *at != '_' && !(*at & 0x80))
			return false;
	return *text;
}

void heap_entries_name(const struct heap_walk *walk, remote_addr string, const char *before,
		       char *name, size_t size)
{
	char text[NAME_BYTES];

	if (!heap_entries_string(walk, string, text, sizeof(text)) || !heap_entries_is_name(text))
		snprintf(text, sizeof(text), "?");
	snprintf(name, size, "%s%s", before, text);
}

static uint32_t attribute_step(struct heap_walk *walk, remote_addr key)
{
	struct heap_cached_step *cached = &walk->attributes[hash_word(key) % HEAP_STEP_CACHE];
	char name[NAME_BYTES + 2];

	if (cached->name != key) {
		heap_entries_name(walk, key, ".", name, sizeof(name));
		*cached = (struct heap_cached_step){ key, heap_paths_string(walk->paths, name) };
	}
	return cached->step;
}

/* ---- dicts */

static bool parse_keys(const struct heap_walk *walk, remote_addr keys, struct dict_keys *ret_keys,
		       const uint8_t **ret_entries)
{
	const uint8_t *head = heap_image_at(walk->image, keys, KEYS_HEAD_SIZE);
	uint64_t stride;

	if (!head || !dict_keys_parse(head, keys, walk->types->layout.minor, ret_keys) ||
	    ret_keys->count > TABLE_BELIEVED)
		return false;
	stride = (ret_keys->hashed ? 3 : 2) * WORD_SIZE;
	*ret_entries = heap_image_at(walk->image, ret_keys->entries, ret_keys->count * stride);
	return *ret_entries;
}

/* values: NULL where they are in the entries. */
static void visit_entries(struct heap_walk *walk, const struct dict_keys *keys,
			  const uint8_t *entries, const uint8_t *values,
			  const struct heap_entries *visitor)
{
	size_t stride = (keys->hashed ? 3 : 2) * WORD_SIZE;

	for (uint64_t i = 0; i < keys->count; i++) {
		const uint8_t *entry = entries + i * stride + (stride - (size_t)2 * WORD_SIZE);
		remote_addr key = field_u64(entry, 0);
		remote_addr value =
			values ? field_u64(values + i * WORD_SIZE, 0) : field_u64(entry, WORD_SIZE);

		if (key && value)
			visitor->visit(walk, visitor->context, key, value);
	}
}

/* The keys that a class's instances share, with the values of one of these. */
static void visit_shared(struct heap_walk *walk, remote_addr keys, remote_addr values,
			 const struct heap_entries *visitor)
{
	const uint8_t *entries, *words;
	struct dict_keys table;

	if (!parse_keys(walk, keys, &table, &entries))
		return;
	words = heap_image_at(walk->image, values, table.count * WORD_SIZE);
	if (words)
		visit_entries(walk, &table, entries, words, visitor);
}

bool heap_entries_visit(struct heap_walk *walk, remote_addr dict, uint32_t path,
			const struct heap_entries *visitor)
{
	const struct heap_layout *layout = &walk->types->layout;
	const uint8_t *head = heap_image_at(walk->image, dict, DICT_HEAD_SIZE + layout->head_extra);
	remote_addr keys, values;
	const uint8_t *entries;
	struct dict_keys table;

	if (!head)
		return false;
	keys = field_u64(object_fields(layout, head), DICT_KEYS);
	values = field_u64(object_fields(layout, head), DICT_VALUES);
	if (values) {
		/* 3.13+: those inside of an instance are the instance's. */
		if (heap_walk_object(walk, values) == HEAP_NODE_NONE)
			heap_walk_claim(walk, values, 0, path, false);
		visit_shared(walk, keys,
			     values + (walk->types->layout.minor >= 13 ? VALUES_INLINE_HEAD : 0),
			     visitor);
		return true;
	}
	if (!parse_keys(walk, keys, &table, &entries))
		return false;
	heap_walk_claim(walk, keys, walk->nodes->foreign ? heap_storage_keys(walk->types, head) : 0,
			path, false);
	visit_entries(walk, &table, entries, NULL, visitor);
	return true;
}

static void visit_attribute(struct heap_walk *walk, void *context, remote_addr key,
			    remote_addr value)
{
	const uint32_t path = *(const uint32_t *)context;
	uint64_t inside;
	uint32_t node = heap_walk_node(walk, value, &inside);

	heap_walk_follow(walk, key, path, walk->steps[HEAP_STEP_OTHER]);
	/* A name is worth its reading only where something new hangs on it. */
	if (node == HEAP_NODE_NONE ? heap_mends_wants(&walk->mends, value) : !walk->path_of[node])
		heap_walk_follow(walk, value, path, attribute_step(walk, key));
}

void heap_entries_attributes(struct heap_walk *walk, remote_addr dict, uint32_t path)
{
	const struct heap_entries visitor = { visit_attribute, &path };

	if (heap_walk_absorb(walk, dict, path))
		(void)heap_entries_visit(walk, dict, path, &visitor);
}

void heap_entries_shared_attributes(struct heap_walk *walk, remote_addr keys, remote_addr values,
				    uint32_t path)
{
	const struct heap_entries visitor = { visit_attribute, &path };

	visit_shared(walk, keys, values, &visitor);
}

/* SPDX-License-Identifier: Apache-2.0 */
#include "pyintrospect/code_cache.h"

#include "common/hash.h"
#include "pyintrospect/code_reader.h"
#include "pyintrospect/field.h"
#include "pyintrospect/runtime_internal.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

/*
 * Up to 3.11 nothing in a code object numbers it, and a new one may get all of
 * an old one's addresses. Then the line table's first bytes are compared, too.
 */
#define LINE_TABLE_COMPARED_MAX 1024

#define TABLE_SLOTS_FIRST 1024

/* Code objects alike that are looked for in the target: mostly the first is there. */
#define PLACES_TRIED_MAX 16

/* The fields of a code object that never change, as they lie in the target. */
struct code_key {
	uint64_t filename, name, qualname, constants, line_table, bytecode;
	uint32_t first_line, flags, version;
	uint32_t doubted; /* 1: of no object */
};

struct code_place {
	remote_addr address; /* 0: a free slot */
	struct code_key key;
	const struct code_record *record;
};

struct code_cache {
	struct code_place *places; /* hash by address */
	size_t place_slots, place_count;
	struct code_record **records; /* hash by content */
	size_t record_slots, record_count;
	size_t bytes;
	struct code_record unknown; /* stands for what no longer fits */
	bool full;
	uint64_t dropped;
};

struct code_cache *code_cache_create(void)
{
	struct code_cache *cache = calloc(1, sizeof(*cache));

	if (!cache)
		return NULL;
	cache->place_slots = cache->record_slots = TABLE_SLOTS_FIRST;
	cache->places = calloc(cache->place_slots, sizeof(*cache->places));
	cache->records = calloc(cache->record_slots, sizeof(struct code_record *));
	if (!cache->places || !cache->records) {
		code_cache_destroy(cache);
		return NULL;
	}
	return cache;
}

void code_cache_destroy(struct code_cache *cache)
{
	if (!cache)
		return;
	for (size_t i = 0; cache->records && i < cache->record_slots; i++)
		free(cache->records[i]);
	free(cache->records);
	free(cache->places);
	free(cache);
}

size_t code_cache_count(const struct code_cache *cache)
{
	return cache->record_count;
}

uint64_t code_cache_dropped(const struct code_cache *cache)
{
	return cache->dropped;
}

static void key_of(const struct python_layout *layout, const uint8_t *head, struct code_key *key)
{
	const struct python_offsets *offsets = &layout->offsets;

	*key = (struct code_key){
		.filename = field_u64(head, offsets->code_filename),
		.name = field_u64(head, offsets->code_name),
		.constants = field_u64(head, offsets->code_constants),
		.line_table = field_u64(head, offsets->code_line_table),
		.first_line = (uint32_t)field_i32(head, offsets->code_first_line),
		.flags = (uint32_t)field_i32(head, offsets->code_flags),
	};
	if (offsets->code_qualname != OFFSET_ABSENT)
		key->qualname = field_u64(head, offsets->code_qualname);
	if (offsets->code_version != OFFSET_ABSENT)
		key->version = (uint32_t)field_i32(head, offsets->code_version);
	key->bytecode = layout->walk == PYTHON_WALK_FRAME_OBJECTS
				? field_u64(head, offsets->code_bytecode)
				: code_head_bytecode_size(layout, head);
}

static struct code_place *place_slot(const struct code_cache *cache, remote_addr address)
{
	size_t slot = hash_word(address) % cache->place_slots;

	while (cache->places[slot].address && cache->places[slot].address != address)
		slot = (slot + 1) % cache->place_slots;
	return &cache->places[slot];
}

static struct code_record **record_slot(const struct code_cache *cache,
					const struct code_record *record)
{
	size_t slot = (size_t)(record->hash >> 20) % cache->record_slots;

	while (cache->records[slot] && !code_record_equal(cache->records[slot], record))
		slot = (slot + 1) % cache->record_slots;
	return &cache->records[slot];
}

/* Tables are kept at most half full, so that every search meets a free slot. */
static int grow_places(struct code_cache *cache)
{
	struct code_place *old = cache->places;
	size_t old_slots = cache->place_slots;
	struct code_place *grown;

	if (2 * (cache->place_count + 1) <= cache->place_slots)
		return 0;
	if (cache->place_count == CODE_CACHE_PLACES_MAX) {
		/* Mostly addresses no longer in use; the others come back at their next sight. */
		memset(cache->places, 0, old_slots * sizeof(*old));
		cache->place_count = 0;
		return 0;
	}
	grown = calloc(2 * old_slots, sizeof(*grown));
	if (!grown)
		return -ENOMEM;
	cache->places = grown;
	cache->place_slots = 2 * old_slots;
	for (size_t i = 0; i < old_slots; i++)
		if (old[i].address)
			*place_slot(cache, old[i].address) = old[i];
	free(old);
	return 0;
}

static int grow_records(struct code_cache *cache)
{
	struct code_record **old = cache->records, **grown;
	size_t old_slots = cache->record_slots;

	if (2 * (cache->record_count + 1) <= old_slots)
		return 0;
	grown = calloc(2 * old_slots, sizeof(struct code_record *));
	if (!grown)
		return -ENOMEM;
	cache->records = grown;
	cache->record_slots = 2 * old_slots;
	for (size_t i = 0; i < old_slots; i++)
		if (old[i])
			*record_slot(cache, old[i]) = old[i];
	free(old);
	return 0;
}

static bool needs_line_table(const struct code_key *key)
{
	return key->version == 0;
}

static size_t line_table_compared(const struct code_record *record)
{
	return record->code.line_table_size < LINE_TABLE_COMPARED_MAX ? record->code.line_table_size
								      : LINE_TABLE_COMPARED_MAX;
}

static bool same_line_table(const struct python_layout *layout, const struct code_place *place,
			    struct remote_copy *copy)
{
	const struct python_code *code = &place->record->code;
	size_t compared = line_table_compared(place->record);
	const uint8_t *bytes;

	/* The size first: it tells the bytes object is of the length expected. */
	if (remote_copy_read(copy, place->key.line_table,
			     (size_t)layout->offsets.bytes_data + compared, &bytes))
		return false;
	return (field_u64(bytes, layout->offsets.variable_size) == code->line_table_size ||
		code->line_table_size == CODE_TABLE_BYTES_MAX) &&
	       memcmp(bytes + layout->offsets.bytes_data, code->line_table, compared) == 0;
}

void code_cache_doubt(struct code_cache *cache, remote_addr address)
{
	struct code_place *place = place_slot(cache, address);

	if (place->address)
		place->key.doubted = 1;
}

void code_cache_want(struct code_cache *cache, const struct python_layout *layout,
		     remote_addr address, const uint8_t *head, struct remote_copy *copy)
{
	const struct code_place *place = place_slot(cache, address);
	struct code_key key;

	if (!place->address || place->record == &cache->unknown)
		return;
	key_of(layout, head, &key);
	if (needs_line_table(&key) && memcmp(&place->key, &key, sizeof(key)) == 0)
		(void)remote_copy_want(copy, key.line_table,
				       (size_t)layout->offsets.bytes_data +
					       line_table_compared(place->record));
}

static const struct code_record *unknown_record(struct code_cache *cache, int minor)
{
	if (!cache->full) {
		cache->full = true;
		cache->unknown.code = (struct python_code){
			.function = "?",
			.file = "?",
			.id = (uint32_t)cache->record_count,
			.minor = minor,
		};
	}
	return &cache->unknown;
}

/* Takes record over: into the table, or frees it for the one that is there. */
static int intern(struct code_cache *cache, struct code_record *record,
		  const struct code_record **ret_record)
{
	struct code_record **slot;
	int error = grow_records(cache);

	if (error) {
		free(record);
		return error;
	}
	slot = record_slot(cache, record);
	if (*slot) {
		free(record);
	} else if (cache->full || cache->record_count == CODE_CACHE_RECORDS_MAX ||
		   record->size > CODE_CACHE_BYTES_MAX - cache->bytes) {
		int minor = record->code.minor;

		free(record);
		cache->dropped++;
		*ret_record = unknown_record(cache, minor);
		return 0;
	} else {
		record->code.id = (uint32_t)cache->record_count++;
		cache->bytes += record->size;
		*slot = record;
	}
	*ret_record = *slot;
	return 0;
}

int code_cache_resolve(struct code_cache *cache, const struct python_layout *layout,
		       remote_addr address, const uint8_t *head, struct remote_copy *copy,
		       const struct python_code **ret_code)
{
	struct code_place *place = place_slot(cache, address);
	const struct code_record *interned;
	struct code_record *record;
	struct code_key key;
	int error;

	if (address == 0)
		return -EFAULT;
	key_of(layout, head, &key);
	if (place->address && memcmp(&place->key, &key, sizeof(key)) == 0 &&
	    (place->record == &cache->unknown || !needs_line_table(&key) ||
	     same_line_table(layout, place, copy))) {
		*ret_code = &place->record->code;
		return 0;
	}
	error = code_read(copy->reader, layout, address, head, &record);
	if (!error)
		error = intern(cache, record, &interned);
	if (!error)
		error = grow_places(cache);
	if (error)
		return error;
	place = place_slot(cache, address);
	if (!place->address)
		cache->place_count++;
	*place = (struct code_place){ .address = address, .key = key, .record = interned };
	*ret_code = &interned->code;
	return 0;
}

/* Is the object at this address, whose head is read, this code object now? */
static int is_now(const struct python_runtime *runtime, const struct code_place *place,
		  uint8_t *ret_head)
{
	struct code_record *record;
	bool same;
	int error;

	error = memory_read(runtime->reader, place->address, ret_head, runtime->sizes.code);
	if (error)
		return error;
	if (field_u64(ret_head, runtime->layout.offsets.object_type) != runtime->code_type)
		return -ENOENT;
	error = code_read(runtime->reader, &runtime->layout, place->address, ret_head, &record);
	if (error)
		return error == -EBADMSG ? -ENOENT : error;
	same = code_record_equal(record, place->record);
	free(record);
	return same ? 0 : -ENOENT;
}

int code_cache_find(const struct python_runtime *runtime, const struct python_code *code,
		    uint8_t *ret_head)
{
	const struct code_cache *cache = runtime->codes;
	unsigned tries = 0;
	int error = -ENOENT;

	for (size_t i = 0; error && i < cache->place_slots && tries < PLACES_TRIED_MAX; i++) {
		const struct code_place *place = &cache->places[i];

		if (!place->address || &place->record->code != code)
			continue;
		tries++;
		error = is_now(runtime, place, ret_head);
	}
	return error;
}

/* SPDX-License-Identifier: Apache-2.0 */
#include "daemon/report/format/pprof_table.h"

#include "common/array.h"
#include "common/hash.h"
#include "daemon/report/encode/escape.h"
#include "daemon/report/model/frame_function.h"

#include <string.h>

void pprof_table_init(struct pprof_table *table)
{
	*table = (struct pprof_table){ 0 };
	(void)pprof_table_string(table, "");
}

void pprof_table_deinit(struct pprof_table *table)
{
	string_table_deinit(&table->strings);
	free(table->mappings);
	free(table->mapping_of_string);
	free(table->functions);
	id_table_deinit(&table->function_ids);
	free(table->locations);
	id_table_deinit(&table->location_ids);
	*table = (struct pprof_table){ 0 };
}

/* 0, the empty string, on failure too. */
uint32_t pprof_table_string(struct pprof_table *table, const char *text)
{
	char *escaped = escape_printable(text, '\0');
	uint32_t index = 0;

	if (!escaped || string_table_find(&table->strings, escaped, &index))
		table->failed = true;
	free(escaped);
	return index;
}

static uint32_t add_mapping(struct pprof_table *table, uint32_t file)
{
	if (!ARRAY_ROOM(table->mappings, table->mapping_count, table->mapping_capacity)) {
		table->failed = true;
		return 0;
	}
	table->mappings[table->mapping_count++] = (struct pprof_mapping){ .file = file };
	return (uint32_t)table->mapping_count;
}

static uint32_t *mapping_slot(struct pprof_table *table, uint32_t file)
{
	if (file >= table->mapping_of_string_size) {
		size_t size = (size_t)file * 2 + 64;
		uint32_t *larger = reallocarray(table->mapping_of_string, size, sizeof(*larger));

		if (!larger) {
			table->failed = true;
			return NULL;
		}
		memset(larger + table->mapping_of_string_size, 0,
		       (size - table->mapping_of_string_size) * sizeof(*larger));
		table->mapping_of_string = larger;
		table->mapping_of_string_size = size;
	}
	return &table->mapping_of_string[file];
}

/* 0: Python, or in no known library. */
static uint32_t find_mapping(struct pprof_table *table, const struct profile_frame *frame)
{
	struct pprof_mapping *mapping;
	uint32_t *slot;

	if (frame->kind != FRAME_NATIVE || strcmp(frame->file, "?") == 0)
		return 0;
	slot = mapping_slot(table, pprof_table_string(table, frame->file));
	if (!slot)
		return 0;
	if (!*slot)
		*slot = add_mapping(table, pprof_table_string(table, frame->file));
	if (!*slot)
		return 0;
	mapping = &table->mappings[*slot - 1];
	if (!mapping->build_id && frame->build_id)
		mapping->build_id = pprof_table_string(table, frame->build_id);
	if (mapping->limit <= frame->address)
		mapping->limit = frame->address < UINT64_MAX ? frame->address + 1 : UINT64_MAX;
	mapping->has_lines = mapping->has_lines || frame->native_file;
	return *slot;
}

static uint32_t pprof_intern_function(struct pprof_table *table, uint32_t name, uint32_t file)
{
	uint64_t hash = hash_mix((uint64_t)name << 32 | file);
	size_t probe = 0;
	uint32_t id;

	while ((id = id_table_next(&table->function_ids, hash, &probe)) != ID_NONE)
		if (table->functions[id].name == name && table->functions[id].file == file)
			return id + 1;
	if (!ARRAY_ROOM(table->functions, table->function_count, table->function_capacity) ||
	    id_table_reserve(&table->function_ids)) {
		table->failed = true;
		return 0;
	}
	id_table_add(&table->function_ids, hash, (uint32_t)table->function_count);
	table->functions[table->function_count++] = (struct pprof_function){ name, file };
	return (uint32_t)table->function_count;
}

static bool same_location(const struct pprof_location *a, const struct pprof_location *b)
{
	return a->function == b->function && a->mapping == b->mapping && a->line == b->line &&
	       a->address == b->address && a->kind == b->kind;
}

static uint32_t intern_location(struct pprof_table *table, const struct pprof_location *wanted)
{
	uint64_t hash = hash_mix((uint64_t)wanted->function << 32 | (uint32_t)wanted->line);
	size_t probe = 0;
	uint32_t id;

	hash = hash_mix(hash ^ wanted->address ^ (uint64_t)wanted->mapping << 48);
	while ((id = id_table_next(&table->location_ids, hash, &probe)) != ID_NONE)
		if (same_location(&table->locations[id], wanted))
			return id + 1;
	if (!ARRAY_ROOM(table->locations, table->location_count, table->location_capacity) ||
	    id_table_reserve(&table->location_ids)) {
		table->failed = true;
		return 0;
	}
	id_table_add(&table->location_ids, hash, (uint32_t)table->location_count);
	table->locations[table->location_count++] = *wanted;
	return (uint32_t)table->location_count;
}

uint32_t pprof_table_location(struct pprof_table *table, const struct profile_frame *frame)
{
	char buffer[FRAME_FUNCTION_BYTES];
	const char *name = frame_function(frame, true, buffer, sizeof(buffer));
	const char *file = frame->kind == FRAME_PYTHON ? frame->file : frame->native_file;
	struct pprof_location location = {
		.mapping = find_mapping(table, frame),
		.line = frame->line,
		.address = frame->address,
		.kind = frame->kind,
	};
	uint32_t name_string = pprof_table_string(table, name);

	location.function = pprof_intern_function(table, name_string,
						  file ? pprof_table_string(table, file) : 0);
	return intern_location(table, &location);
}

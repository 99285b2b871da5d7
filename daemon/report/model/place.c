/* SPDX-License-Identifier: Apache-2.0 */
#include "daemon/report/model/place.h"

#include "common/array.h"
#include "common/hash.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define UNKNOWN "?"

void place_table_init(struct place_table *table, struct symbolizer *symbolizer)
{
	*table = (struct place_table){ .symbolizer = symbolizer };
}

void place_table_deinit(struct place_table *table)
{
	free(table->places);
	free(table->frames);
	id_table_deinit(&table->place_ids);
	id_table_deinit(&table->frame_ids);
}

int place_compare(const struct place *a, const struct place *b)
{
	int order;

	if (a->kind != b->kind)
		return a->kind < b->kind ? -1 : 1;
	order = strcmp(a->function, b->function);
	if (!order)
		order = strcmp(a->file, b->file);
	if (order)
		return order;
	if (a->line != b->line)
		return a->line < b->line ? -1 : 1;
	return a->address < b->address ? -1 : a->address > b->address;
}

static uint64_t hash_string(uint64_t hash, const char *string)
{
	return hash_mix(hash_add_string(hash, string));
}

static uint64_t place_hash(const struct place *place)
{
	uint64_t hash = hash_mix((uint64_t)place->kind << 32 | (uint32_t)place->line);

	hash = hash_string(hash ^ place->address, place->function);
	return hash_string(hash, place->file);
}

int place_line(const struct frame *frame)
{
	const struct python_code *code = frame->python.code;
	int line = python_code_line(code, frame->python.instruction_offset);

	return line > 0 ? line : code->first_line;
}

static struct place name_frame(const struct place_table *table, const struct frame *frame)
{
	const struct module *module;
	const char *function = NULL;
	struct place place = { .kind = frame->kind, .function = UNKNOWN, .file = UNKNOWN };

	if (frame->kind == FRAME_PYTHON) {
		if (frame->python.code->function)
			place.function = frame->python.code->function;
		if (frame->python.code->file)
			place.file = table->sources ? source_cache_title(table->sources,
									 frame->python.code->file)
						    : frame->python.code->file;
		place.line = place_line(frame);
		return place;
	}
	module = frame->native.module;
	if (module && module->path)
		place.file = module->path;
	/* Without module it may be generated code. */
	if (frame_is_kernel(frame))
		function = frame->native.name;
	else if (table->symbolizer)
		function = symbolizer_function(table->symbolizer, module, frame->native.pc, NULL);
	if (function) {
		place.function = function;
	} else {
		place.address = frame->native.function ? frame->native.function : frame->native.pc;
		place.address -= module ? module->bias : 0;
	}
	return place;
}

static int add_place(struct place_table *table, const struct place *place, uint64_t hash,
		     uint32_t *ret_id)
{
	if (!ARRAY_ROOM(table->places, table->count, table->capacity) ||
	    id_table_reserve(&table->place_ids))
		return -ENOMEM;
	*ret_id = (uint32_t)table->count;
	table->places[table->count++] = *place;
	id_table_add(&table->place_ids, hash, *ret_id);
	return 0;
}

static int intern_place(struct place_table *table, const struct place *place, uint32_t *ret_id)
{
	uint64_t hash = place_hash(place);
	size_t probe = 0;
	uint32_t id;

	while ((id = id_table_next(&table->place_ids, hash, &probe)) != ID_NONE) {
		if (place_compare(&table->places[id], place) == 0) {
			*ret_id = id;
			return 0;
		}
	}
	return add_place(table, place, hash, ret_id);
}

int place_table_find(struct place_table *table, const struct frame *frame, uint32_t *ret_place)
{
	uint64_t hash = frame_hash(frame);
	struct place place;
	size_t probe = 0;
	uint32_t id;

	while ((id = id_table_next(&table->frame_ids, hash, &probe)) != ID_NONE) {
		if (frame_equal(table->frames[id].frame, frame)) {
			*ret_place = table->frames[id].place;
			return 0;
		}
	}
	if (!ARRAY_ROOM(table->frames, table->frame_count, table->frame_capacity))
		return -ENOMEM;
	place = name_frame(table, frame);
	if (id_table_reserve(&table->frame_ids) || intern_place(table, &place, &id))
		return -ENOMEM;
	id_table_add(&table->frame_ids, hash, (uint32_t)table->frame_count);
	table->frames[table->frame_count++] = (struct placed_frame){ .frame = frame, .place = id };
	*ret_place = id;
	return 0;
}

/* SPDX-License-Identifier: Apache-2.0 */
#include "daemon/report/recording/profile_codec.h"
#include "daemon/report/recording/profile_fields.h"

#include "common/array.h"

#include <errno.h>
#include <math.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#define TABLES_MAX 64
/* Each is looked for by name, one field after the other. */
#define COLUMNS_MAX 1024
/* Longer than any argument of a program may be, so than any string of a target. */
#define STRING_BYTES_MAX (256u << 10)
/* So many at a node that all of a tree can be added up. */
#define NODE_SAMPLES_MAX (1ull << 40)
#define REAL_MAX         1e18
/* Of a timeline: a page cannot show more. */
#define SLICES_MAX 4096
/* A point of resident memory: a hundred years. */
#define POINT_NS_MAX 3155760000000000000ull

struct stored_table {
	const char *name;
	uint64_t rows;
	uint32_t columns;
	const uint8_t *bytes; /* of its columns, all of which are within the input */
};

struct stored_column {
	const char *name;
	uint16_t kind, width;
	const uint8_t *bytes;
};

struct decoder {
	struct arena *arena;
	const char **strings;
	size_t string_count, string_capacity;
	struct stored_table tables[TABLES_MAX];
	size_t table_count;
	const struct profile_line *lines; /* once they are there */
	size_t line_count;
};

struct input {
	const uint8_t *at;
	size_t left;
};

/* NULL: not that many bytes are left. */
static const uint8_t *decode_take(struct input *input, uint64_t size)
{
	const uint8_t *at = input->at;

	if (size > input->left)
		return NULL;
	input->at += size;
	input->left -= (size_t)size;
	return at;
}

static bool decode_take_number(struct input *input, void *ret_value, size_t size)
{
	const uint8_t *at = decode_take(input, size);

	if (at)
		memcpy(ret_value, at, size);
	return at != NULL;
}

static const char *string_at(const struct decoder *decoder, const uint8_t *bytes)
{
	uint32_t number;

	memcpy(&number, bytes, sizeof(number));
	return number < decoder->string_count ? decoder->strings[number] : NULL;
}

static bool is_null_string(const uint8_t *bytes)
{
	uint32_t number;

	memcpy(&number, bytes, sizeof(number));
	return number == UINT32_MAX;
}

static int read_strings(struct decoder *decoder, struct input *input)
{
	const char *text, *end;
	const uint8_t *bytes;
	char *copy;
	uint64_t size;

	if (!decode_take_number(input, &size, sizeof(size)))
		return -EBADMSG;
	bytes = decode_take(input, size);
	if (!bytes || (size && bytes[size - 1]))
		return -EBADMSG;
	copy = arena_array(decoder->arena, (size_t)size + 1, 1);
	if (!copy)
		return -ENOMEM;
	memcpy(copy, bytes, (size_t)size);
	for (text = copy, end = copy + size; text < end; text += strlen(text) + 1) {
		if (!ARRAY_ROOM(decoder->strings, decoder->string_count, decoder->string_capacity))
			return -ENOMEM;
		if (strlen(text) > STRING_BYTES_MAX)
			return -EBADMSG;
		decoder->strings[decoder->string_count++] = text;
	}
	return 0;
}

/* The next column of so many rows, and past it. */
static bool read_column(const struct decoder *decoder, struct input *input, uint64_t rows,
			struct stored_column *ret_column)
{
	struct stored_column column;
	const uint8_t *name = decode_take(input, sizeof(uint32_t));
	uint64_t size;

	if (!name || !decode_take_number(input, &column.kind, sizeof(column.kind)) ||
	    !decode_take_number(input, &column.width, sizeof(column.width)) ||
	    __builtin_mul_overflow(rows, (uint64_t)column.width, &size))
		return false;
	column.name = string_at(decoder, name);
	column.bytes = decode_take(input, size);
	if (!column.name || !column.bytes || !column.width)
		return false;
	*ret_column = column;
	return true;
}

/* Where each table is, and that all their columns are there. */
static int decode_read_directory(struct decoder *decoder, struct input *input)
{
	while (input->left > 0) {
		struct stored_table *table = &decoder->tables[decoder->table_count];
		const uint8_t *name = decode_take(input, sizeof(uint32_t));
		struct stored_column column;

		if (!name || decoder->table_count == TABLES_MAX ||
		    !decode_take_number(input, &table->columns, sizeof(table->columns)) ||
		    !decode_take_number(input, &table->rows, sizeof(table->rows)))
			return -EBADMSG;
		table->name = string_at(decoder, name);
		table->bytes = input->at;
		/* A table without columns has no bytes for its rows. */
		if (!table->name || table->columns > COLUMNS_MAX ||
		    (!table->columns && table->rows))
			return -EBADMSG;
		for (uint32_t i = 0; i < table->columns; i++)
			if (!read_column(decoder, input, table->rows, &column))
				return -EBADMSG;
		decoder->table_count++;
	}
	return 0;
}

static const struct stored_table *find_table(const struct decoder *decoder, const char *name)
{
	for (size_t i = 0; i < decoder->table_count; i++)
		if (strcmp(decoder->tables[i].name, name) == 0)
			return &decoder->tables[i];
	return NULL;
}

static bool find_column(const struct decoder *decoder, const struct stored_table *table,
			const char *name, struct stored_column *ret_column)
{
	struct input input = { table->bytes, SIZE_MAX }; /* measured by decode_read_directory() */

	for (uint32_t i = 0; i < table->columns; i++)
		if (read_column(decoder, &input, table->rows, ret_column) &&
		    strcmp(ret_column->name, name) == 0)
			return true;
	return false;
}

static bool check_number(const struct field *field, const uint8_t *bytes)
{
	uint32_t value = 0;

	memcpy(&value, bytes, field->size);
	return !field->limit || value < field->limit;
}

static bool check_real(const uint8_t *bytes)
{
	double value;

	memcpy(&value, bytes, sizeof(value));
	return isfinite(value) && value >= 0 && value <= REAL_MAX;
}

static bool set_strings(const struct decoder *decoder, const struct stored_column *column,
			const struct field *field, const uint8_t *bytes, uint8_t *at)
{
	size_t count = column->width / sizeof(uint32_t);

	for (size_t i = 0; i < count; i++, bytes += sizeof(uint32_t)) {
		const char *text = string_at(decoder, bytes);

		if (!text && (field->kind == FIELD_STRING || !is_null_string(bytes)))
			return false;
		memcpy(at + i * sizeof(text), &text, sizeof(text));
	}
	return true;
}

static bool set_line(const struct decoder *decoder, const uint8_t *bytes, uint8_t *at)
{
	const struct profile_line *line = NULL;
	uint32_t number;

	memcpy(&number, bytes, sizeof(number));
	if (number < decoder->line_count)
		line = &decoder->lines[number];
	else if (number != UINT32_MAX)
		return false;
	memcpy(at, &line, sizeof(line));
	return true;
}

/* A shorter array is one of a version that knew fewer items: the others are zero. */
static bool width_fits(const struct field *field, const struct stored_column *column)
{
	switch (field->kind) {
	case FIELD_WORDS:
		return column->width <= field->size && column->width % sizeof(uint64_t) == 0;
	case FIELD_STRING:
	case FIELD_STRING_OR_NULL:
		return column->width / sizeof(uint32_t) <= field->size / sizeof(char *) &&
		       column->width % sizeof(uint32_t) == 0;
	case FIELD_LINE:
		return column->width == sizeof(uint32_t);
	case FIELD_ROWS:
		return column->width == sizeof(uint64_t);
	default:
		return column->width == field->size;
	}
}

static bool set_field(const struct decoder *decoder, const struct field *field,
		      const struct stored_column *column, const uint8_t *bytes, uint8_t *row)
{
	uint8_t *at = row + field->offset;

	switch (field->kind) {
	case FIELD_WORDS:
		memcpy(at, bytes, column->width);
		return true;
	case FIELD_NUMBER:
		memcpy(at, bytes, field->size);
		return check_number(field, bytes);
	case FIELD_REAL:
		memcpy(at, bytes, field->size);
		return check_real(bytes);
	case FIELD_TEXT:
		memcpy(at, bytes, field->size);
		return memchr(bytes, '\0', field->size) != NULL;
	case FIELD_STRING:
	case FIELD_STRING_OR_NULL:
		return set_strings(decoder, column, field, bytes, at);
	case FIELD_ROWS:
		memcpy(row + field->count_offset, bytes, sizeof(uint64_t));
		return true;
	case FIELD_LINE:
		return set_line(decoder, bytes, at);
	}
	return false;
}

static int read_rows(struct decoder *decoder, const struct table *table, uint64_t expected,
		     uint8_t **ret_rows);

/* The items of all rows lie in one array; each row has the next ones. */
static int read_arrays(struct decoder *decoder, const struct table *table,
		       const struct field *field, uint8_t *rows, size_t count)
{
	uint64_t total = 0;
	uint8_t *items;
	int error;

	for (size_t i = 0; i < count; i++) {
		size_t length;

		memcpy(&length, rows + i * table->row_size + field->count_offset, sizeof(length));
		if (length > field->table->rows_max || (total += length) > field->table->rows_max)
			return -EBADMSG;
	}
	error = read_rows(decoder, field->table, total, &items);
	if (error)
		return error;
	for (size_t i = 0; i < count; i++) {
		uint8_t *row = rows + i * table->row_size;
		size_t length;

		memcpy(&length, row + field->count_offset, sizeof(length));
		memcpy(row + field->offset, &items, sizeof(items));
		if (field->offset == offsetof(struct recorded_profile, profile.lines) &&
		    table == &profile_table) {
			decoder->lines = (const struct profile_line *)items;
			decoder->line_count = length;
		}
		items += length * field->table->row_size;
	}
	return 0;
}

/* One row more than there are, all zeros: an array of pointers so ends with NULL. */
static int read_rows(struct decoder *decoder, const struct table *table, uint64_t expected,
		     uint8_t **ret_rows)
{
	const struct stored_table *stored = find_table(decoder, table->name);
	uint64_t count = stored ? stored->rows : 0;
	uint8_t *rows;

	if (count != expected || count > table->rows_max)
		return -EBADMSG;
	rows = arena_array(decoder->arena, (size_t)count + 1, table->row_size);
	if (!rows)
		return -ENOMEM;
	for (size_t f = 0; f < table->field_count; f++) {
		const struct field *field = &table->fields[f];
		struct stored_column column = { .width = 0 };
		bool found = count && find_column(decoder, stored, field->name, &column);
		int error = 0;

		if (found && (column.kind != field->kind || !width_fits(field, &column)))
			return -EBADMSG;
		for (size_t i = 0; i < count; i++) {
			uint8_t *row = rows + i * table->row_size;

			if (found && !set_field(decoder, field, &column,
						column.bytes + i * column.width, row))
				return -EBADMSG;
			if (!found && field->kind == FIELD_STRING)
				memcpy(row + field->offset, &(const char *){ "?" }, sizeof(char *));
		}
		if (field->kind == FIELD_ROWS)
			error = read_arrays(decoder, table, field, rows, (size_t)count);
		if (error)
			return error;
	}
	*ret_rows = rows;
	return 0;
}

/* What profile.h says of a tree: writers walk it by these rules. */
static int check_tree(const struct profile_tree *tree)
{
	uint32_t *path = calloc(tree->node_count + 1, sizeof(*path)); /* the ancestors, by depth */
	uint64_t stack_frames = 0;
	uint32_t deepest = 0;
	bool valid = path != NULL;

	for (size_t i = 0; i < tree->node_count && valid; i++) {
		const struct profile_node *node = &tree->nodes[i];
		uint32_t parent;

		valid = node->depth <= deepest && node->frame < tree->frame_count;
		if (!valid)
			break;
		parent = node->depth ? path[node->depth - 1] : PROFILE_NODE_NONE;
		path[node->depth] = (uint32_t)i;
		deepest = node->depth + 1;
		stack_frames += deepest;
		valid = node->parent == parent && stack_frames <= PROFILE_STACK_FRAMES_MAX;
		for (size_t c = 0; c < TIME_CLASS_COUNT; c++)
			valid = valid && node->samples[c] <= NODE_SAMPLES_MAX;
	}
	free(path);
	return valid ? 0 : path ? -EBADMSG : -ENOMEM;
}

static bool check_lines(const struct profile *profile)
{
	const size_t most = sizeof(profile->lines->reasons) / sizeof(profile->lines->reasons[0]);

	for (size_t i = 0; i < profile->line_count; i++) {
		const struct profile_line *line = &profile->lines[i];

		if (line->reason_count > most)
			return false;
		for (size_t k = 0; k < line->reason_count; k++)
			if (!line->reasons[k])
				return false;
	}
	return true;
}

static bool check_pairs(const struct profile *profile)
{
	uint64_t frames = 0;

	for (size_t i = 0; i < profile->pair_count; i++)
		frames += profile->pairs[i].first_count + profile->pairs[i].second_count;
	/* Inlined functions come on top of the frames that the limit counts. */
	return frames <= 64ull * PROFILE_PAIR_FRAMES_MAX;
}

/* Writers look for an owner's cells behind each other, and draw a column for each slice. */
static bool check_timeline(const struct profile_timeline *timeline, size_t owner_count)
{
	if (timeline->slice_count > SLICES_MAX || (timeline->cell_count && !timeline->slice_ns))
		return false;
	for (size_t i = 0; i < timeline->cell_count; i++) {
		const struct profile_cell *cell = &timeline->cells[i], *last = cell - 1;

		if (cell->owner >= owner_count || cell->slice >= timeline->slice_count)
			return false;
		if (i && (cell->owner < last->owner ||
			  (cell->owner == last->owner && cell->slice <= last->slice)))
			return false;
	}
	return true;
}

/* Writers look for a thread's stacks behind each other, and take a node's time apart by them. */
static bool check_stacks(const struct profile *profile)
{
	const struct profile_facts *facts = &profile->facts;

	for (size_t i = 0; i < facts->stack_count; i++) {
		const struct profile_stack *stack = &facts->stacks[i], *last = stack - 1;

		if (stack->thread >= facts->thread_count || stack->node >= profile->tree.node_count)
			return false;
		if (i && (stack->thread < last->thread ||
			  (stack->thread == last->thread && stack->node <= last->node)))
			return false;
		for (size_t c = 0; c < TIME_CLASS_COUNT; c++)
			if (stack->samples[c] > NODE_SAMPLES_MAX)
				return false;
	}
	return true;
}

/* By time, as merging takes them. */
static bool check_points(const struct resident_figures *resident)
{
	for (size_t i = 0; i < resident->point_count; i++)
		if (resident->points[i].time_ns > POINT_NS_MAX ||
		    (i && resident->points[i].time_ns < resident->points[i - 1].time_ns))
			return false;
	return true;
}

static int decode_finish(struct decoder *decoder, struct recorded_profile *recorded,
			 struct profile *ret_profile)
{
	struct profile *profile = &recorded->profile;
	const char **command =
		arena_array(decoder->arena, recorded->command_count + 1, sizeof(*command));
	int error = check_tree(&profile->tree);

	if (!command)
		return -ENOMEM;
	if (error)
		return error;
	if (!check_lines(profile) || !check_pairs(profile) ||
	    !check_timeline(&profile->facts.thread_timeline, profile->facts.thread_count) ||
	    !check_timeline(&profile->facts.node_timeline, profile->tree.node_count) ||
	    !check_stacks(profile) || !check_points(&profile->facts.resident) ||
	    !check_timeline(&profile->facts.stack_timeline, profile->facts.stack_count))
		return -EBADMSG;
	for (size_t i = 0; i < recorded->command_count; i++)
		command[i] = recorded->command[i].text;
	profile->facts.target.command = command;
	for (size_t i = 0; i < recorded->loss_count; i++)
		for (size_t k = 0; k < LOSS_COUNT; k++)
			if (strcmp(recorded->losses[i].name, loss_name((enum loss)k)) == 0)
				profile->facts.losses.counts[k] = recorded->losses[i].count;
	*ret_profile = *profile;
	return 0;
}

int profile_decode(const uint8_t *bytes, size_t size, struct arena *arena,
		   struct profile *ret_profile)
{
	struct decoder *decoder = calloc(1, sizeof(*decoder));
	struct input input = { bytes, size };
	uint8_t *recorded = NULL;
	int error;

	if (!decoder)
		return -ENOMEM;
	decoder->arena = arena;
	error = read_strings(decoder, &input);
	if (!error)
		error = decode_read_directory(decoder, &input);
	if (!error)
		error = read_rows(decoder, &profile_table, 1, &recorded);
	if (!error)
		error = decode_finish(decoder, (struct recorded_profile *)(void *)recorded,
				      ret_profile);
	free(decoder->strings);
	free(decoder);
	return error;
}

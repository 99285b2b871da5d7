/* SPDX-License-Identifier: Apache-2.0 */
#include "daemon/report/encode/string_table.h"
#include "daemon/report/recording/profile_codec.h"
#include "daemon/report/recording/profile_fields.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

_Static_assert(__BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__, "numbers are written as they lie");

struct encoder {
	const struct profile *profile;
	struct string_table strings;
	FILE *tables;
	int error; /* the first one */
};

/* Rows lie in several arrays, one for each row of the table that they belong to. */
struct rows {
	const uint8_t *items;
	size_t count;
};

static void encode_fail(struct encoder *encoder, int error)
{
	if (!encoder->error)
		encoder->error = error;
}

static void encode_put(struct encoder *encoder, const void *bytes, size_t size)
{
	if (size && fwrite(bytes, 1, size, encoder->tables) != size)
		encode_fail(encoder, -ENOMEM);
}

static uint32_t string_number(struct encoder *encoder, const char *text)
{
	uint32_t number = UINT32_MAX;

	if (text && string_table_find(&encoder->strings, text, &number) < 0)
		encode_fail(encoder, -ENOMEM);
	return number;
}

static void put_string(struct encoder *encoder, const char *text)
{
	uint32_t number = string_number(encoder, text);

	encode_put(encoder, &number, sizeof(number));
}

static uint16_t field_width(const struct field *field)
{
	switch (field->kind) {
	case FIELD_STRING:
	case FIELD_STRING_OR_NULL:
		return (uint16_t)(field->size / sizeof(char *) * sizeof(uint32_t));
	case FIELD_LINE:
		return sizeof(uint32_t);
	case FIELD_ROWS:
		return sizeof(uint64_t);
	default:
		return (uint16_t)field->size;
	}
}

static uint64_t encode_count_of(const struct field *field, const uint8_t *row)
{
	size_t count;

	memcpy(&count, row + field->count_offset, sizeof(count));
	return count;
}

static const void *pointer_at(const uint8_t *at)
{
	const void *pointer;

	memcpy(&pointer, at, sizeof(pointer));
	return pointer;
}

static void encode_put_line(struct encoder *encoder, const struct profile_line *line)
{
	uint32_t number = line ? (uint32_t)(line - encoder->profile->lines) : UINT32_MAX;

	encode_put(encoder, &number, sizeof(number));
}

static void put_field(struct encoder *encoder, const struct field *field, const uint8_t *row)
{
	const uint8_t *at = row + field->offset;
	uint64_t count;

	switch (field->kind) {
	case FIELD_STRING:
	case FIELD_STRING_OR_NULL:
		for (size_t i = 0; i < field->size; i += sizeof(char *)) {
			const char *text = pointer_at(at + i);

			put_string(encoder, text || field->kind != FIELD_STRING ? text : "");
		}
		break;
	case FIELD_LINE:
		encode_put_line(encoder, pointer_at(at));
		break;
	case FIELD_ROWS:
		count = encode_count_of(field, row);
		encode_put(encoder, &count, sizeof(count));
		break;
	default:
		encode_put(encoder, at, field->size);
	}
}

static void put_table(struct encoder *encoder, const struct table *table, const struct rows *parts,
		      size_t part_count);

/* The arrays that a field of all rows has, as one table. */
static void put_arrays(struct encoder *encoder, const struct field *field, const struct rows *parts,
		       size_t part_count, size_t row_size, size_t row_count)
{
	struct rows *arrays = calloc(row_count + 1, sizeof(*arrays));
	size_t used = 0;

	if (!arrays) {
		encode_fail(encoder, -ENOMEM);
		return;
	}
	for (size_t i = 0; i < part_count; i++)
		for (size_t k = 0; k < parts[i].count; k++) {
			const uint8_t *row = parts[i].items + k * row_size;

			arrays[used].items = pointer_at(row + field->offset);
			arrays[used++].count = (size_t)encode_count_of(field, row);
		}
	put_table(encoder, field->table, arrays, used);
	free(arrays);
}

static void put_table(struct encoder *encoder, const struct table *table, const struct rows *parts,
		      size_t part_count)
{
	uint32_t columns = (uint32_t)table->field_count;
	uint64_t rows = 0;

	for (size_t i = 0; i < part_count; i++)
		rows += parts[i].count;
	if (rows > table->rows_max)
		encode_fail(encoder, -EFBIG);
	if (encoder->error)
		return;
	put_string(encoder, table->name);
	encode_put(encoder, &columns, sizeof(columns));
	encode_put(encoder, &rows, sizeof(rows));
	for (size_t f = 0; f < table->field_count; f++) {
		const struct field *field = &table->fields[f];
		const uint16_t head[] = { (uint16_t)field->kind, field_width(field) };

		put_string(encoder, field->name);
		encode_put(encoder, head, sizeof(head));
		for (size_t i = 0; i < part_count; i++)
			for (size_t k = 0; k < parts[i].count; k++)
				put_field(encoder, field, parts[i].items + k * table->row_size);
	}
	for (size_t f = 0; f < table->field_count; f++)
		if (table->fields[f].kind == FIELD_ROWS)
			put_arrays(encoder, &table->fields[f], parts, part_count, table->row_size,
				   (size_t)rows);
}

/* Strings and tables behind each other. */
static int join(struct encoder *encoder, const char *tables, size_t table_size, uint8_t **ret_bytes,
		size_t *ret_size)
{
	uint64_t string_size = 0;
	uint8_t *bytes;
	size_t used = sizeof(string_size);

	for (size_t i = 0; i < encoder->strings.count; i++)
		string_size += strlen(encoder->strings.strings[i]) + 1;
	if (string_size > PROFILE_BYTES_MAX || table_size > PROFILE_BYTES_MAX ||
	    string_size + table_size + used > PROFILE_BYTES_MAX)
		return -EFBIG;
	bytes = malloc(used + string_size + table_size);
	if (!bytes)
		return -ENOMEM;
	memcpy(bytes, &string_size, sizeof(string_size));
	for (size_t i = 0; i < encoder->strings.count; i++) {
		size_t length = strlen(encoder->strings.strings[i]) + 1;

		memcpy(bytes + used, encoder->strings.strings[i], length);
		used += length;
	}
	memcpy(bytes + used, tables, table_size);
	*ret_bytes = bytes;
	*ret_size = used + table_size;
	return 0;
}

int profile_encode(const struct profile *profile, uint8_t **ret_bytes, size_t *ret_size)
{
	struct encoder encoder = { .profile = profile };
	struct recorded_profile recorded = { .profile = *profile };
	const char *const *command = profile->facts.target.command;
	struct recorded_loss losses[LOSS_COUNT];
	struct rows root = { (const uint8_t *)&recorded, 1 };
	struct recorded_word *words;
	char *tables = NULL;
	size_t table_size = 0;

	for (size_t i = 0; i < LOSS_COUNT; i++)
		losses[i] = (struct recorded_loss){ loss_name((enum loss)i),
						    profile->facts.losses.counts[i] };
	recorded.losses = losses;
	recorded.loss_count = LOSS_COUNT;
	while (command && command[recorded.command_count])
		recorded.command_count++;
	words = calloc(recorded.command_count + 1, sizeof(*words));
	encoder.tables = open_memstream(&tables, &table_size);
	if (!words || !encoder.tables)
		encode_fail(&encoder, -ENOMEM);
	for (size_t i = 0; words && i < recorded.command_count; i++)
		words[i].text = command[i];
	recorded.command = words;
	if (!encoder.error)
		put_table(&encoder, &profile_table, &root, 1);
	/* Out of memory in the very end, glibc's fclose() succeeds with nothing. */
	if (encoder.tables && (fclose(encoder.tables) || !tables))
		encode_fail(&encoder, -ENOMEM);
	if (!encoder.error)
		encoder.error = join(&encoder, tables, table_size, ret_bytes, ret_size);
	free(tables);
	free(words);
	string_table_deinit(&encoder.strings);
	return encoder.error;
}

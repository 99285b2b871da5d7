/* SPDX-License-Identifier: Apache-2.0 */
#include "daemon/report/format/pprof_file.h"

#include <errno.h>
#include <string.h>

int pprof_file_init(struct pprof_file *pprof, FILE *file)
{
	int result;

	*pprof = (struct pprof_file){ 0 };
	result = gzip_stream_init(&pprof->stream, file);
	if (result < 0)
		return result;
	pprof_table_init(&pprof->table);
	return 0;
}

void pprof_file_deinit(struct pprof_file *pprof)
{
	pprof_table_deinit(&pprof->table);
	protobuf_deinit(&pprof->message);
	protobuf_deinit(&pprof->inner);
	gzip_stream_deinit(&pprof->stream);
}

void pprof_file_fail(struct pprof_file *pprof, int error)
{
	if (!pprof->error)
		pprof->error = error;
}

uint32_t pprof_file_string(struct pprof_file *pprof, const char *text)
{
	return pprof_table_string(&pprof->table, text);
}

void pprof_file_flush(struct pprof_file *pprof)
{
	struct protobuf *message = &pprof->message;

	if (message->failed || pprof->table.failed)
		pprof_file_fail(pprof, -ENOMEM);
	if (!pprof->error) {
		int result = gzip_stream_put(&pprof->stream, message->bytes, message->size);

		if (result < 0)
			pprof_file_fail(pprof, result);
	}
	protobuf_clear(message);
}

void pprof_file_put(struct pprof_file *pprof, unsigned field)
{
	protobuf_submessage(&pprof->message, field, &pprof->inner);
	protobuf_clear(&pprof->inner);
	pprof_file_flush(pprof);
}

uint64_t pprof_file_bounded(uint64_t value)
{
	return value < INT64_MAX ? value : INT64_MAX;
}

void pprof_file_value_type(struct pprof_file *pprof, unsigned field, const char *type,
			   const char *unit)
{
	protobuf_number(&pprof->inner, VALUE_TYPE_TYPE, pprof_file_string(pprof, type));
	protobuf_number(&pprof->inner, VALUE_TYPE_UNIT, pprof_file_string(pprof, unit));
	pprof_file_put(pprof, field);
}

void pprof_file_begin_sample(struct pprof_file *pprof, const uint64_t *stack, size_t depth,
			     const uint64_t *values, size_t value_count)
{
	protobuf_numbers(&pprof->inner, SAMPLE_LOCATION, stack, depth);
	protobuf_numbers(&pprof->inner, SAMPLE_VALUE, values, value_count);
}

void pprof_file_label(struct pprof_file *pprof, const char *key, const char *text)
{
	struct protobuf label = { 0 };

	protobuf_number(&label, LABEL_KEY, pprof_file_string(pprof, key));
	protobuf_number(&label, LABEL_STRING, pprof_file_string(pprof, text));
	protobuf_submessage(&pprof->inner, SAMPLE_LABEL, &label);
	protobuf_deinit(&label);
}

static void put_mappings(struct pprof_file *pprof)
{
	for (size_t i = 0; i < pprof->table.mapping_count; i++) {
		const struct pprof_mapping *mapping = &pprof->table.mappings[i];

		/* Addresses are the file's own, so that the mapping begins at 0. */
		protobuf_number(&pprof->inner, MAPPING_ID, i + 1);
		protobuf_number(&pprof->inner, MAPPING_LIMIT, mapping->limit);
		protobuf_number(&pprof->inner, MAPPING_FILE, mapping->file);
		protobuf_number(&pprof->inner, MAPPING_BUILD_ID, mapping->build_id);
		/* What has no name has none for others either: no reader is to look again. */
		protobuf_number(&pprof->inner, MAPPING_HAS_FUNCTIONS, 1);
		protobuf_number(&pprof->inner, MAPPING_HAS_FILES, mapping->has_lines);
		protobuf_number(&pprof->inner, MAPPING_HAS_LINES, mapping->has_lines);
		pprof_file_put(pprof, PROFILE_MAPPING);
	}
}

static void put_locations(struct pprof_file *pprof)
{
	struct protobuf line = { 0 };

	for (size_t i = 0; i < pprof->table.location_count && !pprof->error; i++) {
		const struct pprof_location *location = &pprof->table.locations[i];

		protobuf_clear(&line);
		protobuf_number(&line, LINE_FUNCTION, location->function);
		protobuf_number(&line, LINE_LINE,
				location->line > 0 ? (uint64_t)location->line : 0);
		protobuf_number(&pprof->inner, LOCATION_ID, i + 1);
		protobuf_number(&pprof->inner, LOCATION_MAPPING, location->mapping);
		protobuf_number(&pprof->inner, LOCATION_ADDRESS, location->address);
		protobuf_submessage(&pprof->inner, LOCATION_LINE, &line);
		pprof_file_put(pprof, PROFILE_LOCATION);
	}
	protobuf_deinit(&line);
	/*
	 * No system name: of a function whose two names are the same, go tool pprof takes
	 * "<module>" and "[*]" for what C++'s templates leave, and cuts them out.
	 */
	for (size_t i = 0; i < pprof->table.function_count && !pprof->error; i++) {
		const struct pprof_function *function = &pprof->table.functions[i];

		protobuf_number(&pprof->inner, FUNCTION_ID, i + 1);
		protobuf_number(&pprof->inner, FUNCTION_NAME, function->name);
		protobuf_number(&pprof->inner, FUNCTION_FILE, function->file);
		pprof_file_put(pprof, PROFILE_FUNCTION);
	}
}

static void pprof_put_strings(struct pprof_file *pprof)
{
	const struct string_table *strings = &pprof->table.strings;

	for (size_t i = 0; i < strings->count && !pprof->error; i++) {
		protobuf_text(&pprof->message, PROFILE_STRING, strings->strings[i]);
		pprof_file_flush(pprof);
	}
}

int pprof_file_finish(struct pprof_file *pprof)
{
	put_mappings(pprof);
	put_locations(pprof);
	pprof_put_strings(pprof);
	if (!pprof->error)
		pprof->error = gzip_stream_finish(&pprof->stream);
	return pprof->error;
}

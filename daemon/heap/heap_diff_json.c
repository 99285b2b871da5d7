/* SPDX-License-Identifier: Apache-2.0 */
/* The difference of two looks at a heap for programs, as pieprofd-formats(5) lays it down. */
#include "daemon/heap/heap_comparison.h"
#include "daemon/heap/heap_diff_words.h"
#include "daemon/heap/heap_diff_writers.h"
#include "daemon/report/format/json_value.h"

#include <errno.h>
#include <stdlib.h>

/* Rows that shrank and rows that grew, of each. */
#define ROWS_MAX 500

static json_t *json_two(json_t *base, json_t *now)
{
	return json_appended(json_appended(json_array(), base), now);
}

static json_t *json_counts(const uint64_t counts[HEAP_SIDES])
{
	return json_two(json_count(counts[HEAP_BASE]), json_count(counts[HEAP_NOW]));
}

static json_t *json_presence(const bool present[HEAP_SIDES])
{
	return json_text(!present[HEAP_BASE] ? "new" : !present[HEAP_NOW] ? "gone" : "both");
}

static json_t *json_side(const struct heap_file *side)
{
	const struct heap_look *look = &side->look;
	json_t *object = json_object(), *command = json_array();
	char version[48];

	snprintf(version, sizeof(version), "%d.%d.%d", look->python.major, look->python.minor,
		 look->python.micro);
	for (size_t i = 0; look->command && look->command[i]; i++)
		command = json_appended(command, json_text(look->command[i]));
	object = json_with(object, "pid", json_integer(look->pid));
	object = json_with(object, "start_time",
			   look->start_time ? json_count(look->start_time) : json_null());
	object = json_with(object, "python", json_text(version));
	object = json_with(object, "command", command);
	object = json_with(object, "container", json_container(&look->container));
	object = json_with(object, "unix_ns",
			   look->unix_ns ? json_count(look->unix_ns) : json_null());
	return json_with(object, "unlisted_bytes", json_count(side->unlisted_bytes));
}

static json_t *json_path_of(const struct heap_diff *diff, uint32_t path)
{
	uint32_t paths[HEAP_HOLDER_STEPS_MAX] = { 0 };
	size_t count = heap_diff_steps(diff, path, paths);
	json_t *steps = json_array();

	for (size_t i = 0; i < count; i++) {
		json_t *step = json_object();

		step = json_with(step, "step", json_text(diff->paths[paths[i]].step));
		step = json_with(step, "type", json_text(diff->paths[paths[i]].type));
		steps = json_appended(steps, step);
	}
	return steps;
}

static json_t *json_verdict_of(const struct heap_diff *diff)
{
	enum heap_diff_kind part = diff->kind == HEAP_DIFF_LESS ? diff->less : diff->kind;
	struct heap_words *words = calloc(1, sizeof(*words));
	uint32_t row = part == HEAP_DIFF_OBJECTS ? heap_comparison_first_row(diff) : 0;
	json_t *object = json_object(), *sentences = json_array();

	if (!words) {
		json_decref(object);
		json_decref(sentences);
		return NULL;
	}
	heap_diff_words_say(diff, words);
	for (size_t i = 0; i < words->sentence_count; i++)
		sentences = json_appended(sentences, json_text(words->sentences[i]));
	object = json_with(object, "kind", json_text(heap_comparison_kind_name(diff->kind)));
	object = json_with(object, "part", json_text(heap_comparison_kind_name(part)));
	object = json_with(object, "bytes", json_counts(diff->parts[part]));
	object = json_with(object, "path", row ? json_path_of(diff, row) : json_null());
	object = json_with(object, "text", json_text(words->headline));
	free(words);
	return json_with(object, "sentences", sentences);
}

static json_t *json_regions(const struct heap_diff *diff)
{
	const struct heap_regions *base = &diff->files[HEAP_BASE]->look.snapshot.regions,
				  *now = &diff->files[HEAP_NOW]->look.snapshot.regions;
	const struct {
		const char *name;
		uint64_t bytes[HEAP_SIDES];
	} regions[] = {
		{ "rss_bytes", { base->rss_bytes, now->rss_bytes } },
		{ "objects_bytes", { base->objects_bytes, now->objects_bytes } },
		{ "pool_free_bytes", { base->pool_free_bytes, now->pool_free_bytes } },
		{ "malloc_held_bytes", { base->malloc_held_bytes, now->malloc_held_bytes } },
		{ "malloc_unheld_bytes", { base->malloc_unheld_bytes, now->malloc_unheld_bytes } },
		{ "free_bytes", { base->free_bytes, now->free_bytes } },
		{ "libraries_bytes", { base->libraries_bytes, now->libraries_bytes } },
		{ "stacks_bytes", { base->stacks_bytes, now->stacks_bytes } },
		{ "other_bytes", { base->other_bytes, now->other_bytes } },
	};
	json_t *object = json_object();

	for (size_t i = 0; i < sizeof(regions) / sizeof(regions[0]); i++)
		object = json_with(object, regions[i].name, json_counts(regions[i].bytes));
	return object;
}

static json_t *json_type_change(const struct heap_type_change *type)
{
	json_t *object = json_object();

	object = json_with(object, "type", json_text(type->name));
	object = json_with(object, "presence", json_presence(type->present));
	object = json_with(object, "count", json_counts(type->count));
	object = json_with(object, "bytes", json_counts(type->bytes));
	return json_with(object, "storage_bytes", json_counts(type->storage_bytes));
}

static json_t *json_array_change(const struct heap_type_change *array)
{
	json_t *object = json_object();

	object = json_with(object, "dtype", json_text(array->name));
	object = json_with(object, "presence", json_presence(array->present));
	object = json_with(object, "count", json_counts(array->count));
	return json_with(object, "bytes", json_counts(array->bytes));
}

static json_t *json_types(const struct heap_type_change *types, size_t count,
			  json_t *(*json_one)(const struct heap_type_change *))
{
	json_t *array = json_array();

	for (size_t i = 0; i < count; i++)
		if (!heap_diff_is_unchanged(&types[i]))
			array = json_appended(array, json_one(&types[i]));
	return array;
}

static json_t *json_holder(const struct heap_diff *diff, uint32_t row)
{
	const struct heap_path_change *path = &diff->paths[row];
	json_t *object = json_object();

	object = json_with(object, "path", json_path_of(diff, row));
	object = json_with(object, "presence", json_presence(path->present));
	object = json_with(object, "count", json_counts(path->count));
	object = json_with(object, "entries", json_counts(path->entries));
	object = json_with(object, "own_bytes", json_counts(path->own_bytes));
	object = json_with(object, "bytes", json_counts(path->bytes));
	return json_with(object, "held_count", json_counts(path->held_count));
}

/* Those in the middle, which changed least, are left out where there are too many. */
static json_t *json_holders(const struct heap_diff *diff)
{
	json_t *array = json_array();

	if (!diff->holders) {
		json_decref(array);
		return json_null();
	}
	for (size_t i = 0; i < diff->row_count; i++)
		if (i < ROWS_MAX || diff->row_count - i <= ROWS_MAX)
			array = json_appended(array, json_holder(diff, diff->rows[i]));
	return array;
}

int heap_diff_write_json(const struct heap_diff *diff, const struct writer_options *options,
			 FILE *file)
{
	json_t *object = json_object();
	double seconds;
	int error;

	(void)options;
	object = json_with(object, "pieprofd", json_text(PIEPROFD_VERSION));
	object = json_with(object, "base", json_side(diff->files[HEAP_BASE]));
	object = json_with(object, "now", json_side(diff->files[HEAP_NOW]));
	object = json_with(object, "seconds",
			   heap_diff_seconds(diff, &seconds) ? json_figure(seconds) : json_null());
	object = json_with(object, "same_process",
			   diff->process == HEAP_SAME_UNKNOWN
				   ? json_null()
				   : json_boolean(diff->process == HEAP_SAME));
	object = json_with(object, "same_command", json_boolean(diff->program));
	object = json_with(object, "verdict", json_verdict_of(diff));
	object = json_with(object, "regions", json_regions(diff));
	object = json_with(object, "types",
			   json_types(diff->types, diff->type_count, json_type_change));
	object = json_with(object, "arrays",
			   json_types(diff->arrays, diff->array_count, json_array_change));
	object = json_with(object, "holders", json_holders(diff));
	error = json_put(file, json_with(json_object(), "heap_diff", object));
	if (!error)
		fputc('\n', file);
	return !error && ferror(file) ? -EIO : error;
}

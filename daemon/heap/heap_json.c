/* SPDX-License-Identifier: Apache-2.0 */
#include "daemon/heap/heap_json.h"

#include "daemon/heap/heap_growth_json.h"
#include "daemon/heap/heap_holder.h"
#include "daemon/heap/heap_writer.h"

#include <errno.h>
#include <stdlib.h>

#define HOLDERS_MAX 1000
#define TYPES_MAX   5000

static json_t *json_known(uint64_t value)
{
	return value ? json_count(value) : json_null();
}

static json_t *json_process(const struct heap_look *look)
{
	json_t *object = json_object(), *command = json_array();
	char version[48];

	snprintf(version, sizeof(version), "%d.%d.%d", look->python.major, look->python.minor,
		 look->python.micro);
	for (size_t i = 0; look->command && look->command[i]; i++)
		command = json_appended(command, json_text(look->command[i]));
	object = json_with(object, "pid", json_integer(look->pid));
	object = json_with(object, "start_time", json_known(look->start_time));
	object = json_with(object, "python", json_text(version));
	object = json_with(object, "command", command);
	return json_with(object, "container", json_container(&look->container));
}

static json_t *json_regions(const struct heap_regions *regions)
{
	json_t *object = json_object();

	object = json_with(object, "rss_bytes", json_count(regions->rss_bytes));
	object = json_with(object, "objects_bytes", json_count(regions->objects_bytes));
	object = json_with(object, "pool_free_bytes", json_count(regions->pool_free_bytes));
	object = json_with(object, "malloc_held_bytes", json_count(regions->malloc_held_bytes));
	object = json_with(object, "malloc_unheld_bytes", json_count(regions->malloc_unheld_bytes));
	object = json_with(object, "free_bytes", json_count(regions->free_bytes));
	object = json_with(object, "libraries_bytes", json_count(regions->libraries_bytes));
	object = json_with(object, "stacks_bytes", json_count(regions->stacks_bytes));
	return json_with(object, "other_bytes", json_count(regions->other_bytes));
}

static json_t *json_types(const struct heap_look *look)
{
	const struct heap_snapshot *snapshot = &look->snapshot;
	json_t *types = json_array();

	for (size_t i = 0; i < snapshot->type_count && i < TYPES_MAX; i++) {
		const struct heap_type_count *type = &snapshot->types[i];
		json_t *object = json_object();

		object = json_with(object, "type", json_text(type->name));
		object = json_with(object, "address", json_count(type->address));
		object = json_with(object, "count", json_count(type->count));
		object = json_with(object, "bytes", json_count(type->bytes));
		object = json_with(object, "storage_bytes", json_count(type->storage_bytes));
		if (look->course)
			object = heap_json_with_type(object, look, type);
		types = json_appended(types, object);
	}
	return types;
}

static json_t *json_arrays(const struct heap_snapshot *snapshot)
{
	json_t *arrays = json_array();

	for (size_t i = 0; i < snapshot->array_count; i++) {
		json_t *object = json_object();

		object = json_with(object, "dtype", json_text(snapshot->arrays[i].name));
		object = json_with(object, "count", json_count(snapshot->arrays[i].count));
		object = json_with(object, "bytes", json_count(snapshot->arrays[i].bytes));
		arrays = json_appended(arrays, object);
	}
	return arrays;
}

json_t *heap_json_path(const struct heap_snapshot *snapshot, uint32_t path)
{
	uint32_t paths[HEAP_HOLDER_STEPS_MAX];
	size_t count = heap_snapshot_steps(snapshot, path, paths, HEAP_HOLDER_STEPS_MAX);
	json_t *steps = json_array();

	for (size_t i = 0; i < count && i < HEAP_HOLDER_STEPS_MAX; i++) {
		const struct heap_path *item = &snapshot->paths.items[paths[i]];
		json_t *step = json_object();

		step = json_with(step, "step", json_text(snapshot->paths.strings + item->step));
		step = json_with(step, "type", json_text(heap_holder_type(snapshot, paths[i])));
		steps = json_appended(steps, step);
	}
	return steps;
}

static json_t *json_holder(const struct heap_look *look, const struct heap_holder *holder)
{
	const struct heap_snapshot *snapshot = &look->snapshot;
	json_t *object = json_object();

	object = json_with(object, "path", heap_json_path(snapshot, holder->path));
	if (look->course)
		object = heap_json_with_path(object, look, holder->path);
	object = json_with(object, "count", json_count(holder->count));
	object = json_with(object, "bytes", json_count(holder->bytes));
	object = json_with(object, "held_count", json_count(snapshot->held_counts[holder->path]));
	return json_with(object, "own_bytes",
			 json_count(snapshot->paths.items[holder->path].bytes));
}

static json_t *json_holders(const struct heap_look *look, size_t limit)
{
	const struct heap_snapshot *snapshot = &look->snapshot;
	struct heap_holder *holders;
	json_t *array = json_array();
	size_t count;

	if (snapshot->holders != HEAP_HOLDERS_KNOWN) {
		json_decref(array);
		return json_null();
	}
	if (heap_holders_all(snapshot, limit, &holders, &count)) {
		json_decref(array);
		return NULL;
	}
	for (size_t i = 0; i < count; i++)
		array = json_appended(array, json_holder(look, &holders[i]));
	free(holders);
	return array;
}

/* Paths that hold something, and have no room. */
static uint64_t holders_omitted(const struct heap_snapshot *snapshot, size_t limit)
{
	uint64_t count = 0;

	for (size_t i = 1; snapshot->holders == HEAP_HOLDERS_KNOWN && i < snapshot->paths.count;
	     i++)
		count += snapshot->held_bytes[i] > 0;
	return count > limit ? count - limit : 0;
}

static json_t *json_quality(const struct heap_look *look)
{
	const struct heap_quality *quality = &look->snapshot.quality;
	json_t *object = json_object();

	object = json_with(object, "pools", json_count(quality->pools));
	object = json_with(object, "torn_pools", json_count(quality->torn_pools));
	object = json_with(object, "reread_pools", json_count(quality->reread_pools));
	object = json_with(object, "pool_block_bytes", json_count(quality->pool_block_bytes));
	object = json_with(object, "broken_heaps", json_count(quality->broken_heaps));
	object = json_with(object, "unheld_objects", json_count(quality->unheld_objects));
	object = json_with(object, "unheld_bytes", json_count(quality->unheld_bytes));
	object = json_with(object, "unheld_reached_bytes",
			   json_count(quality->unheld_reached_bytes));
	object = json_with(object, "misjudged_blocks", json_count(quality->misjudged_blocks));
	object = json_with(object, "young_objects", json_count(quality->young_objects));
	object = json_with(object, "young_left_out", json_count(quality->young_left_out));
	object = json_with(object, "found_objects", json_count(quality->found_objects));
	object = json_with(object, "found_bytes", json_count(quality->found_bytes));
	object = json_with(object, "copied_bytes", json_count(quality->copied_bytes));
	object = json_with(object, "skipped_bytes", json_count(quality->skipped_bytes));
	object = json_with(object, "swapped_bytes", json_count(quality->swapped_bytes));
	object = json_with(object, "copy_s", json_figure((double)quality->copy_ns / 1e9));
	object = json_with(object, "total_s", json_figure((double)quality->total_ns / 1e9));
	object = json_with(object, "memory_bytes", json_count(look->memory_bytes));
	object = json_with(object, "types_cut", json_boolean(quality->cut_types));
	object = json_with(object, "paths_cut", json_boolean(quality->cut_paths));
	return json_with(object, "blocks_cut", json_boolean(quality->cut_blocks));
}

json_t *heap_json_look(const struct heap_look *look, size_t holders_max)
{
	static const char *const states[] = { [HEAP_HOLDERS_KNOWN] = "known",
					      [HEAP_HOLDERS_UNWANTED] = "unwanted",
					      [HEAP_HOLDERS_TOO_LARGE] = "too_large" };
	size_t types = look->snapshot.type_count;
	json_t *object = json_object();

	object = json_with(object, "pieprofd", json_text(PIEPROFD_VERSION));
	object = json_with(object, "unix_ns", json_known(look->unix_ns));
	object = json_with(object, "process", json_process(look));
	object = json_with(object, "regions", json_regions(&look->snapshot.regions));
	object = json_with(object, "allocator", json_text_or_null(look->snapshot.allocator));
	object = json_with(object, "types", json_types(look));
	object = json_with(object, "types_omitted",
			   json_count(types > TYPES_MAX ? types - TYPES_MAX : 0));
	object = json_with(object, "arrays", json_arrays(&look->snapshot));
	object = json_with(object, "holders", json_holders(look, holders_max));
	object = json_with(object, "holders_omitted",
			   json_count(holders_omitted(&look->snapshot, holders_max)));
	object = json_with(object, "holders_state", json_text(states[look->snapshot.holders]));
	object = json_with(object, "quality", json_quality(look));
	if (look->course)
		object = heap_json_with_course(object, look);
	return json_with(json_object(), "heap", object);
}

int heap_write_json(const struct heap_look *look, FILE *file)
{
	int error = json_put(file, heap_json_look(look, HOLDERS_MAX));

	if (!error)
		fputc('\n', file);
	return error;
}

/* SPDX-License-Identifier: Apache-2.0 */
#include "pyintrospect/heap/heap_snapshot.h"

#include "common/clock.h"
#include "pyintrospect/heap/heap_allocator.h"
#include "pyintrospect/heap/heap_blocks.h"
#include "pyintrospect/heap/heap_judge.h"
#include "pyintrospect/heap/heap_roots.h"
#include "pyintrospect/heap/heap_search.h"
#include "pyintrospect/heap/heap_stream.h"
#include "pyintrospect/object_reader.h"
#include "pyintrospect/runtime_internal.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Beside the copy: nodes, paths, queue; of small objects as much again. */
#define COPY_SHARE(memory) ((memory) / 3 * 2)

struct look {
	const struct heap_source *source;
	struct heap_layout layout;
	struct heap_image image;
	struct heap_nodes nodes;
	struct heap_types types;
	struct heap_walk walk;
	struct heap_snapshot snapshot; /* being made */
};

/* ---- blocks */

static int find_blocks(struct look *look)
{
	heap_nodes_init(&look->nodes, &look->image, look->layout.pool_bytes);
	look->nodes.foreign = look->snapshot.allocator;
	return heap_blocks_find_all(&look->nodes, &look->layout);
}

/* ---- results */

static int compare_types(const void *left, const void *right)
{
	const struct heap_type_count *a = left, *b = right;
	uint64_t x = a->bytes + a->storage_bytes, y = b->bytes + b->storage_bytes;

	return x != y ? (x < y ? 1 : -1) : a->address < b->address ? -1 : a->address > b->address;
}

/* A class written in Python has its name alone; where it comes from is in its dict. */
static bool read_module(const struct look *look, remote_addr type, char *module, size_t size)
{
	const struct python_runtime *runtime = look->source->runtime;
	struct object_entries entries;
	remote_addr dict, value;
	bool found;

	if (memory_read_u64(look->source->reader, type + look->layout.head_extra + TYPE_DICT,
			    &dict) ||
	    object_read_dict(runtime, dict, &entries))
		return false;
	found = !object_find(runtime, &entries, "__module__", &value) &&
		!object_read_string(runtime, value, module, size);
	object_entries_deinit(&entries);
	return found;
}

static void name_type(const struct look *look, const struct heap_type *type,
		      char name[HEAP_NAME_BYTES])
{
	char module[HEAP_TYPE_NAME];

	if (type->flags & FLAG_HEAP_TYPE && !strchr(type->name, '.') && type->count &&
	    read_module(look, type->address, module, sizeof(module)) &&
	    strcmp(module, "builtins") != 0)
		snprintf(name, HEAP_NAME_BYTES, "%.94s.%s", module, type->name);
	else
		snprintf(name, HEAP_NAME_BYTES, "%s", type->name);
}

static int keep_types(struct look *look)
{
	struct heap_snapshot *snapshot = &look->snapshot;
	/* Names are read below, which may find one more. */
	size_t count = look->types.count;

	snapshot->types = calloc(count, sizeof(*snapshot->types));
	snapshot->type_names = calloc(count, sizeof(*snapshot->type_names));
	if (!snapshot->types || !snapshot->type_names)
		return -ENOMEM;
	snapshot->type_name_count = count;
	for (size_t i = HEAP_NODE_FIRST_TYPE; i < count; i++) {
		const struct heap_type *type = &look->types.items[i];
		struct heap_type_count *kept = &snapshot->types[snapshot->type_count];

		name_type(look, type, snapshot->type_names[i]);
		if (!type->count && !type->storage_bytes)
			continue;
		*kept = (struct heap_type_count){
			.address = type->address,
			.count = type->count,
			.bytes = type->bytes,
			.storage_bytes = type->storage_bytes,
			.prefix = type->prefix,
			.of_python =
				type->flags & FLAG_HEAP_TYPE && !(type->flags & FLAG_IMMUTABLE),
			.of_one_size = !type->item,
		};
		memcpy(kept->name, snapshot->type_names[i], sizeof(kept->name));
		snapshot->type_count++;
	}
	qsort(snapshot->types, snapshot->type_count, sizeof(snapshot->types[0]), compare_types);
	return 0;
}

static int compare_arrays(const void *left, const void *right)
{
	const struct heap_array_type *a = left, *b = right;

	return a->bytes < b->bytes ? 1 : a->bytes > b->bytes ? -1 : 0;
}

static void keep_arrays(struct look *look)
{
	/* NPY_TYPES, the same in numpy 1 and 2. */
	static const char *const names[HEAP_ARRAY_NUMBERS] = {
		"bool",       "int8",        "uint8",       "int16",      "uint16",
		"int32",      "uint32",      "int64",       "uint64",     "longlong",
		"ulonglong",  "float32",     "float64",     "longdouble", "complex64",
		"complex128", "clongdouble", "object",      "bytes",      "str",
		"void",       "datetime64",  "timedelta64", "float16",    "other",
	};
	struct heap_snapshot *snapshot = &look->snapshot;

	for (size_t i = 0; i < HEAP_ARRAY_NUMBERS; i++) {
		const struct heap_array_count *array = &look->walk.arrays[i];

		if (array->count)
			snapshot->arrays[snapshot->array_count++] =
				(struct heap_array_type){ names[i], array->count, array->bytes };
	}
	qsort(snapshot->arrays, snapshot->array_count, sizeof(snapshot->arrays[0]), compare_arrays);
}

/* A parent comes before its children. */
static int keep_holders(struct look *look)
{
	struct heap_snapshot *snapshot = &look->snapshot;
	struct heap_paths *paths = &snapshot->paths;

	snapshot->held_bytes = calloc(paths->count, sizeof(*snapshot->held_bytes));
	snapshot->held_counts = calloc(paths->count, sizeof(*snapshot->held_counts));
	if (!snapshot->held_bytes || !snapshot->held_counts)
		return -ENOMEM;
	for (size_t i = paths->count; i-- > 1;) {
		const struct heap_path *path = &paths->items[i];

		snapshot->held_bytes[i] += path->bytes;
		snapshot->held_counts[i] += path->count;
		if (!path->parent)
			continue;
		snapshot->held_bytes[path->parent] += snapshot->held_bytes[i];
		snapshot->held_counts[path->parent] += snapshot->held_counts[i];
	}
	return 0;
}

/* What was found behind these paths, no root leads to. */
static void count_unheld(struct look *look, size_t first_path)
{
	const struct heap_paths *paths = &look->snapshot.paths;

	for (size_t i = first_path; i < paths->count; i++)
		look->snapshot.quality.unheld_reached_bytes += paths->items[i].bytes;
}

static void keep_quality(struct look *look)
{
	struct heap_quality *quality = &look->snapshot.quality;

	quality->pools = look->nodes.pool_count;
	quality->torn_pools = look->nodes.torn;
	quality->reread_pools = look->nodes.reread;
	for (size_t i = 0; i < look->nodes.pool_count; i++) {
		const struct heap_pool *pool = &look->nodes.pools[i];

		quality->pool_block_bytes +=
			(uint64_t)(pool->carved - pool->free) * pool->block_bytes;
	}
	quality->broken_heaps = look->nodes.broken_heaps;
	quality->unheld_objects = look->walk.unheld_objects;
	quality->unheld_bytes = look->walk.unheld_bytes;
	quality->misjudged_blocks = look->walk.misjudged;
	quality->young_objects = look->walk.mends.objects;
	quality->young_left_out = look->walk.mends.left_out;
	quality->copied_bytes = look->image.copied_bytes;
	quality->skipped_bytes = look->image.skipped_bytes;
	quality->swapped_bytes = look->image.swapped_bytes;
	quality->cut_types = look->types.cut;
	quality->cut_paths = look->snapshot.paths.cut;
	quality->cut_blocks = look->nodes.cut;
	for (size_t i = 0; i < look->nodes.found.count; i++) {
		const uint32_t node = look->nodes.first_found + (uint32_t)i;

		quality->found_objects += look->nodes.kinds[node] >= HEAP_NODE_FIRST_TYPE;
		quality->found_bytes += look->nodes.found.items[i].size;
	}
}

size_t heap_snapshot_steps(const struct heap_snapshot *snapshot, uint32_t path, uint32_t *ret_paths,
			   size_t limit)
{
	size_t count = 0;
	uint32_t at;

	for (at = path; at; at = snapshot->paths.items[at].parent)
		count++;
	at = path;
	for (size_t i = count; i-- > 0; at = snapshot->paths.items[at].parent)
		if (i < limit)
			ret_paths[i] = at;
	return count;
}

/* ---- a look */

static int refuse(struct error *error, const char *cause, const char *cure)
{
	error_set(error, EXIT_UNSUPPORTED_PYTHON, "%s", cause);
	error_set_cure(error, "%s", cure);
	return -1;
}

static int explain(int failure, struct error *error)
{
	if (failure == -ESRCH)
		error_set(error, EXIT_NO_TARGET, "the process ended while it was looked at");
	else if (failure == -ENOMEM)
		error_set(error, EXIT_INTERNAL, "out of memory");
	else
		error_set(error, EXIT_INTERNAL, "the memory of the process cannot be read: %s",
			  strerror(-failure));
	return -1;
}

static int refuse_allocator(const struct look *look, struct error *error)
{
	if (look->snapshot.holders != HEAP_HOLDERS_KNOWN && look->snapshot.allocator) {
		error_set(error, EXIT_UNSUPPORTED_PYTHON,
			  "the objects of this interpreter are in memory of %s, which is not read",
			  look->snapshot.allocator);
		error_set_cure(
			error,
			"With holders they are found by references: leave out --no-holders, and "
			"permit as much memory as that takes (--max-memory).");
		return -1;
	}
	return refuse(error,
		      "the memory of this interpreter is not laid out as CPython's own allocator "
		      "or glibc's malloc does it",
		      "With holders, what another allocator has is found by references.");
}

/* Types alone, piece by piece. */
static int stream_types(struct look *look, const struct heap_image_options *options,
			struct error *error)
{
	const struct heap_source *source = look->source;
	struct heap_quality *quality = &look->snapshot.quality;
	struct heap_stream stream = {
		.reader = source->reader,
		.pages = source->pages,
		.mappings = source->mappings,
		.options = options,
		.types = &look->types,
		.foreign = look->snapshot.allocator != NULL,
	};
	int failure = heap_stream_count(&stream);

	if (!failure)
		failure = keep_types(look);
	if (failure)
		return explain(failure, error);
	if (!look->snapshot.type_count)
		return refuse_allocator(look, error);
	look->snapshot.regions = stream.regions;
	*quality = (struct heap_quality){
		.pools = stream.pools,
		.torn_pools = stream.torn_pools,
		.reread_pools = stream.reread_pools,
		.pool_block_bytes = stream.pool_block_bytes,
		.broken_heaps = stream.broken_heaps,
		.copied_bytes = stream.copied_bytes,
		.skipped_bytes = stream.skipped_bytes,
		.swapped_bytes = stream.swapped_bytes,
		.cut_types = look->types.cut,
	};
	return 0;
}

/* Where not even the modules are in memory that is read, an allocator has it that nobody named. */
static int begin_walk(struct look *look)
{
	int failure =
		heap_walk_init(&look->walk, &look->nodes, &look->types, &look->snapshot.paths);

	if (failure || look->nodes.foreign ||
	    heap_roots_are_known(&look->walk, look->source->runtime))
		return failure;
	heap_walk_deinit(&look->walk);
	look->nodes.foreign = true;
	look->snapshot.allocator = "an allocator that is not known";
	return heap_walk_init(&look->walk, &look->nodes, &look->types, &look->snapshot.paths);
}

static int answer_all(struct look *look)
{
	const struct heap_source *source = look->source;

	if (!source->asked_count)
		return 0;
	look->snapshot.answers = calloc(source->asked_count, sizeof(*look->snapshot.answers));
	if (!look->snapshot.answers)
		return -ENOMEM;
	heap_answers_find(&look->nodes, look->walk.path_of, source->asked, source->asked_count,
			  source->asked_within, look->snapshot.answers);
	return 0;
}

/* All of it at once: what belongs to whom, too. */
static int find_holders(struct look *look, struct error *error)
{
	struct python_runtime *runtime = look->source->runtime;
	int failure = find_blocks(look);
	size_t held_paths;

	if (failure)
		return explain(failure, error);
	heap_judge_all(&look->nodes, &look->types);
	failure = begin_walk(look);
	if (failure)
		return explain(failure, error);
	if (!heap_roots_are_known(&look->walk, runtime))
		return refuse_allocator(look, error);
	failure = heap_roots_follow(&look->walk, runtime);
	if (!failure) {
		held_paths = look->snapshot.paths.count;
		heap_search_unheld(&look->walk);
		count_unheld(look, held_paths);
		failure = heap_sizes_count(&look->nodes, &look->types, &look->snapshot.sizes,
					   &look->snapshot.size_count);
	}
	if (!failure)
		failure = look->snapshot.paths.no_memory ? -ENOMEM : keep_types(look);
	if (!failure) {
		keep_arrays(look);
		failure = keep_holders(look);
	}
	if (!failure)
		failure = heap_containers_list(&look->walk, &look->snapshot.containers);
	if (!failure)
		failure = answer_all(look);
	if (failure)
		return explain(failure, error);
	failure = heap_regions_add_up(&look->nodes, look->walk.path_of, &look->snapshot.regions);
	if (failure)
		return explain(failure, error);
	look->snapshot.used_pools = heap_used_pools_find(&look->nodes);
	look->snapshot.end_count = look->nodes.end_count;
	memcpy(look->snapshot.ends, look->nodes.ends, sizeof(look->nodes.ends));
	keep_quality(look);
	return 0;
}

static int look_at(struct look *look, const struct heap_limits *limits, struct error *error)
{
	const struct heap_source *source = look->source;
	const struct heap_image_options options = {
		.stacks = source->stacks,
		.stack_count = source->stack_count,
		.limit = COPY_SHARE(limits->memory_bytes),
		.anonymous_bytes = source->anonymous_bytes,
	};
	uint64_t start = clock_now_ns(), copied_ns = start;
	int failure = -E2BIG;

	look->snapshot.holders = limits->no_holders ? HEAP_HOLDERS_UNWANTED : HEAP_HOLDERS_KNOWN;
	if (!limits->no_holders) {
		failure = heap_image_init(&look->image, source->reader, source->pages,
					  source->mappings, &options);
		copied_ns = clock_now_ns();
		if (failure == -E2BIG)
			look->snapshot.holders = HEAP_HOLDERS_TOO_LARGE;
	}
	if (failure == -E2BIG) {
		/* Of which nothing is copied: what is read of it is read of the process. */
		heap_image_deinit(&look->image);
		look->image.reader = source->reader;
		failure = 0;
	}
	if (!failure)
		failure = heap_types_init(&look->types, &look->image, &look->layout,
					  source->runtime->type_type);
	if (!failure)
		failure = heap_paths_init(&look->snapshot.paths);
	if (failure)
		return explain(failure, error);
	failure = look->snapshot.holders == HEAP_HOLDERS_KNOWN
			  ? find_holders(look, error)
			  : stream_types(look, &options, error);
	look->snapshot.quality.copy_ns = copied_ns - start;
	look->snapshot.quality.total_ns = clock_now_ns() - start;
	return failure;
}

int heap_snapshot_take(const struct heap_source *source, const struct heap_limits *limits,
		       struct heap_snapshot *ret_snapshot, struct error *error)
{
	struct look *look;
	int failure;

	if (!source->runtime->type_type)
		return refuse(error, "the type of types was not found in the process",
			      "Its interpreter is stripped of all symbols.");
	look = calloc(1, sizeof(*look));
	if (!look)
		return explain(-ENOMEM, error);
	look->source = source;
	look->layout = heap_layout_of(&source->runtime->layout);
	look->snapshot.allocator = heap_allocator_find(source->mappings);
	failure = look_at(look, limits, error);
	heap_walk_deinit(&look->walk);
	heap_types_deinit(&look->types);
	heap_nodes_deinit(&look->nodes);
	heap_image_deinit(&look->image);
	if (failure)
		heap_snapshot_deinit(&look->snapshot);
	else
		*ret_snapshot = look->snapshot;
	free(look);
	return failure;
}

void heap_snapshot_deinit(struct heap_snapshot *snapshot)
{
	free(snapshot->types);
	free(snapshot->sizes);
	free(snapshot->type_names);
	free(snapshot->held_bytes);
	free(snapshot->held_counts);
	free(snapshot->containers.items);
	free(snapshot->answers);
	heap_paths_deinit(&snapshot->paths);
	*snapshot = (struct heap_snapshot){ 0 };
}

/* SPDX-License-Identifier: Apache-2.0 */
#include "daemon/heap/heap_file.h"

#include "attach/procfs.h"
#include "common/array.h"
#include "common/hash.h"
#include "common/printable.h"
#include "common/whole_file.h"
#include "daemon/cct/id_table.h"
#include "daemon/heap/heap_file_value.h"
#include "daemon/heap/heap_holder.h"
#include "daemon/heap/heap_json.h"
#include "pyintrospect/heap/heap_nodes.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define NAME_COLUMNS 120
/* A byte that is no UTF-8 is three in JSON. */
#define STEP_BYTES_MAX   (3 * HEAP_STEP_BYTES)
#define TYPE_BYTES_MAX   (3 * HEAP_NAME_BYTES)
#define WORDS_MAX        65536
#define TYPE_NAMES_FIRST 64
/* So many holders are in a file of which it is not known how many were left out. */
#define HOLDERS_OF_OLD 1000
#define RECORDING_MARK "\x89PIEPRO"

_Static_assert(2 * HEAP_FILE_TYPES_MAX * HEAP_FILE_FIGURE_MAX <= INT64_MAX &&
		       HEAP_FILE_HOLDERS_MAX * HEAP_FILE_FIGURE_MAX <= INT64_MAX,
	       "sums of figures may overflow");

struct reading {
	struct heap_reading values;
	struct heap_file *file;
	struct id_table type_ids; /* a type's name -> its number */
	size_t type_name_capacity;
};

/* ---- the process */

static int read_version(const struct reading *reading, const json_t *process)
{
	struct python_version *python = &reading->file->look.python;
	const char *text = heap_read_text(&reading->values, process, "process", "python", 16);

	if (!text)
		return -1;
	if (sscanf(text, "%3d.%3d.%3d", &python->major, &python->minor, &python->micro) != 3)
		return heap_refuse_damaged(&reading->values, "python of process is no version");
	return 0;
}

/* As /proc has it: words, each with its end. */
static int read_command(const struct reading *reading, const json_t *process)
{
	const json_t *words = json_object_get(process, "command");
	char *text = NULL;
	size_t size = 0;
	FILE *stream;
	int error;

	if (!json_is_array(words) || json_array_size(words) > WORDS_MAX)
		return heap_refuse_damaged(&reading->values,
					   "command of process is no list of words");
	if (!json_array_size(words))
		return 0;
	stream = open_memstream(&text, &size);
	if (!stream)
		return heap_refuse_memory(&reading->values);
	for (size_t i = 0; i < json_array_size(words); i++) {
		const char *word = json_string_value(json_array_get(words, i));

		fputs(word ? word : "", stream);
		fputc('\0', stream);
	}
	error = fclose(stream) ? -ENOMEM : 0;
	if (!error)
		error = procfs_parse_command(text, size, &reading->file->look.command);
	free(text);
	return error ? heap_refuse_memory(&reading->values) : 0;
}

static void copy_text(char *to, size_t size, const json_t *object, const char *key)
{
	const char *text = json_string_value(json_object_get(object, key));

	snprintf(to, size, "%s", text ? text : "");
}

static int read_process(const struct reading *reading, const json_t *heap)
{
	const json_t *process = json_object_get(heap, "process");
	const json_t *container = json_object_get(process, "container");
	struct heap_look *look = &reading->file->look;
	uint64_t pid;

	if (heap_read_number(&reading->values, process, "process", "pid", INT_MAX, &pid) ||
	    read_version(reading, process) || read_command(reading, process) ||
	    heap_read_known(&reading->values, process, "process", "start_time",
			    &look->start_time) ||
	    heap_read_known(&reading->values, heap, "heap", "unix_ns", &look->unix_ns))
		return -1;
	look->pid = (pid_t)pid;
	copy_text(look->container.runtime, sizeof(look->container.runtime), container, "runtime");
	copy_text(look->container.id, sizeof(look->container.id), container, "id");
	copy_text(look->container.name, sizeof(look->container.name), container, "name");
	return 0;
}

/* ---- what there is */

static int read_regions(const struct reading *reading, const json_t *heap)
{
	const json_t *object = json_object_get(heap, "regions");
	struct heap_regions *regions = &reading->file->look.snapshot.regions;
	const struct {
		const char *key;
		uint64_t *to;
	} members[] = {
		{ "rss_bytes", &regions->rss_bytes },
		{ "objects_bytes", &regions->objects_bytes },
		{ "pool_free_bytes", &regions->pool_free_bytes },
		{ "malloc_held_bytes", &regions->malloc_held_bytes },
		{ "malloc_unheld_bytes", &regions->malloc_unheld_bytes },
		{ "free_bytes", &regions->free_bytes },
		{ "libraries_bytes", &regions->libraries_bytes },
		{ "stacks_bytes", &regions->stacks_bytes },
		{ "other_bytes", &regions->other_bytes },
	};

	for (size_t i = 0; i < sizeof(members) / sizeof(members[0]); i++)
		if (heap_read_figure(&reading->values, object, "regions", members[i].key,
				     members[i].to))
			return -1;
	return 0;
}

static int read_types(const struct reading *reading, const json_t *heap)
{
	struct heap_snapshot *snapshot = &reading->file->look.snapshot;
	const json_t *list;

	if (heap_read_list(&reading->values, heap, "types", HEAP_FILE_TYPES_MAX, &list) ||
	    heap_read_known(&reading->values, heap, "heap", "types_omitted",
			    &reading->file->types_omitted))
		return -1;
	snapshot->types = calloc(json_array_size(list) + 1, sizeof(*snapshot->types));
	if (!snapshot->types)
		return heap_refuse_memory(&reading->values);
	for (size_t i = 0; i < json_array_size(list); i++) {
		const json_t *object = json_array_get(list, i);
		struct heap_type_count *type = &snapshot->types[snapshot->type_count++];
		struct heap_where where = heap_where_of("types", i);
		const char *name = heap_read_text(&reading->values, object, where.text, "type",
						  TYPE_BYTES_MAX);

		if (!name ||
		    heap_read_figure(&reading->values, object, where.text, "count", &type->count) ||
		    heap_read_figure(&reading->values, object, where.text, "bytes", &type->bytes) ||
		    heap_read_figure(&reading->values, object, where.text, "storage_bytes",
				     &type->storage_bytes))
			return -1;
		snprintf(type->name, sizeof(type->name), "%s", name);
	}
	return 0;
}

static int read_arrays(const struct reading *reading, const json_t *heap)
{
	struct heap_snapshot *snapshot = &reading->file->look.snapshot;
	const json_t *list;

	if (heap_read_list(&reading->values, heap, "arrays",
			   sizeof(snapshot->arrays) / sizeof(snapshot->arrays[0]), &list))
		return -1;
	for (size_t i = 0; i < json_array_size(list); i++) {
		const json_t *object = json_array_get(list, i);
		struct heap_array_type *array = &snapshot->arrays[snapshot->array_count++];
		struct heap_where where = heap_where_of("arrays", i);

		array->name = heap_read_text(&reading->values, object, where.text, "dtype",
					     HEAP_NAME_BYTES);
		if (!array->name ||
		    heap_read_figure(&reading->values, object, where.text, "count",
				     &array->count) ||
		    heap_read_figure(&reading->values, object, where.text, "bytes", &array->bytes))
			return -1;
	}
	return 0;
}

static int read_quality(const struct reading *reading, const json_t *heap)
{
	const json_t *object = json_object_get(heap, "quality");
	struct heap_quality *quality = &reading->file->look.snapshot.quality;

	if (heap_read_figure(&reading->values, object, "quality", "unheld_objects",
			     &quality->unheld_objects) ||
	    heap_read_figure(&reading->values, object, "quality", "unheld_bytes",
			     &quality->unheld_bytes) ||
	    heap_read_figure(&reading->values, object, "quality", "skipped_bytes",
			     &quality->skipped_bytes) ||
	    heap_read_figure(&reading->values, object, "quality", "broken_heaps",
			     &quality->broken_heaps))
		return -1;
	quality->cut_types = json_is_true(json_object_get(object, "types_cut"));
	quality->cut_paths = json_is_true(json_object_get(object, "paths_cut"));
	quality->cut_blocks = json_is_true(json_object_get(object, "blocks_cut"));
	if (!json_object_get(object, "unheld_reached_bytes")) {
		quality->unheld_reached_bytes = quality->unheld_bytes;
		return 0;
	}
	return heap_read_figure(&reading->values, object, "quality", "unheld_reached_bytes",
				&quality->unheld_reached_bytes);
}

/* ---- holders */

/* 0: no memory, or too many. */
static uint16_t type_number(struct reading *reading, const char *name)
{
	struct heap_snapshot *snapshot = &reading->file->look.snapshot;
	uint64_t hash;
	uint32_t number;
	size_t probe = 0;
	char(*larger)[HEAP_NAME_BYTES];
	char cut[HEAP_NAME_BYTES];

	snprintf(cut, sizeof(cut), "%s", name);
	hash = hash_mix(hash_add_string(HASH_BASIS, cut));
	while ((number = id_table_next(&reading->type_ids, hash, &probe)) != ID_NONE)
		if (!strcmp(snapshot->type_names[number], cut))
			return (uint16_t)number;
	if (snapshot->type_name_count > UINT16_MAX || id_table_reserve(&reading->type_ids))
		return 0;
	larger = array_reserve(snapshot->type_names, snapshot->type_name_count,
			       &reading->type_name_capacity, sizeof(*snapshot->type_names));
	if (!larger)
		return 0;
	snapshot->type_names = larger;
	memcpy(snapshot->type_names[snapshot->type_name_count], cut, sizeof(cut));
	id_table_add(&reading->type_ids, hash, (uint32_t)snapshot->type_name_count);
	return (uint16_t)snapshot->type_name_count++;
}

/* The path of all these steps; 0: refused. */
static uint32_t read_path(struct reading *reading, const json_t *steps, const char *where)
{
	struct heap_paths *paths = &reading->file->look.snapshot.paths;
	uint32_t path = 0;

	for (size_t i = 0; i < json_array_size(steps); i++) {
		const json_t *object = json_array_get(steps, i);
		const char *step =
			heap_read_text(&reading->values, object, where, "step", STEP_BYTES_MAX);
		const char *type = step ? heap_read_text(&reading->values, object, where, "type",
							 TYPE_BYTES_MAX)
					: NULL;
		uint16_t number;

		if (!type)
			return 0;
		number = type_number(reading, type);
		if (number)
			path = heap_paths_unfolded_child(paths, path,
							 heap_paths_string(paths, step), number);
		if (paths->cut ||
		    (!number && reading->file->look.snapshot.type_name_count > UINT16_MAX)) {
			(void)heap_refuse_damaged(&reading->values, "its holders are too many");
			return 0;
		}
		if (!number || paths->no_memory) {
			(void)heap_refuse_memory(&reading->values);
			return 0;
		}
	}
	return path;
}

static int read_holder(struct reading *reading, const json_t *object, const char *where)
{
	struct heap_snapshot *snapshot = &reading->file->look.snapshot;
	const json_t *steps = json_object_get(object, "path");
	size_t depth = json_array_size(steps);
	uint64_t count, own_bytes, bytes, held_count;
	struct heap_path *item;
	uint32_t path;

	if (!depth || depth > HEAP_HOLDER_STEPS_MAX)
		return heap_refuse_damaged(&reading->values, "path of %s is no list of steps",
					   where);
	if (heap_read_figure(&reading->values, object, where, "count", &count) ||
	    heap_read_figure(&reading->values, object, where, "own_bytes", &own_bytes) ||
	    heap_read_figure(&reading->values, object, where, "bytes", &bytes) ||
	    heap_read_figure(&reading->values, object, where, "held_count", &held_count))
		return -1;
	if (own_bytes > bytes || count > held_count)
		return heap_refuse_damaged(&reading->values, "%s has more than it leads to", where);
	path = read_path(reading, steps, where);
	if (!path)
		return -1;
	/* A longer path has been cut to this one, whose figures, the largest, come first. */
	if (depth == HEAP_HOLDER_STEPS_MAX && snapshot->held_bytes[path])
		return 0;
	item = &snapshot->paths.items[path];
	item->count += count;
	item->bytes += own_bytes;
	snapshot->held_bytes[path] += bytes;
	snapshot->held_counts[path] += held_count;
	return 0;
}

/* A path has all that is below it. */
static int check_sums(const struct reading *reading)
{
	const struct heap_snapshot *snapshot = &reading->file->look.snapshot;
	uint64_t *below = calloc(snapshot->paths.count + 1, sizeof(*below));
	bool adds_up = true;

	if (!below)
		return heap_refuse_memory(&reading->values);
	for (size_t i = snapshot->paths.count; i-- > 1;) {
		adds_up &= below[i] <= snapshot->held_bytes[i];
		below[snapshot->paths.items[i].parent] += snapshot->held_bytes[i];
	}
	free(below);
	return adds_up ? 0
		       : heap_refuse_damaged(&reading->values,
					     "some of its holders lead to more than they "
					     "hold");
}

static int read_all_holders(struct reading *reading, const json_t *list, uint64_t omitted)
{
	uint64_t least = 0;

	for (size_t i = 0; i < json_array_size(list); i++) {
		const json_t *object = json_array_get(list, i);

		if (read_holder(reading, object, heap_where_of("holders", i).text))
			return -1;
		least = (uint64_t)json_integer_value(json_object_get(object, "bytes"));
	}
	reading->file->unlisted_bytes = omitted ? least : 0;
	return check_sums(reading);
}

static int read_holders(struct reading *reading, const json_t *heap)
{
	const char *state = json_string_value(json_object_get(heap, "holders_state"));
	struct heap_snapshot *snapshot = &reading->file->look.snapshot;
	uint64_t omitted;
	const json_t *list;
	size_t room = 1;

	if (heap_paths_init(&snapshot->paths))
		return heap_refuse_memory(&reading->values);
	if (json_is_null(json_object_get(heap, "holders"))) {
		snapshot->holders = state && !strcmp(state, "too_large") ? HEAP_HOLDERS_TOO_LARGE
									 : HEAP_HOLDERS_UNWANTED;
		return 0;
	}
	if (heap_read_list(&reading->values, heap, "holders", HEAP_FILE_HOLDERS_MAX, &list) ||
	    heap_read_known(&reading->values, heap, "heap", "holders_omitted", &omitted))
		return -1;
	if (!json_object_get(heap, "holders_omitted"))
		omitted = json_array_size(list) >= HOLDERS_OF_OLD;
	for (size_t i = 0; i < json_array_size(list); i++)
		room += json_array_size(json_object_get(json_array_get(list, i), "path"));
	snapshot->holders = HEAP_HOLDERS_KNOWN;
	snapshot->held_bytes = calloc(room, sizeof(*snapshot->held_bytes));
	snapshot->held_counts = calloc(room, sizeof(*snapshot->held_counts));
	if (!snapshot->held_bytes || !snapshot->held_counts)
		return heap_refuse_memory(&reading->values);
	/* Numbers below the first one are of no type. */
	snapshot->type_names = calloc(TYPE_NAMES_FIRST, sizeof(*snapshot->type_names));
	if (!snapshot->type_names)
		return heap_refuse_memory(&reading->values);
	reading->type_name_capacity = TYPE_NAMES_FIRST;
	snapshot->type_name_count = HEAP_NODE_FIRST_TYPE;
	return read_all_holders(reading, list, omitted);
}

/* ---- the file */

static int read_heap(struct reading *reading, const json_t *json)
{
	const json_t *heap = json_object_get(json, "heap");

	if (!json_is_object(heap))
		return heap_refuse_other(
			&reading->values,
			json_object_get(json, "heap_diff")     ? "it is the difference of two"
			: json_object_get(json, "duration_ns") ? "it is a report of where time went"
							       : "it is other JSON");
	if (read_process(reading, heap) || read_regions(reading, heap) ||
	    read_types(reading, heap) || read_arrays(reading, heap) || read_quality(reading, heap))
		return -1;
	return read_holders(reading, heap);
}

/* Takes json. NULL with *error filled. */
static struct heap_file *make_file(struct reading *reading, json_t *json)
{
	struct heap_file *file = calloc(1, sizeof(*file));
	int failure;

	if (!file) {
		json_decref(json);
		(void)heap_refuse_memory(&reading->values);
		return NULL;
	}
	file->json = json;
	reading->file = file;
	failure = read_heap(reading, json);
	id_table_deinit(&reading->type_ids);
	if (failure) {
		heap_file_close(file);
		return NULL;
	}
	return file;
}

static json_t *parse(const struct reading *reading, const char *text, size_t size)
{
	json_error_t error;
	json_t *json;
	bool begun = size && *text == '{';

	if (size >= strlen(RECORDING_MARK) &&
	    !memcmp(text, RECORDING_MARK, strlen(RECORDING_MARK))) {
		(void)heap_refuse_other(&reading->values,
					"it is a recording, which pieprofd report compares");
		return NULL;
	}
	json = json_loadb(text, size, JSON_REJECT_DUPLICATES, &error);
	if (json)
		return json;
	if (json_error_code(&error) == json_error_out_of_memory)
		(void)heap_refuse_memory(&reading->values);
	else if (!size)
		(void)heap_refuse_other(&reading->values, "it is empty");
	else if (begun && (json_error_code(&error) == json_error_premature_end_of_input ||
			   (size_t)error.position >= size))
		(void)heap_refuse_damaged(&reading->values, "it is cut off after %zu bytes", size);
	else if (begun && (json_error_code(&error) == json_error_numeric_overflow ||
			   json_error_code(&error) == json_error_duplicate_key))
		(void)heap_refuse_damaged(&reading->values, "in line %d, byte %d", error.line,
					  error.position);
	else
		(void)heap_refuse_other(&reading->values, "it is no JSON");
	return NULL;
}

static json_t *load(const struct reading *reading, int fd, size_t size)
{
	json_t *json = NULL;
	char *text = malloc(size + 1);
	ssize_t got = text ? whole_file_fill(fd, text, size) : -ENOMEM;

	if (got < 0)
		error_set(reading->values.error, EXIT_INTERNAL, "%s cannot be read: %s",
			  reading->values.name, strerror((int)-got));
	else
		json = parse(reading, text, (size_t)got);
	free(text);
	return json;
}

static json_t *open_json(const struct reading *reading, const char *path)
{
	/* A FIFO must not block. */
	int fd = open(path, O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK);
	struct stat status;
	json_t *json = NULL;

	if (fd < 0 || fstat(fd, &status) < 0) {
		error_set(reading->values.error, errno == EACCES ? EXIT_PERMISSION : EXIT_USAGE,
			  "%s cannot be opened: %s", reading->values.name, strerror(errno));
		error_set_cure(reading->values.error,
			       errno == EACCES
				       ? "such files can be read by their owner alone: "
					 "become that user, or root"
				       : "--diff compares what pieprofd heap PID -o NAME.json "
					 "has written");
	} else if (!S_ISREG(status.st_mode)) {
		(void)heap_refuse_other(&reading->values, "it is no regular file");
	} else if (status.st_size > HEAP_FILE_BYTES_MAX) {
		(void)heap_refuse_other(&reading->values, "it is larger than any");
	} else {
		json = load(reading, fd, (size_t)status.st_size);
	}
	if (fd >= 0)
		close(fd);
	return json;
}

struct heap_file *heap_file_open(const char *path, struct error *error)
{
	char name[PRINTABLE_BYTES(NAME_COLUMNS)];
	struct reading reading = { .values = { name, error } };
	json_t *json;

	printable_fit(name, sizeof(name), path, NAME_COLUMNS, true);
	json = open_json(&reading, path);
	return json ? make_file(&reading, json) : NULL;
}

struct heap_file *heap_file_of(const struct heap_look *look, struct error *error)
{
	struct reading reading = { .values = { "the look", error } };
	json_t *json = heap_json_look(look, HEAP_FILE_HOLDERS_MAX);

	if (!json) {
		(void)heap_refuse_memory(&reading.values);
		return NULL;
	}
	return make_file(&reading, json);
}

void heap_file_close(struct heap_file *file)
{
	if (!file)
		return;
	heap_snapshot_deinit(&file->look.snapshot);
	free(file->look.command);
	json_decref(file->json);
	free(file);
}

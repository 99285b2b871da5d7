/* SPDX-License-Identifier: Apache-2.0 */
#include "pyintrospect/python_sources.h"

#include "common/array.h"
#include "pyintrospect/object_reader.h"
#include "pyintrospect/object_type.h"
#include "pyintrospect/runtime_internal.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

enum {
	TYPE_DICT = 264, /* of a class written in Python, 3.6 to 3.15 */
	LIST_SIZE = 16,
	LIST_ITEMS = 24,
	/* of an entry of linecache.cache */
	ENTRY_TIME = 1,
	ENTRY_LINES = 2,
	ENTRY_ITEMS = 4,
};

#define INTERPRETERS_MAX 16
#define LINE_BYTES       16400 /* of the characters that are read of a str */
#define LIBRARY_FILE     "os.py"

struct reading {
	const struct python_runtime *runtime;
	struct python_sources sources;
	size_t capacity, title_capacity;
	size_t lines_left, bytes_left;
	remote_addr none; /* 0: not met yet */
	char line[LINE_BYTES];
};

/* What the whole reading ends for; other errors are one object's. */
static bool ends_all(int error)
{
	return error == -ENOMEM || error == -ESRCH || error == -EPERM;
}

static bool is_none(struct reading *reading, remote_addr object)
{
	if (!reading->none && object && python_object_is(reading->runtime, object, "NoneType"))
		reading->none = object;
	return object && object == reading->none;
}

/* One that stands for a file has its time; of one to be had later there is a function. */
static int read_entry(struct reading *reading, remote_addr entry, remote_addr *ret_lines)
{
	const struct python_offsets *offsets = &reading->runtime->layout.offsets;
	uint64_t size, items[ENTRY_ITEMS];
	int error = memory_read_u64(reading->runtime->reader,
				    entry + (uint64_t)offsets->variable_size, &size);

	if (!error && (size != ENTRY_ITEMS || !python_object_is(reading->runtime, entry, "tuple")))
		error = -EBADMSG;
	if (!error)
		error = memory_read(reading->runtime->reader,
				    entry + (uint64_t)offsets->tuple_items, items, sizeof(items));
	if (!error && (!is_none(reading, items[ENTRY_TIME]) ||
		       !python_object_is(reading->runtime, items[ENTRY_LINES], "list")))
		error = -EBADMSG;
	if (!error)
		*ret_lines = items[ENTRY_LINES];
	return error;
}

/* Each ends where the next begins, whatever the list says. */
static int read_lines(struct reading *reading, remote_addr list, char **ret_text, size_t *ret_size)
{
	const struct memory_reader *reader = reading->runtime->reader;
	uint64_t head[2], *lines;
	size_t used = 0, capacity = 0;
	char *text = NULL;
	int error = memory_read(reader, list + LIST_SIZE, head, sizeof(head));

	if (error)
		return error;
	if (head[0] > reading->lines_left) {
		reading->sources.cut = true;
		return -E2BIG;
	}
	lines = calloc(head[0] + 1, sizeof(*lines));
	if (!lines)
		return -ENOMEM;
	error = head[0] ? memory_read(reader, head[1], lines, head[0] * sizeof(*lines)) : 0;
	for (size_t i = 0; !error && i < head[0]; i++) {
		size_t length;

		error = object_read_string(reading->runtime, lines[i], reading->line,
					   sizeof(reading->line));
		if (error)
			break;
		length = strcspn(reading->line, "\n");
		if (length + 1 > reading->bytes_left) {
			reading->sources.cut = true;
			error = -E2BIG;
			break;
		}
		while (used + length + 1 > capacity && !error) {
			char *larger = realloc(text, 2 * (capacity + LINE_BYTES));

			if (!larger)
				error = -ENOMEM;
			else
				text = larger;
			capacity = error ? capacity : 2 * (capacity + LINE_BYTES);
		}
		if (error)
			break;
		memcpy(text + used, reading->line, length);
		text[used + length] = '\n';
		used += length + 1;
		reading->bytes_left -= length + 1;
	}
	if (!error && !text)
		error = -EBADMSG;
	reading->lines_left -= error ? 0 : head[0];
	free(lines);
	if (error) {
		free(text);
		return error;
	}
	*ret_text = text;
	*ret_size = used;
	return 0;
}

static int add_text(struct reading *reading, const struct object_entry *entry)
{
	struct python_sources *sources = &reading->sources;
	char name[PYTHON_SOURCES_NAME_SIZE], *text = NULL, *copy;
	remote_addr lines;
	size_t size = 0;
	int error = read_entry(reading, entry->value, &lines);

	if (!error)
		error = object_read_string(reading->runtime, entry->key, name, sizeof(name));
	/* A name that is cut is another one. */
	if (!error && strlen(name) + 8 > sizeof(name))
		error = -E2BIG;
	if (!error && sources->count == PYTHON_SOURCES_MAX) {
		sources->cut = true;
		error = -E2BIG;
	}
	if (!error)
		error = read_lines(reading, lines, &text, &size);
	if (error)
		return error;
	copy = strdup(name);
	if (!copy || !ARRAY_ROOM(sources->items, sources->count, reading->capacity)) {
		free(copy);
		free(text);
		return -ENOMEM;
	}
	sources->items[sources->count++] =
		(struct python_source){ .name = copy, .text = text, .size = size };
	return 0;
}

static int read_line_cache(struct reading *reading, remote_addr interpreter)
{
	struct object_entries module, entries;
	remote_addr cache;
	int error = object_read_imported(reading->runtime, interpreter, "linecache", &module);

	if (error)
		return error;
	error = object_find(reading->runtime, &module, "cache", &cache);
	object_entries_deinit(&module);
	if (!error)
		error = object_read_dict(reading->runtime, cache, &entries);
	if (error)
		return error;
	/* The latest are those that run now. */
	for (size_t i = entries.count; i-- > 0 && !ends_all(error);) {
		if (entries.count - i > PYTHON_SOURCES_LOOKED) {
			reading->sources.cut = true;
			break;
		}
		error = add_text(reading, &entries.items[i]);
	}
	object_entries_deinit(&entries);
	return error;
}

static int add_title(struct reading *reading, const struct object_entry *entry)
{
	struct python_sources *sources = &reading->sources;
	char name[PYTHON_SOURCES_NAME_SIZE], *copy;
	uint64_t number;
	int error = object_read_string(reading->runtime, entry->key, name, sizeof(name));

	if (!error)
		error = object_read_integer(reading->runtime, entry->value, &number);
	if (error)
		return error;
	if (sources->title_count == PYTHON_SOURCES_TITLES) {
		sources->cut = true;
		return 0;
	}
	copy = strdup(name);
	if (!copy || !ARRAY_ROOM(sources->titles, sources->title_count, reading->title_capacity)) {
		free(copy);
		return -ENOMEM;
	}
	sources->titles[sources->title_count++] =
		(struct python_source_title){ .name = copy, .number = number };
	return 0;
}

/* An attribute of an instance. */
static int find_attribute(const struct python_runtime *runtime, remote_addr object,
			  const char *name, remote_addr *ret_value)
{
	struct object_entries attributes;
	int error = object_read_attributes(runtime, object, &attributes);

	if (error)
		return error;
	error = object_find(runtime, &attributes, name, ret_value);
	object_entries_deinit(&attributes);
	return error;
}

/* An attribute of a class written in Python. */
static int find_in_class(const struct python_runtime *runtime, remote_addr type, const char *name,
			 remote_addr *ret_value)
{
	struct object_entries attributes;
	remote_addr dict;
	int error = memory_read_u64(runtime->reader, type + TYPE_DICT, &dict);

	if (!error)
		error = object_read_dict(runtime, dict, &attributes);
	if (error)
		return error;
	error = object_find(runtime, &attributes, name, ret_value);
	object_entries_deinit(&attributes);
	return error;
}

/* InteractiveShell._instance.compile._filename_map, from IPython 8 on. */
static int read_titles(struct reading *reading, remote_addr interpreter)
{
	const struct python_runtime *runtime = reading->runtime;
	struct object_entries entries;
	remote_addr at = 0;
	int error = object_read_imported(runtime, interpreter, "IPython.core.interactiveshell",
					 &entries);

	if (error)
		return error;
	error = object_find(runtime, &entries, "InteractiveShell", &at);
	object_entries_deinit(&entries);
	if (!error)
		error = find_in_class(runtime, at, "_instance", &at);
	if (!error)
		error = find_attribute(runtime, at, "compile", &at);
	if (!error)
		error = find_attribute(runtime, at, "_filename_map", &at);
	if (!error)
		error = object_read_dict(runtime, at, &entries);
	if (error)
		return error;
	for (size_t i = 0; i < entries.count && !ends_all(error); i++)
		error = add_title(reading, &entries.items[i]);
	object_entries_deinit(&entries);
	return error;
}

static int read_library(struct reading *reading, remote_addr interpreter)
{
	const struct python_runtime *runtime = reading->runtime;
	struct object_entries module;
	remote_addr file;
	size_t length;
	int error = object_read_imported(runtime, interpreter, "os", &module);

	if (error || reading->sources.library) {
		if (!error)
			object_entries_deinit(&module);
		return error;
	}
	error = object_find(runtime, &module, "__file__", &file);
	object_entries_deinit(&module);
	if (!error)
		error = object_read_string(runtime, file, reading->line, sizeof(reading->line));
	if (error)
		return error;
	length = strlen(reading->line);
	if (length < sizeof(LIBRARY_FILE) || reading->line[0] != '/' ||
	    strcmp(reading->line + length - strlen(LIBRARY_FILE), LIBRARY_FILE) != 0)
		return -EBADMSG;
	reading->sources.library = strndup(reading->line, length - sizeof(LIBRARY_FILE));
	return reading->sources.library ? 0 : -ENOMEM;
}

/* Without looking at what it is: False would be odd. */
static int read_packed(struct reading *reading, remote_addr interpreter)
{
	struct object_entries module;
	remote_addr value;
	int error = object_read_imported(reading->runtime, interpreter, "sys", &module);

	if (error)
		return error;
	error = object_find(reading->runtime, &module, "frozen", &value);
	reading->sources.packed |= !error;
	object_entries_deinit(&module);
	return error;
}

static int read_interpreter(struct reading *reading, remote_addr interpreter)
{
	static int (*const parts[])(struct reading *, remote_addr) = {
		read_packed,
		read_library,
		read_line_cache,
		read_titles,
	};
	int error = 0;

	for (size_t i = 0; i < sizeof(parts) / sizeof(parts[0]) && !ends_all(error); i++)
		error = parts[i](reading, interpreter);
	return ends_all(error) ? error : 0;
}

int python_sources_read(const struct python_runtime *runtime, struct python_sources *ret_sources)
{
	struct reading *reading = calloc(1, sizeof(*reading));
	uint64_t next = (uint64_t)runtime->layout.offsets.interpreter_next;
	remote_addr interpreter = 0;
	int error;

	if (!reading)
		return -ENOMEM;
	/* Their lists lie otherwise. */
	if (runtime->layout.free_threaded) {
		free(reading);
		*ret_sources = (struct python_sources){ 0 };
		return 0;
	}
	reading->runtime = runtime;
	reading->lines_left = PYTHON_SOURCES_LINES;
	reading->bytes_left = PYTHON_SOURCES_BYTES;
	error = memory_read_u64(runtime->reader, runtime->interpreters, &interpreter);
	for (unsigned i = 0; !error && interpreter && i < INTERPRETERS_MAX; i++) {
		error = read_interpreter(reading, interpreter);
		if (!error)
			error = memory_read_u64(runtime->reader, interpreter + next, &interpreter);
	}
	if (ends_all(error))
		python_sources_deinit(&reading->sources);
	else
		*ret_sources = reading->sources;
	free(reading);
	return ends_all(error) ? error : 0;
}

void python_sources_deinit(struct python_sources *sources)
{
	for (size_t i = 0; i < sources->count; i++) {
		free(sources->items[i].name);
		free(sources->items[i].text);
	}
	for (size_t i = 0; i < sources->title_count; i++)
		free(sources->titles[i].name);
	free(sources->items);
	free(sources->titles);
	free(sources->library);
	*sources = (struct python_sources){ 0 };
}

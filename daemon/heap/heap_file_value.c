/* SPDX-License-Identifier: Apache-2.0 */
#include "daemon/heap/heap_file_value.h"

#include <stdarg.h>
#include <stdio.h>

int heap_refuse_other(const struct heap_reading *reading, const char *what)
{
	error_set(reading->error, EXIT_USAGE, "%s is no look at a heap: %s", reading->name, what);
	error_set_cure(reading->error,
		       "--diff compares what pieprofd heap PID -o NAME.json has written");
	return -1;
}

int heap_refuse_damaged(const struct heap_reading *reading, const char *format, ...)
{
	char what[160];
	va_list arguments;

	va_start(arguments, format);
	vsnprintf(what, sizeof(what), format, arguments);
	va_end(arguments);
	error_set(reading->error, EXIT_INTERNAL, "%s is a damaged look at a heap: %s",
		  reading->name, what);
	error_set_cure(reading->error, "copy it again from where it was made, or look again: "
				       "pieprofd heap PID -o NAME.json");
	return -1;
}

int heap_refuse_memory(const struct heap_reading *reading)
{
	error_set(reading->error, EXIT_INTERNAL, "%s: out of memory", reading->name);
	return -1;
}

struct heap_where heap_where_of(const char *list, size_t index)
{
	struct heap_where where;

	snprintf(where.text, sizeof(where.text), "%s[%zu]", list, index);
	return where;
}

int heap_read_number(const struct heap_reading *reading, const json_t *object, const char *where,
		     const char *key, uint64_t most, uint64_t *ret_value)
{
	const json_t *value = json_object_get(object, key);

	if (!json_is_integer(value) || json_integer_value(value) < 0 ||
	    (uint64_t)json_integer_value(value) > most)
		return heap_refuse_damaged(reading, "%s of %s is no number that a process can have",
					   key, where);
	*ret_value = (uint64_t)json_integer_value(value);
	return 0;
}

int heap_read_figure(const struct heap_reading *reading, const json_t *object, const char *where,
		     const char *key, uint64_t *ret_value)
{
	return heap_read_number(reading, object, where, key, HEAP_FILE_FIGURE_MAX, ret_value);
}

int heap_read_known(const struct heap_reading *reading, const json_t *object, const char *where,
		    const char *key, uint64_t *ret_value)
{
	const json_t *value = json_object_get(object, key);

	*ret_value = 0;
	if (!value || json_is_null(value))
		return 0;
	return heap_read_number(reading, object, where, key, INT64_MAX, ret_value);
}

const char *heap_read_text(const struct heap_reading *reading, const json_t *object,
			   const char *where, const char *key, size_t most)
{
	const json_t *value = json_object_get(object, key);

	if (!json_is_string(value) || json_string_length(value) >= most) {
		(void)heap_refuse_damaged(reading, "%s of %s is no name", key, where);
		return NULL;
	}
	return json_string_value(value);
}

int heap_read_list(const struct heap_reading *reading, const json_t *heap, const char *key,
		   size_t most, const json_t **ret_list)
{
	const json_t *list = json_object_get(heap, key);

	if (!json_is_array(list))
		return heap_refuse_damaged(reading, "it has no list of %s", key);
	if (json_array_size(list) > most)
		return heap_refuse_damaged(reading, "%zu %s are more than a look has",
					   json_array_size(list), key);
	*ret_list = list;
	return 0;
}

/* SPDX-License-Identifier: Apache-2.0 */
#include "daemon/report/format/json_value.h"

#include "common/printable.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

/*
 * Nine digits are enough for every figure that is computed and keep 0.9 from
 * becoming 0.90000000000000002. ASCII alone, so that no name reaches a
 * terminal that the file is shown on.
 */
#define DUMP_FLAGS (JSON_ENCODE_ANY | JSON_ENSURE_ASCII | JSON_REAL_PRECISION(9))

json_t *json_count(uint64_t value)
{
	return json_integer(value < INT64_MAX ? (json_int_t)value : INT64_MAX);
}

json_t *json_figure(double value)
{
	return json_real(isfinite(value) ? value : 0);
}

/* Bytes that are not UTF-8 become U+FFFD: JSON has no way to say them. */
json_t *json_text(const char *text)
{
	static const char replacement[] = "\xef\xbf\xbd";
	size_t size = strlen(text), used = 0;
	uint32_t code_point;
	json_t *value;
	char *valid;

	/* jansson checks, and refuses what is not valid. */
	value = json_stringn(text, size);
	if (value)
		return value;
	if (size > SIZE_MAX / 3 - 1)
		return NULL;
	valid = malloc(size * 3 + 1);
	if (!valid)
		return NULL;
	for (size_t i = 0; i < size;) {
		size_t length = utf8_decode(text + i, size - i, &code_point);

		memcpy(valid + used, length ? text + i : replacement, length ? length : 3);
		used += length ? length : 3;
		i += length ? length : 1;
	}
	value = json_stringn_nocheck(valid, used);
	free(valid);
	return value;
}

json_t *json_text_or_null(const char *text)
{
	return text ? json_text(text) : json_null();
}

/* Takes over value; destroys object and returns NULL when either is missing. */
json_t *json_with(json_t *object, const char *key, json_t *value)
{
	if (!object) {
		json_decref(value);
		return NULL;
	}
	if (!value || json_object_set_new_nocheck(object, key, value) < 0) {
		json_decref(object);
		return NULL;
	}
	return object;
}

json_t *json_appended(json_t *array, json_t *value)
{
	if (!array) {
		json_decref(value);
		return NULL;
	}
	if (!value || json_array_append_new(array, value) < 0) {
		json_decref(array);
		return NULL;
	}
	return array;
}

static json_t *json_frame(const struct profile_frame *frame)
{
	json_t *object = json_object();
	char address[24];

	if (frame->kind == FRAME_PYTHON) {
		object = json_with(object, "kind", json_text("python"));
		object = json_with(object, "function", json_text(frame->function));
		object = json_with(object, "file", json_text(frame->file));
		object = json_with(object, "line", json_integer(frame->line));
		object = json_with(object, "opcode", json_text_or_null(frame->opcode));
		object = json_with(object, "source", json_text_or_null(frame->source));
	} else {
		snprintf(address, sizeof(address), "0x%llx", (unsigned long long)frame->address);
		object = json_with(object, "kind", json_text("native"));
		object = json_with(object, "function", json_text(frame->function));
		object = json_with(object, "library", json_text(frame->file));
		object = json_with(object, "address", json_text(address));
		if (frame->native_file) {
			object = json_with(object, "file", json_text(frame->native_file));
			object = json_with(object, "line", json_integer(frame->line));
		}
		if (frame->inlined)
			object = json_with(object, "inlined", json_true());
	}
	if (frame->flags & FRAME_GUESSED)
		object = json_with(object, "guessed", json_true());
	if (frame->flags & FRAME_UNMATCHED)
		object = json_with(object, "unmatched", json_true());
	if (frame->flags & FRAME_TRUNCATED_ABOVE)
		object = json_with(object, "truncated", json_true());
	return object;
}

json_t *json_frames(const struct profile_frame *frames, size_t count)
{
	json_t *array = json_array();

	for (size_t i = 0; i < count; i++)
		array = json_appended(array, json_frame(&frames[i]));
	return array;
}

/* Writes a value, which is taken over. 0, -ENOMEM or -EIO. */
int json_put(FILE *file, json_t *value)
{
	int result = 0;

	if (!value)
		return -ENOMEM;
	if (json_dumpf(value, file, DUMP_FLAGS) < 0)
		result = ferror(file) ? -EIO : -ENOMEM;
	json_decref(value);
	return result;
}

json_t *json_container(const struct profile_container *container)
{
	json_t *object;

	if (!container->id[0])
		return json_null();
	object = json_with(json_object(), "runtime", json_text(container->runtime));
	object = json_with(object, "id", json_text(container->id));
	return json_with(object, "name",
			 json_text_or_null(container->name[0] ? container->name : NULL));
}

json_t *json_labels(const struct process_labels *labels)
{
	const struct {
		const char *name, *value;
	} rows[] = {
		{ "service", labels->service },   { "version", labels->version },
		{ "revision", labels->revision }, { "namespace", labels->namespace },
		{ "pod", labels->pod },           { "pod_uid", labels->pod_uid },
	};
	json_t *object = json_object();

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++)
		if (rows[i].value[0])
			object = json_with(object, rows[i].name, json_text(rows[i].value));
	return object;
}

json_t *json_target(const struct profile_target *target)
{
	json_t *object = json_object(), *command = json_array();
	char text[64];

	snprintf(text, sizeof(text), "%d.%d.%d", target->python.major, target->python.minor,
		 target->python.micro);
	object = json_with(object, "pid", json_integer(target->pid));
	object = json_with(object, "python", target->python.major ? json_text(text) : json_null());
	object = json_with(object, "free_threaded", json_boolean(target->python.free_threaded));
	snprintf(text, sizeof(text), "%.*s", (int)sizeof(target->comm), target->comm);
	object = json_with(object, "comm", json_text(text));
	for (size_t i = 0; target->command && target->command[i]; i++)
		command = json_appended(command, json_text(target->command[i]));
	object = json_with(object, "command", command);
	object = json_with(object, "container", json_container(&target->container));
	return json_with(object, "labels", json_labels(&target->labels));
}

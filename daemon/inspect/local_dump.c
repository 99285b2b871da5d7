/* SPDX-License-Identifier: Apache-2.0 */
#include "daemon/inspect/local_dump.h"

#include "daemon/contents/fingerprint.h"
#include "pyintrospect/local_slots.h"
#include "pyintrospect/object_text.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define NAME_SIZE 128

struct held_local {
	size_t frame; /* its number, innermost first */
	uint32_t number;
	remote_addr object;
	struct object_text words;
};

struct local_dump {
	struct python_runtime *runtime;
	const struct memory_reader *reader;
	struct object_text_reader objects;
	struct fingerprints *contents;
	struct held_local held[LOCAL_DUMP_VARIABLES];
	size_t held_count;
	bool read[PYTHON_STACK_FRAMES_MAX];
	bool cut;
	size_t bytes_left;
	uint64_t left_out;
};

struct local_dump *local_dump_create(struct python_runtime *runtime,
				     const struct memory_reader *reader)
{
	struct local_dump *dump = calloc(1, sizeof(*dump));

	if (!dump)
		return NULL;
	dump->runtime = runtime;
	dump->reader = reader;
	dump->bytes_left = LOCAL_DUMP_BYTES_MAX;
	dump->contents = fingerprints_create(python_runtime_version(runtime).minor);
	if (!dump->contents) {
		free(dump);
		return NULL;
	}
	return dump;
}

void local_dump_destroy(struct local_dump *dump)
{
	if (!dump)
		return;
	fingerprints_destroy(dump->contents);
	free(dump);
}

/* False: there is no room for it, or nothing may be looked at any more. */
static bool hold(struct local_dump *dump, size_t frame, uint32_t number,
		 const struct operand_value *value)
{
	struct held_local *held = &dump->held[dump->held_count];

	if (dump->held_count == LOCAL_DUMP_VARIABLES)
		return false;
	*held = (struct held_local){ .frame = frame, .number = number };
	switch (value->state) {
	case OPERAND_IS_INTEGER:
		snprintf(held->words.text, sizeof(held->words.text), "%" PRId64, value->integer);
		snprintf(held->words.type, sizeof(held->words.type), "int");
		break;
	case OPERAND_IS_OBJECT:
		held->object = value->object;
		if (!object_text_read(&dump->objects, value->object, &held->words))
			return false;
		/* A cell without contents is a variable without a value. */
		if (!held->words.text[0])
			return true;
		break;
	default:
		snprintf(held->words.text, sizeof(held->words.text), "?");
		break;
	}
	dump->held_count++;
	return true;
}

static bool take_frame(struct local_dump *dump, const struct python_frame *frame, size_t number)
{
	struct local_slots slots;

	if (local_slots_read(dump->runtime, frame, &slots))
		return true;
	dump->read[number] = true;
	dump->cut |= slots.left_out > 0;
	for (size_t i = 0; i < slots.count; i++)
		if (slots.values[i].state != OPERAND_IS_NULL &&
		    !hold(dump, number, (uint32_t)i, &slots.values[i]))
			return false;
	return true;
}

/* The shape of an array, a frame of pandas' and the like says more than the name of its type. */
static void describe(struct held_local *held, const struct fingerprint *contents)
{
	bool told = contents->kind == CONTENT_ARRAY || contents->kind == CONTENT_TENSOR ||
		    contents->kind == CONTENT_DEQUE || contents->kind == CONTENT_BUFFER ||
		    (contents->kind == CONTENT_OBJECT && strchr(contents->shape, '['));
	bool plain = !strcmp(held->words.type, "numpy.ndarray");

	if (told)
		snprintf(held->words.text, sizeof(held->words.text), "<%s%s 0x%" PRIx64 ">",
			 plain ? "numpy.ndarray " : "", contents->shape, held->object);
}

static void take_shapes(struct local_dump *dump)
{
	remote_addr objects[FINGERPRINT_OBJECTS_MAX];
	size_t places[FINGERPRINT_OBJECTS_MAX], count = 0, ranges;
	struct memory_range *wanted;

	for (size_t i = 0; i < dump->held_count && count < FINGERPRINT_OBJECTS_MAX; i++)
		if (dump->held[i].words.by_type) {
			objects[count] = dump->held[i].object;
			places[count++] = i;
		}
	if (!count)
		return;
	fingerprints_begin(dump->contents, objects, count, false);
	while ((ranges = fingerprints_round(dump->contents, &wanted)) > 0)
		if (memory_read_ranges(dump->reader, wanted, ranges))
			return;
	for (size_t i = 0; i < count; i++) {
		struct fingerprint contents = fingerprints_get(dump->contents, i);

		describe(&dump->held[places[i]], &contents);
	}
}

void local_dump_take(struct local_dump *dump, const struct python_frame *frames, size_t count,
		     size_t objects)
{
	dump->held_count = 0;
	dump->cut = false;
	memset(dump->read, 0, sizeof(dump->read));
	/* Objects of a build without the GIL lie otherwise. */
	if (!dump->bytes_left || python_runtime_version(dump->runtime).free_threaded) {
		dump->cut = count > 0;
		return;
	}
	object_text_begin(&dump->objects, dump->runtime, objects);
	for (size_t i = 0; i < count && i < PYTHON_STACK_FRAMES_MAX; i++) {
		if (!take_frame(dump, &frames[i], i)) {
			/* What was held of it says nothing of what was not. */
			dump->cut = true;
			break;
		}
	}
	take_shapes(dump);
}

static char *copy_text(char **end, const char *text)
{
	size_t size = strlen(text) + 1;
	char *copy = memcpy(*end, text, size);

	*end += size;
	return copy;
}

static void name_of(const struct code_names *names, uint32_t number, char *name)
{
	if (!names->runtime || local_slots_name(names, number, name, NAME_SIZE) || !name[0])
		snprintf(name, NAME_SIZE, "?");
}

int local_dump_keep(struct local_dump *dump, const struct python_frame *frames, size_t count,
		    struct dumped_locals *ret_locals)
{
	size_t bytes = dump->held_count * (sizeof(struct dumped_local) + NAME_SIZE +
					   sizeof(struct object_text)) +
		       count * sizeof(struct dumped_frame_locals) + 1;
	struct dumped_locals locals = { .count = count };
	struct code_names names = { 0 };
	struct dumped_local *next;
	size_t named = SIZE_MAX;
	char *end;

	dump->left_out += dump->cut;
	/* Taken as a whole: what it becomes is a little less. */
	dump->bytes_left -= bytes < dump->bytes_left ? bytes : dump->bytes_left;
	locals.storage = malloc(bytes);
	if (!locals.storage)
		return -ENOMEM;
	locals.frames = locals.storage;
	next = (struct dumped_local *)(locals.frames + count);
	end = (char *)(next + dump->held_count);
	for (size_t i = 0; i < count; i++)
		locals.frames[i] = (struct dumped_frame_locals){ .items = next };
	for (size_t i = 0; i < count && i < PYTHON_STACK_FRAMES_MAX; i++)
		locals.frames[count - 1 - i].known = dump->read[i];
	for (size_t i = 0; i < dump->held_count; i++, next++) {
		const struct held_local *held = &dump->held[i];
		struct dumped_frame_locals *frame = &locals.frames[count - 1 - held->frame];
		char name[NAME_SIZE];

		if (held->frame != named &&
		    code_names_find(dump->runtime, frames[held->frame].code, &names))
			names = (struct code_names){ 0 };
		named = held->frame;
		name_of(&names, held->number, name);
		*next = (struct dumped_local){
			.name = copy_text(&end, name),
			.type = copy_text(&end, held->words.type),
			.value = copy_text(&end, held->words.text),
		};
		if (!frame->count++)
			frame->items = next;
	}
	*ret_locals = locals;
	return 0;
}

int local_dump_suspended(struct local_dump *dump, const struct python_frame *frames, size_t count,
			 struct dumped_locals *ret_locals)
{
	local_dump_take(dump, frames, count, LOCAL_DUMP_OBJECTS_STOPPED);
	return local_dump_keep(dump, frames, count, ret_locals);
}

const struct dumped_frame_locals *dumped_locals_of(const struct dumped_locals *locals,
						   const struct profile_frame *frames, size_t frame)
{
	size_t number = 0;

	if (frames[frame].kind != FRAME_PYTHON)
		return NULL;
	for (size_t i = 0; i < frame; i++)
		number += frames[i].kind == FRAME_PYTHON;
	return number < locals->count && locals->frames[number].known ? &locals->frames[number]
								      : NULL;
}

void dumped_locals_deinit(struct dumped_locals *locals)
{
	free(locals->storage);
	*locals = (struct dumped_locals){ 0 };
}

uint64_t local_dump_left_out(const struct local_dump *dump)
{
	return dump->left_out;
}

/* SPDX-License-Identifier: Apache-2.0 */
#include "daemon/detect/outside_state.h"

#include "common/hash.h"
#include "common/text.h"
#include "daemon/bytecode/global_use.h"
#include "daemon/detect/outside_names.h"
#include "pyintrospect/code_names.h"
#include "pyintrospect/frame_globals.h"
#include "pyintrospect/object_reader.h"

#include <stdlib.h>
#include <string.h>

#define STATES_KEPT 512
#define DATA_MAX    12
/* A stop waits for it: longer functions are not looked into, nor larger modules. */
#define BYTECODE_SIZE_MAX  4096
#define MODULE_ENTRIES_MAX 4096
/* Looked at whenever it is seen, so many times; later in one of so many. */
#define SEEN_ALWAYS 16
#define SEEN_OF     4
/* Of the times that it was looked at, one in so many may show other data: a table is loaded anew
 * now and then. */
#define CHANGES_OF 16

struct outside_entry {
	const struct python_code *code; /* NULL: free */
	bool asks;
	size_t data_count;
	remote_addr data[DATA_MAX]; /* names of globals that hold data */
	uint64_t contents;          /* of those, when they were looked at last */
	uint32_t seen, looked, changed;
};

struct outside_states {
	struct python_runtime *runtime;
	const struct memory_reader *reader;
	struct fingerprints *fingerprints;
	struct outside_entry entries[STATES_KEPT];
};

/* A module's globals while a frame is looked at. */
struct scene {
	struct outside_states *states;
	struct object_entries globals;
};

struct outside_states *outside_states_create(struct python_runtime *runtime,
					     const struct memory_reader *reader,
					     struct fingerprints *fingerprints)
{
	struct outside_states *states = calloc(1, sizeof(*states));

	if (states) {
		states->runtime = runtime;
		states->reader = reader;
		states->fingerprints = fingerprints;
	}
	return states;
}

void outside_states_destroy(struct outside_states *states)
{
	free(states);
}

static int scene_begin(struct outside_states *states, const struct python_frame *frame,
		       struct scene *ret_scene)
{
	remote_addr dict;
	int error = frame_globals(states->runtime, frame, &dict);

	ret_scene->states = states;
	return error ? error
		     : object_read_dict_first(states->runtime, dict, MODULE_ENTRIES_MAX,
					      &ret_scene->globals);
}

static void scene_end(struct scene *scene)
{
	object_entries_deinit(&scene->globals);
}

/* 0: there is no such global, and it may be a builtin. */
static remote_addr value_of(const struct scene *scene, remote_addr name)
{
	for (size_t i = 0; i < scene->globals.count; i++)
		if (scene->globals.items[i].key == name)
			return scene->globals.items[i].value;
	return 0;
}

static void read_contents(struct outside_states *states, const remote_addr *objects, size_t count)
{
	struct memory_range *ranges;

	fingerprints_begin(states->fingerprints, objects, count, false);
	while ((count = fingerprints_round(states->fingerprints, &ranges)))
		if (memory_read_ranges(states->reader, ranges, count))
			break;
}

/* Things of which a program keeps one in a module, and that hold nothing that a result is made of.
 */
static bool is_harmless(const struct fingerprint *print)
{
	static const char *const shapes[] = {
		"Logger",
		"RootLogger",
		"LoggerAdapter",
		"Pattern",
		"SRE_Pattern",
		"Struct",
		"_struct.Struct",
		"lock",
		"_thread.lock",
		"RLock",
		"_thread.RLock",
		"ContextVar",
		"local",
		"partial",
		"Context",
		"TypeVar",
		"_lru_cache_wrapper",
		"module",
		"type",
	};

	switch (print->kind) {
	case CONTENT_CALLABLE:
	case CONTENT_FUNCTION:
	case CONTENT_METHOD:
	case CONTENT_CONSTANT:
	case CONTENT_VALUE:
		return true;
	default:
		break;
	}
	for (size_t i = 0; i < sizeof(shapes) / sizeof(shapes[0]); i++)
		if (!strcmp(print->shape, shapes[i]))
			return true;
	return text_ends_with(print->shape, "ufunc");
}

/* A file, a queue, a generator of random numbers, an iterator: what it gives next is not told. */
static bool is_source(const struct fingerprint *print)
{
	return print->opaque && print->kind == CONTENT_OTHER;
}

/* By the name of what is called, or read, of a global. */
static bool use_asks(const struct code_names *names, const struct global_use *use,
		     const struct fingerprint *global)
{
	char text[OUTSIDE_NAME_SIZE];

	/* A function of the program's own says by its own code what it asks. */
	if (use->last == use->global && global->kind == CONTENT_FUNCTION)
		return false;
	return !code_names_read(names, PYTHON_NAMES, use->last, text, sizeof(text)) &&
	       outside_name_asks(text);
}

/* The globals that its code names. */
static void find_uses(struct scene *scene, struct outside_entry *entry)
{
	struct outside_states *states = scene->states;
	remote_addr objects[GLOBAL_USES_MAX] = { 0 }, addresses[GLOBAL_USES_MAX] = { 0 };
	struct global_uses uses;
	struct bytecode bytecode;
	struct code_names names;

	if (entry->code->bytecode_size > BYTECODE_SIZE_MAX || bytecode_init(&bytecode, entry->code))
		return;
	global_uses_find(&bytecode, &uses);
	bytecode_deinit(&bytecode);
	if (!uses.count || code_names_find(states->runtime, entry->code, &names))
		return;
	for (size_t i = 0; i < uses.count; i++)
		if (!code_names_address(&names, PYTHON_NAMES, uses.items[i].global, &addresses[i]))
			objects[i] = value_of(scene, addresses[i]);
	read_contents(states, objects, uses.count);
	for (size_t i = 0; i < uses.count; i++) {
		struct fingerprint global = { .kind = CONTENT_CALLABLE };

		if (objects[i])
			global = fingerprints_get(states->fingerprints, i);
		entry->asks |= use_asks(&names, &uses.items[i], &global);
		if (!objects[i] || is_harmless(&global))
			continue;
		entry->asks |= is_source(&global);
		if (entry->data_count < DATA_MAX)
			entry->data[entry->data_count++] = addresses[i];
	}
}

/* What is in the globals that hold data, now. */
static uint64_t contents_of(struct scene *scene, const struct outside_entry *entry)
{
	remote_addr objects[DATA_MAX];
	uint64_t contents = 0;

	for (size_t i = 0; i < entry->data_count; i++)
		objects[i] = value_of(scene, entry->data[i]);
	read_contents(scene->states, objects, entry->data_count);
	for (size_t i = 0; i < entry->data_count; i++)
		contents = hash_combine(contents,
					fingerprints_get(scene->states->fingerprints, i).content);
	return contents;
}

static void look(struct scene *scene, struct outside_entry *entry)
{
	uint64_t contents = contents_of(scene, entry);

	entry->changed += entry->looked && contents != entry->contents;
	entry->looked++;
	entry->contents = contents;
}

enum outside_state outside_state_of(struct outside_states *states, const struct python_frame *frame)
{
	struct outside_entry *entry = &states->entries[hash_mix(frame->code->id) % STATES_KEPT];
	bool met = entry->code == frame->code;
	struct scene scene;

	if (!met)
		*entry = (struct outside_entry){ .code = frame->code };
	entry->seen++;
	if ((!met || (entry->data_count && !entry->asks &&
		      (entry->seen <= SEEN_ALWAYS || entry->seen % SEEN_OF == 0))) &&
	    !scene_begin(states, frame, &scene)) {
		if (!met)
			find_uses(&scene, entry);
		if (entry->data_count && !entry->asks)
			look(&scene, entry);
		scene_end(&scene);
	}
	if (entry->asks)
		return OUTSIDE_ASKS;
	return CHANGES_OF * entry->changed > entry->looked ? OUTSIDE_CHANGES : OUTSIDE_NONE;
}

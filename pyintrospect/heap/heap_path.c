/* SPDX-License-Identifier: Apache-2.0 */
#include "pyintrospect/heap/heap_path.h"

#include "common/array.h"
#include "common/hash.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

/* At most half full. */
#define PATH_SLOTS       (2 * HEAP_PATHS_MAX)
#define STRING_SLOTS     (1u << 20)
#define STRING_COUNT_MAX (STRING_SLOTS / 2)
#define STRINGS_FIRST    (64u << 10)

int heap_paths_init(struct heap_paths *paths)
{
	*paths = (struct heap_paths){
		.count = 1, .capacity = 1024, .string_bytes = 1, .string_capacity = STRINGS_FIRST
	};
	paths->items = calloc(paths->capacity, sizeof(*paths->items));
	paths->by_content = calloc(PATH_SLOTS, sizeof(*paths->by_content));
	paths->strings = calloc(1, paths->string_capacity);
	paths->by_string = calloc(STRING_SLOTS, sizeof(*paths->by_string));
	return paths->items && paths->by_content && paths->strings && paths->by_string ? 0
										       : -ENOMEM;
}

void heap_paths_deinit(struct heap_paths *paths)
{
	free(paths->items);
	free(paths->by_content);
	free(paths->strings);
	free(paths->by_string);
	*paths = (struct heap_paths){ 0 };
}

static bool room_for_string(struct heap_paths *paths, size_t size)
{
	char *grown;

	if (paths->string_count == STRING_COUNT_MAX ||
	    size > HEAP_STRINGS_MAX - paths->string_bytes) {
		paths->cut = true;
		return false;
	}
	if (paths->string_bytes + size <= paths->string_capacity)
		return true;
	grown = realloc(paths->strings, paths->string_capacity * 2);
	if (!grown) {
		paths->no_memory = true;
		return false;
	}
	paths->strings = grown;
	paths->string_capacity *= 2;
	return true;
}

uint32_t heap_paths_string(struct heap_paths *paths, const char *words)
{
	size_t size = strlen(words) + 1;
	uint32_t slot = hash_bytes(words, size) % STRING_SLOTS;

	for (; paths->by_string[slot]; slot = (slot + 1) % STRING_SLOTS)
		if (!strcmp(paths->strings + paths->by_string[slot], words))
			return paths->by_string[slot];
	/* One is shorter than the room that there is at first. */
	if (!room_for_string(paths, size))
		return 0;
	memcpy(paths->strings + paths->string_bytes, words, size);
	paths->by_string[slot] = (uint32_t)paths->string_bytes;
	paths->string_bytes += size;
	paths->string_count++;
	return paths->by_string[slot];
}

/* A path outwards from parent that is the same step of the same type; 0: none. */
static uint32_t fold(const struct heap_paths *paths, uint32_t parent, uint32_t step, uint16_t type)
{
	uint32_t path = parent;

	for (unsigned i = 0; i < HEAP_FOLD_DEPTH && path; i++) {
		const struct heap_path *item = &paths->items[path];

		if (item->parent && item->step == step && item->type == type)
			return path;
		path = item->parent;
	}
	return 0;
}

uint32_t heap_paths_child(struct heap_paths *paths, uint32_t parent, uint32_t step, uint16_t type)
{
	uint32_t folded = fold(paths, parent, step, type);

	return folded ? folded : heap_paths_unfolded_child(paths, parent, step, type);
}

uint32_t heap_paths_unfolded_child(struct heap_paths *paths, uint32_t parent, uint32_t step,
				   uint16_t type)
{
	uint64_t key = (uint64_t)parent << 32 | step;
	uint32_t slot = (uint32_t)hash_combine(hash_combine(HASH_BASIS, key), type) % PATH_SLOTS;

	for (; paths->by_content[slot]; slot = (slot + 1) % PATH_SLOTS) {
		const struct heap_path *path = &paths->items[paths->by_content[slot]];

		if (path->parent == parent && path->step == step && path->type == type)
			return paths->by_content[slot];
	}
	if (paths->count == HEAP_PATHS_MAX) {
		paths->cut = true;
		return parent;
	}
	if (!ARRAY_ROOM(paths->items, paths->count, paths->capacity)) {
		paths->no_memory = true;
		return parent;
	}
	paths->items[paths->count] =
		(struct heap_path){ .parent = parent, .step = step, .type = type };
	paths->by_content[slot] = (uint32_t)paths->count;
	return (uint32_t)paths->count++;
}

/* SPDX-License-Identifier: Apache-2.0 */
/*
 * How objects were reached from a root, as a tree: a step and a type at each node, so that a
 * million entries of one cache are one path.
 *
 *   app.cache (dict) -> {*} (Order) -> .lines (list) -> [*] (Line)
 *
 * A step that an outer one has with the same type leads back there: a linked list is one path.
 * Steps are names of variables, attributes and types, never keys or values.
 */
#ifndef PIEPROFD_PYINTROSPECT_HEAP_HEAP_PATH_H
#define PIEPROFD_PYINTROSPECT_HEAP_HEAP_PATH_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define HEAP_PATHS_MAX   (1u << 20)
#define HEAP_STRINGS_MAX (32u << 20)
#define HEAP_STEP_BYTES  400 /* of one step, with its NUL */
#define HEAP_FOLD_DEPTH  16

struct heap_path {
	uint32_t parent; /* 0: a root */
	uint32_t step;   /* of the strings */
	uint16_t type;   /* heap_type.h */
	uint64_t count;  /* objects right here */
	uint64_t bytes;  /* of these, and of the memory that they alone use */
};

struct heap_paths {
	struct heap_path *items; /* from 1 on; a parent is before its children */
	size_t count, capacity;
	uint32_t *by_content; /* hash -> path */
	char *strings;        /* one behind the other; the first is "" */
	size_t string_bytes, string_capacity, string_count;
	uint32_t *by_string;
	bool cut; /* more paths, or names: what was to come is counted in the path before it */
	bool no_memory;
};

__attribute__((warn_unused_result)) int heap_paths_init(struct heap_paths *paths);
void heap_paths_deinit(struct heap_paths *paths);

/* The number of a step's words. */
uint32_t heap_paths_string(struct heap_paths *paths, const char *words);

/* The path of an object of a type that is so reached; parent 0: a root. */
uint32_t heap_paths_child(struct heap_paths *paths, uint32_t parent, uint32_t step, uint16_t type);

/* Of what has been a path before: a step that an outer one has, too, leads on all the same. */
uint32_t heap_paths_unfolded_child(struct heap_paths *paths, uint32_t parent, uint32_t step,
				   uint16_t type);

#endif

/* SPDX-License-Identifier: Apache-2.0 */
#include "pyintrospect/heap/heap_variable.h"

#include "pyintrospect/heap/heap_entries.h"

/* PyFunctionObject: 17 words in 3.6, 20 in 3.15. */
#define FUNCTION_WORDS 24
#define CELL_CONTENTS  16
#define NAME_BYTES     96

static uint8_t kind_at(const struct heap_walk *walk, remote_addr address)
{
	uint32_t node = address ? heap_walk_object(walk, address) : HEAP_NODE_NONE;

	return node == HEAP_NODE_NONE ? HEAP_KIND_OTHER
				      : walk->types->items[walk->nodes->kinds[node]].kind;
}

/* ---- closures */

struct tuple {
	remote_addr items;
	uint64_t count;
};

static struct tuple tuple_at(const struct heap_walk *walk, remote_addr address)
{
	struct tuple tuple = { 0 };

	if (kind_at(walk, address) != HEAP_KIND_TUPLE)
		return tuple;
	tuple.items = address + (uint64_t)walk->types->layout.offsets->tuple_items;
	tuple.count = heap_image_word(walk->image,
				      address + walk->types->layout.head_extra + OBJECT_SIZE);
	return tuple;
}

static remote_addr item_of(const struct heap_walk *walk, const struct tuple *tuple, uint64_t number)
{
	return heap_image_word(walk->image, tuple->items + number * WORD_SIZE);
}

/* Those of a closure are the last ones. */
static struct tuple names_of(const struct heap_walk *walk, remote_addr code)
{
	const struct python_offsets *offsets = walk->types->layout.offsets;
	int32_t offset = offsets->code_free_names == OFFSET_ABSENT ? offsets->code_local_names
								   : offsets->code_free_names;

	return tuple_at(walk, heap_image_word(walk->image, code + (uint64_t)offset));
}

static uint32_t closure_step(struct heap_walk *walk, remote_addr name)
{
	char words[NAME_BYTES];

	heap_entries_name(walk, name, ".__closure__.", words, sizeof(words));
	return heap_paths_string(walk->paths, words);
}

static void follow_cells(struct heap_walk *walk, const struct tuple *cells, remote_addr code,
			 uint32_t path)
{
	const struct tuple names = names_of(walk, code);
	const uint64_t contents = CELL_CONTENTS + walk->types->layout.head_extra;

	if (names.count < cells->count)
		return;
	for (uint64_t i = 0; i < cells->count; i++) {
		remote_addr cell = item_of(walk, cells, i);
		remote_addr name = item_of(walk, &names, names.count - cells->count + i);

		/* Two functions may have the same variable: it is that of the one found first. */
		if (kind_at(walk, cell) == HEAP_KIND_CELL && heap_walk_absorb(walk, cell, path))
			heap_walk_follow(walk, heap_image_word(walk->image, cell + contents), path,
					 closure_step(walk, name));
	}
}

/* Where it lies in a function depends on the minor. */
static remote_addr code_of(const struct heap_walk *walk, remote_addr function, uint64_t size)
{
	for (uint64_t at = OBJECT_HEAD;
	     at < (uint64_t)FUNCTION_WORDS * WORD_SIZE && at + WORD_SIZE <= size; at += WORD_SIZE) {
		remote_addr word = heap_image_word(walk->image, function + at);

		if (kind_at(walk, word) == HEAP_KIND_CODE)
			return word;
	}
	return 0;
}

void heap_variable_follow_closure(struct heap_walk *walk, remote_addr function, uint64_t size,
				  remote_addr closure, uint32_t path)
{
	const struct tuple cells = tuple_at(walk, closure);
	remote_addr code = cells.count ? code_of(walk, function, size) : 0;

	if (code && cells.count <= HEAP_CLOSURE_MAX && heap_walk_absorb(walk, closure, path))
		follow_cells(walk, &cells, code, path);
}

/* ---- what each thread has of its own */

struct threads {
	uint32_t path;
};

/* The key stands for a thread, by a weak reference to 3.12; a keyword's argument has a str there.
 */
static void visit_thread(struct heap_walk *walk, void *context, remote_addr key, remote_addr value)
{
	const struct threads *threads = context;

	if (kind_at(walk, key) != HEAP_KIND_STR && kind_at(walk, value) == HEAP_KIND_DICT)
		heap_entries_attributes(walk, value, threads->path);
}

void heap_variable_follow_threads(struct heap_walk *walk, remote_addr local, uint64_t size,
				  uint32_t path)
{
	struct threads threads = { path };
	const struct heap_entries visitor = { visit_thread, &threads };

	for (uint64_t at = OBJECT_HEAD; at + WORD_SIZE <= size; at += WORD_SIZE) {
		remote_addr word = heap_image_word(walk->image, local + at);

		if (kind_at(walk, word) == HEAP_KIND_DICT)
			(void)heap_entries_visit(walk, word, path, &visitor);
	}
}

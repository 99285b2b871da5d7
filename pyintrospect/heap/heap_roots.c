/* SPDX-License-Identifier: Apache-2.0 */
#include "pyintrospect/heap/heap_roots.h"

#include "pyintrospect/code_names.h"
#include "pyintrospect/field.h"
#include "pyintrospect/heap/heap_modules.h"
#include "pyintrospect/heap/heap_search.h"
#include "pyintrospect/heap/heap_young.h"
#include "pyintrospect/local_slots.h"
#include "pyintrospect/python_stack.h"
#include "pyintrospect/runtime_internal.h"
#include "pyintrospect/thread_list.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Of a thread state the part with references, in every version. */
#define STATE_BYTES     512u
#define CHUNKS_A_THREAD 256
#define CHUNK_BELIEVED  (64u << 20)
#define NAME_BYTES      80

static uint32_t root(struct heap_walk *walk, const char *words, uint16_t type)
{
	return heap_paths_child(walk->paths, 0, heap_paths_string(walk->paths, words), type);
}

/* ---- interpreters and their modules */

static size_t list_interpreters(const struct heap_walk *walk, const struct python_runtime *runtime,
				remote_addr interpreters[HEAP_INTERPRETERS_MAX])
{
	remote_addr at = heap_image_word(walk->image, runtime->interpreters);
	size_t count = 0;

	for (; at && count < HEAP_INTERPRETERS_MAX; count++) {
		interpreters[count] = at;
		at = heap_image_word(walk->image,
				     at + (uint64_t)runtime->layout.offsets.interpreter_next);
	}
	return count;
}

static remote_addr modules_of(const struct heap_walk *walk, const struct python_runtime *runtime,
			      remote_addr interpreter)
{
	int32_t offset = runtime->layout.offsets.interpreter_modules;

	return offset == OFFSET_ABSENT
		       ? 0
		       : heap_image_word(walk->image, interpreter + (uint64_t)offset);
}

bool heap_roots_are_known(const struct heap_walk *walk, const struct python_runtime *runtime)
{
	remote_addr interpreters[HEAP_INTERPRETERS_MAX];
	size_t count = list_interpreters(walk, runtime, interpreters);

	return count &&
	       heap_walk_object(walk, modules_of(walk, runtime, interpreters[0])) != HEAP_NODE_NONE;
}

/* ---- frames */

static const char *base_name(const char *file)
{
	const char *slash = strrchr(file, '/');

	return slash ? slash + 1 : file;
}

static void follow_frame(struct heap_walk *walk, const struct python_runtime *runtime,
			 const struct python_frame *frame)
{
	struct local_slots slots;
	struct code_names names;

	if (!strcmp(frame->code->function, "<module>") ||
	    local_slots_read(runtime, frame, &slots) ||
	    code_names_find(runtime, frame->code, &names))
		return;
	for (uint32_t i = 0; i < slots.count; i++) {
		remote_addr object = slots.values[i].object;
		uint32_t node = heap_walk_object(walk, object);
		char name[NAME_BYTES], words[HEAP_STEP_BYTES];

		if (slots.values[i].state != OPERAND_IS_OBJECT ||
		    (node == HEAP_NODE_NONE ? !heap_mends_wants(&walk->mends, object)
					    : walk->path_of[node] != 0))
			continue;
		if (local_slots_name(&names, i, name, sizeof(name)))
			strcpy(name, "?");
		snprintf(words, sizeof(words), "local %s of %.120s() (%.120s)", name,
			 frame->code->function, base_name(frame->code->file));
		if (node == HEAP_NODE_NONE)
			heap_mends_note(&walk->mends, object, 0,
					heap_paths_string(walk->paths, words));
		else
			heap_walk_take(walk, node, root(walk, words, walk->nodes->kinds[node]));
	}
}

static int follow_frames(struct heap_walk *walk, struct python_runtime *runtime,
			 const struct python_thread_list *threads)
{
	struct python_stack *stack = malloc(sizeof(*stack));

	if (!stack)
		return -ENOMEM;
	for (size_t i = 0; i < threads->count; i++) {
		if (!threads->items[i].tid ||
		    python_stack_read_passing(runtime, threads->items[i].tid, stack))
			continue;
		walk->mends.typed = true;
		for (size_t k = 0; k < stack->count; k++)
			follow_frame(walk, runtime, &stack->frames[k]);
	}
	walk->mends.typed = false;
	free(stack);
	return 0;
}

/* ---- what has no name of its own */

static void follow_bytes(struct heap_walk *walk, remote_addr address, uint64_t size, uint32_t path)
{
	const uint8_t *bytes = heap_image_at(walk->image, address, size);

	for (uint64_t at = 0; bytes && at + WORD_SIZE <= size; at += WORD_SIZE)
		heap_walk_follow(walk, field_u64(bytes + at, 0), path,
				 walk->steps[HEAP_STEP_OTHER]);
}

static void follow_state(struct heap_walk *walk, const struct python_thread *thread)
{
	const struct heap_extent *extent = heap_image_find(walk->image, thread->state);
	uint64_t size = STATE_BYTES;
	char words[HEAP_STEP_BYTES];

	if (!extent)
		return;
	if (extent->end - thread->state < size)
		size = extent->end - thread->state;
	snprintf(words, sizeof(words), "thread state of %s", thread->name[0] ? thread->name : "?");
	follow_bytes(walk, thread->state, size, root(walk, words, 0));
}

/* 3.11+: frames, and the values that they compute with, lie in chunks of a thread's own. */
static void follow_values(struct heap_walk *walk, const struct python_runtime *runtime,
			  const struct python_thread *thread)
{
	const struct python_offsets *offsets = &runtime->layout.offsets;
	uint32_t path = root(walk, "values on evaluation stacks", 0);
	remote_addr chunk, top;

	if (offsets->thread_chunk == OFFSET_ABSENT)
		return;
	chunk = heap_image_word(walk->image, thread->state + (uint64_t)offsets->thread_chunk);
	top = heap_image_word(walk->image, thread->state + (uint64_t)offsets->thread_chunk_top);
	for (unsigned i = 0; chunk && i < CHUNKS_A_THREAD; i++) {
		uint64_t size = heap_image_word(walk->image, chunk + (uint64_t)offsets->chunk_size);

		if (size > CHUNK_BELIEVED)
			return;
		if (top >= chunk && top - chunk < size)
			size = top - chunk;
		follow_bytes(walk, chunk, size, path);
		chunk = heap_image_word(walk->image, chunk + (uint64_t)offsets->chunk_previous);
	}
}

/* The file of a mapping, or of the one that it follows: .bss. */
static void follow_data(struct heap_walk *walk, const struct heap_extent *extent)
{
	const struct mapping *mapping = &walk->image->mappings->mappings[extent->mapping];
	char words[HEAP_STEP_BYTES];

	if (!mapping->inode && extent->mapping)
		mapping--;
	snprintf(words, sizeof(words), "static data of %.200s", base_name(mapping->path));
	follow_bytes(walk, extent->start, extent->end - extent->start, root(walk, words, 0));
}

static void follow_areas(struct heap_walk *walk, enum heap_area area)
{
	for (size_t i = 0; i < walk->image->extent_count; i++) {
		const struct heap_extent *extent = &walk->image->extents[i];

		if (extent->area != area)
			continue;
		if (area == HEAP_AREA_DATA)
			follow_data(walk, extent);
		else
			follow_bytes(walk, extent->start, extent->end - extent->start,
				     root(walk, "C stacks", 0));
		heap_search_drain(walk);
	}
}

/* Its state: to 3.11 memory of malloc's, later part of its data, to which it leads. */
static void follow_interpreters(struct heap_walk *walk, const struct python_runtime *runtime)
{
	remote_addr interpreters[HEAP_INTERPRETERS_MAX];
	size_t count = list_interpreters(walk, runtime, interpreters);
	const struct heap_extent *extent = heap_image_find(walk->image, runtime->interpreters);
	uint32_t path = root(walk, "the interpreter", 0);

	for (size_t i = 0; i < count; i++)
		heap_walk_claim(walk, interpreters[i], 0, path, true);
	if (extent)
		follow_bytes(walk, extent->start, extent->end - extent->start, path);
	heap_search_drain(walk);
}

/* ---- all */

static int follow_modules(struct heap_walk *walk, struct python_runtime *runtime,
			  const struct python_thread_list *threads)
{
	remote_addr interpreters[HEAP_INTERPRETERS_MAX];
	size_t count = list_interpreters(walk, runtime, interpreters);
	struct heap_modules modules = { 0 };
	int error;

	for (size_t i = 0; i < count; i++)
		heap_modules_add(&modules, walk, modules_of(walk, runtime, interpreters[i]));
	heap_modules_follow(&modules, walk, true, HEAP_MODULE_DATA);
	heap_modules_follow(&modules, walk, true, HEAP_MODULE_DEFINITIONS);
	error = follow_frames(walk, runtime, threads);
	heap_modules_follow(&modules, walk, false, HEAP_MODULE_DATA);
	heap_modules_follow(&modules, walk, false, HEAP_MODULE_DEFINITIONS);
	heap_modules_follow(&modules, walk, false, HEAP_MODULE_REST);
	heap_modules_follow(&modules, walk, true, HEAP_MODULE_REST);
	if (modules.no_memory)
		error = -ENOMEM;
	heap_modules_deinit(&modules);
	return error;
}

int heap_roots_follow(struct heap_walk *walk, struct python_runtime *runtime)
{
	struct python_thread_list threads;
	int error = python_thread_list_read(runtime, &threads);

	if (error)
		return error;
	error = follow_modules(walk, runtime, &threads);
	heap_search_drain(walk);
	/* Before what has no name leads to the middle of a chain whose first links are missing. */
	heap_young_follow(walk);
	if (!error)
		error = heap_young_compare(walk);
	heap_young_follow(walk);
	for (size_t i = 0; i < threads.count && !error; i++)
		follow_state(walk, &threads.items[i]);
	heap_search_drain(walk);
	for (size_t i = 0; i < threads.count && !error; i++)
		follow_values(walk, runtime, &threads.items[i]);
	heap_search_drain(walk);
	python_thread_list_deinit(&threads);
	if (error)
		return error;
	follow_interpreters(walk, runtime);
	follow_areas(walk, HEAP_AREA_DATA);
	follow_areas(walk, HEAP_AREA_STACK);
	heap_young_follow(walk);
	walk->roots_done = true;
	return walk->stopped;
}

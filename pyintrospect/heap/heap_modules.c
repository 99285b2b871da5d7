/* SPDX-License-Identifier: Apache-2.0 */
#include "pyintrospect/heap/heap_modules.h"

#include "common/array.h"
#include "pyintrospect/heap/heap_entries.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define FILE_BYTES 1024
/* PyFunctionObject.func_globals: among the first words, in another place in each minor. */
#define FUNCTION_WORDS 8

static uint8_t kind_of(const struct heap_walk *walk, uint32_t node)
{
	return walk->types->items[walk->nodes->kinds[node]].kind;
}

/* ---- one entry by its key */

struct wanted {
	const char *key;
	remote_addr value;
};

static void visit_wanted(struct heap_walk *walk, void *context, remote_addr key, remote_addr value)
{
	struct wanted *wanted = context;
	char text[32];

	if (!wanted->value && heap_entries_string(walk, key, text, sizeof(text)) &&
	    !strcmp(text, wanted->key))
		wanted->value = value;
}

static bool find_string(struct heap_walk *walk, remote_addr dict, const char *key, char *text,
			size_t size)
{
	struct wanted wanted = { .key = key };
	const struct heap_entries visitor = { visit_wanted, &wanted };

	return heap_entries_visit(walk, dict, 0, &visitor) && wanted.value &&
	       heap_entries_string(walk, wanted.value, text, size);
}

bool heap_modules_of_type(struct heap_walk *walk, remote_addr type, char *name, size_t size)
{
	remote_addr dict =
		heap_image_word(walk->image, type + walk->types->layout.head_extra + TYPE_DICT);

	return dict && find_string(walk, dict, "__module__", name, size);
}

/* ---- modules */

static bool is_own(struct heap_walk *walk, const struct heap_module *module)
{
	char file[FILE_BYTES];

	if (!strcmp(module->name, "__main__"))
		return true;
	return find_string(walk, module->dict, "__file__", file, sizeof(file)) &&
	       !strstr(file, "/lib/python3") && !strstr(file, "/lib64/python3") &&
	       !strstr(file, "site-packages") && !strstr(file, "dist-packages");
}

struct adding {
	struct heap_modules *modules;
};

static void visit_module(struct heap_walk *walk, void *context, remote_addr key, remote_addr value)
{
	struct heap_modules *modules = ((struct adding *)context)->modules;
	uint32_t node = heap_walk_object(walk, value);
	struct heap_module module = { 0 };

	if (node == HEAP_NODE_NONE || kind_of(walk, node) != HEAP_KIND_MODULE ||
	    walk->path_of[node] || modules->count == HEAP_MODULES_MAX)
		return;
	if (!ARRAY_ROOM(modules->items, modules->count, modules->capacity)) {
		modules->no_memory = true;
		return;
	}
	if (!heap_entries_string(walk, key, module.name, sizeof(module.name)))
		return;
	module.dict = heap_image_word(walk->image,
				      value + walk->types->layout.head_extra + MODULE_DICT_AT);
	module.own = is_own(walk, &module);
	module.path = heap_paths_child(walk->paths, 0, heap_paths_string(walk->paths, module.name),
				       walk->nodes->kinds[node]);
	heap_walk_take(walk, node, module.path);
	/* Nobody else is to hold what the module's variables are. */
	(void)heap_walk_absorb(walk, module.dict, module.path);
	modules->items[modules->count++] = module;
}

void heap_modules_add(struct heap_modules *modules, struct heap_walk *walk, remote_addr dict)
{
	struct adding adding = { modules };
	const struct heap_entries visitor = { visit_module, &adding };
	uint32_t path =
		heap_paths_child(walk->paths, 0, heap_paths_string(walk->paths, "sys.modules"), 0);

	(void)heap_walk_absorb(walk, dict, path);
	(void)heap_entries_visit(walk, dict, path, &visitor);
}

void heap_modules_deinit(struct heap_modules *modules)
{
	free(modules->items);
	*modules = (struct heap_modules){ 0 };
}

/* ---- their variables */

struct following {
	const struct heap_module *module;
	enum heap_module_part part;
};

static bool is_definition(uint8_t kind)
{
	return kind == HEAP_KIND_TYPE || kind == HEAP_KIND_FUNCTION || kind == HEAP_KIND_MODULE;
}

static bool is_defined_there(struct heap_walk *walk, const struct heap_module *module,
			     remote_addr object, uint8_t kind)
{
	const remote_addr fields = object + walk->types->layout.head_extra;
	char name[sizeof(module->name)];

	if (kind == HEAP_KIND_TYPE)
		return heap_modules_of_type(walk, object, name, sizeof(name)) &&
		       !strcmp(name, module->name);
	for (unsigned i = 2; kind == HEAP_KIND_FUNCTION && i < FUNCTION_WORDS; i++)
		if (heap_image_word(walk->image, fields + (uint64_t)i * WORD_SIZE) == module->dict)
			return true;
	return false;
}

static bool is_part(struct heap_walk *walk, const struct following *following, uint32_t node,
		    remote_addr value)
{
	uint8_t kind = kind_of(walk, node);

	if (walk->path_of[node] || (following->part == HEAP_MODULE_DATA && is_definition(kind)))
		return false;
	return following->part != HEAP_MODULE_DEFINITIONS ||
	       (is_definition(kind) && is_defined_there(walk, following->module, value, kind));
}

static void visit_variable(struct heap_walk *walk, void *context, remote_addr key,
			   remote_addr value)
{
	const struct following *following = context;
	uint32_t node = heap_walk_object(walk, value);
	char name[HEAP_STEP_BYTES], before[sizeof(following->module->name) + 1];
	uint32_t step;

	if (node == HEAP_NODE_NONE ? !heap_mends_wants(&walk->mends, value)
				   : !is_part(walk, following, node, value))
		return;
	snprintf(before, sizeof(before), "%s.", following->module->name);
	heap_entries_name(walk, key, before, name, sizeof(name));
	step = heap_paths_string(walk->paths, name);
	if (node == HEAP_NODE_NONE)
		heap_mends_note(&walk->mends, value, 0, step);
	else
		heap_walk_take(walk, node,
			       heap_paths_child(walk->paths, 0, step, walk->nodes->kinds[node]));
}

void heap_modules_follow(const struct heap_modules *modules, struct heap_walk *walk, bool own,
			 enum heap_module_part part)
{
	walk->mends.typed = true;
	for (size_t i = 0; i < modules->count; i++) {
		struct following following = { &modules->items[i], part };
		const struct heap_entries visitor = { visit_variable, &following };

		if (modules->items[i].own == own)
			(void)heap_entries_visit(walk, modules->items[i].dict,
						 modules->items[i].path, &visitor);
	}
	walk->mends.typed = false;
}

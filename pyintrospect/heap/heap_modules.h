/* SPDX-License-Identifier: Apache-2.0 */
/* Variables of modules as roots: "app.cache". For heap_roots.c. */
#ifndef PIEPROFD_PYINTROSPECT_HEAP_HEAP_MODULES_H
#define PIEPROFD_PYINTROSPECT_HEAP_HEAP_MODULES_H

#include "pyintrospect/heap/heap_walk.h"

#define HEAP_MODULES_MAX 65536

struct heap_module {
	remote_addr dict;
	uint32_t path;
	bool own; /* the program's: not of the standard library, nor installed */
	char name[96];
};

struct heap_modules {
	struct heap_module *items;
	size_t count, capacity;
	bool no_memory;
};

/* Those of a dict like sys.modules, behind those that there are. */
void heap_modules_add(struct heap_modules *modules, struct heap_walk *walk, remote_addr dict);
void heap_modules_deinit(struct heap_modules *modules);

enum heap_module_part {
	HEAP_MODULE_DATA,        /* all but types, functions and modules */
	HEAP_MODULE_DEFINITIONS, /* types and functions of its own */
	HEAP_MODULE_REST,
};

/* One part of the program's modules, or of all others. */
void heap_modules_follow(const struct heap_modules *modules, struct heap_walk *walk, bool own,
			 enum heap_module_part part);

/* The __module__ of a type; false: none. */
bool heap_modules_of_type(struct heap_walk *walk, remote_addr type, char *name, size_t size);

#endif

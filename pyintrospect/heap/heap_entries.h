/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What is in a dict, and what is an attribute of whoever has the dict: by names, which are text.
 */
#ifndef PIEPROFD_PYINTROSPECT_HEAP_HEAP_ENTRIES_H
#define PIEPROFD_PYINTROSPECT_HEAP_HEAP_ENTRIES_H

#include "pyintrospect/heap/heap_walk.h"

/* A visitor of a dict's entries. */
struct heap_entries {
	void (*visit)(struct heap_walk *walk, void *context, remote_addr key, remote_addr value);
	void *context;
};

/* The entries of a dict, and what is its storage, for the path. False: it is none. */
bool heap_entries_visit(struct heap_walk *walk, remote_addr dict, uint32_t path,
			const struct heap_entries *entries);

/*
 * The entries of a dict as attributes of its owner, which has the path: the dict itself is no step.
 * One that was reached before stays what it is.
 */
void heap_entries_attributes(struct heap_walk *walk, remote_addr dict, uint32_t path);

/* Of an instance that shares its keys with others of its class: these, and its values. */
void heap_entries_shared_attributes(struct heap_walk *walk, remote_addr keys, remote_addr values,
				    uint32_t path);

/* A str as a name, such as ".lines" with "." before: one that is no name is "?". */
void heap_entries_name(const struct heap_walk *walk, remote_addr string, const char *before,
		       char *name, size_t size);

/* A str in UTF-8, whatever it is; false: it is none, or not in the copy. */
bool heap_entries_string(const struct heap_walk *walk, remote_addr string, char *text, size_t size);

/* Letters, digits and underscores; nothing of the rest is shown. */
bool heap_entries_is_name(const char *text);

#endif

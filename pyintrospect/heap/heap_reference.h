/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What an object refers to: by its kind where that is known, else every word of it that is the
 * address of an object. Weak references, the collector's links and slots that a list does not
 * use are left out.
 */
#ifndef PIEPROFD_PYINTROSPECT_HEAP_HEAP_REFERENCE_H
#define PIEPROFD_PYINTROSPECT_HEAP_HEAP_REFERENCE_H

#include "pyintrospect/heap/heap_walk.h"

/* All references of a node that was reached by a path. */
void heap_reference_follow(struct heap_walk *walk, uint32_t node, uint32_t path);

/* A visitor of a dict's entries. */
struct heap_entries {
	void (*visit)(struct heap_walk *walk, void *context, remote_addr key, remote_addr value);
	void *context;
};

/* The entries of a dict, and what is its storage, for the path. False: it is none. */
bool heap_reference_entries(struct heap_walk *walk, remote_addr dict, uint32_t path,
			    const struct heap_entries *entries);

/* A str as a name, such as ".lines" with "." before: one that is no name is "?". */
void heap_reference_name(const struct heap_walk *walk, remote_addr string, const char *before,
			 char *name, size_t size);

/* A str in UTF-8, whatever it is; false: it is none, or not in the copy. */
bool heap_reference_string(const struct heap_walk *walk, remote_addr string, char *text,
			   size_t size);

#endif

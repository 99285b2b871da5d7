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

/* The same of an object that is in no node, of so many bytes that were read from there. */
void heap_reference_follow_read(struct heap_walk *walk, uint16_t type, remote_addr address,
				const uint8_t *bytes, uint64_t size, uint32_t path);

#endif

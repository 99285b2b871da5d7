/* SPDX-License-Identifier: Apache-2.0 */
/*
 * How much memory an object uses beside its own, by what its head says: a list's items, a dict's
 * keys and values, a set's table, an array's data.
 */
#ifndef PIEPROFD_PYINTROSPECT_HEAP_HEAP_STORAGE_H
#define PIEPROFD_PYINTROSPECT_HEAP_HEAP_STORAGE_H

#include "pyintrospect/heap/heap_type.h"

/* Of the head of an object of that type, all of it; 0: nothing, or no more than is known. */
uint64_t heap_storage_bytes(const struct heap_types *types, const struct heap_type *type,
			    const uint8_t *object);

/* Of a dict's, whatever its type. */
uint64_t heap_storage_keys(const struct heap_types *types, const uint8_t *dict);

#endif

/* SPDX-License-Identifier: Apache-2.0 */
/* Whose malloc a process uses, as far as its files tell. Pure. */
#ifndef PIEPROFD_PYINTROSPECT_HEAP_HEAP_ALLOCATOR_H
#define PIEPROFD_PYINTROSPECT_HEAP_HEAP_ALLOCATOR_H

#include "common/mapping.h"

/*
 * The name of an allocator that a mapped file brings in place of glibc's, and of which chunks are
 * not read: "jemalloc", "tcmalloc", "mimalloc", "musl's malloc". NULL: there is none such. One that
 * is linked into a program has no file.
 */
const char *heap_allocator_find(const struct mapping_list *mappings);

#endif

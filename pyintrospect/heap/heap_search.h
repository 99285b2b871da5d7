/* SPDX-License-Identifier: Apache-2.0 */
/* The search goes on from what is in the walk's queue. */
#ifndef PIEPROFD_PYINTROSPECT_HEAP_HEAP_SEARCH_H
#define PIEPROFD_PYINTROSPECT_HEAP_HEAP_SEARCH_H

#include "pyintrospect/heap/heap_walk.h"

/* Until nothing is in the queue. */
void heap_search_drain(struct heap_walk *walk);

/* What was reached by nothing: a root for each type. */
void heap_search_unheld(struct heap_walk *walk);

#endif

/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Which paths are worth a row: of the tree of all, those that hold most, each as far from its
 * root as most of it goes one way.
 *
 *   app.cache 98 MB -> {*} 97 MB -> .lines 40 MB, .name 30 MB, ...
 *   `------------------^ this one
 */
#ifndef PIEPROFD_DAEMON_HEAP_HEAP_HOLDER_H
#define PIEPROFD_DAEMON_HEAP_HEAP_HOLDER_H

#include "pyintrospect/heap/heap_snapshot.h"

#define HEAP_HOLDER_STEPS_MAX 64

struct heap_holder {
	uint32_t path;
	uint64_t count; /* objects right there */
	uint64_t bytes; /* of all that it leads to */
};

/*
 * The largest ones, at most limit, none inside of another. *ret_holders is the caller's to
 * free. 0 or -ENOMEM.
 */
__attribute__((warn_unused_result)) int heap_holders_choose(const struct heap_snapshot *snapshot,
							    size_t limit,
							    struct heap_holder **ret_holders,
							    size_t *ret_count);

/* All paths that hold something, the largest first; likewise. */
__attribute__((warn_unused_result)) int heap_holders_all(const struct heap_snapshot *snapshot,
							 size_t limit,
							 struct heap_holder **ret_holders,
							 size_t *ret_count);

/* "app.cache{*}.lines[*]", cut in its middle where it is too long. */
void heap_holder_words(const struct heap_snapshot *snapshot, uint32_t path, char *words,
		       size_t size);

/* The name of a path's type; "" of none. */
const char *heap_holder_type(const struct heap_snapshot *snapshot, uint32_t path);

#endif

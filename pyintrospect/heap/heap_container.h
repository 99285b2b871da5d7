/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Lists, dicts, sets, deques and the like by their addresses, each with how much is in it: one that
 * has more in it look after look is what grows.
 *
 * The word that tells the length is never the first one of a block, which counts references or
 * links the collector's list: the word may be watched, as it changes with the length alone.
 */
#ifndef PIEPROFD_PYINTROSPECT_HEAP_HEAP_CONTAINER_H
#define PIEPROFD_PYINTROSPECT_HEAP_HEAP_CONTAINER_H

#include "pyintrospect/heap/heap_walk.h"

#define HEAP_CONTAINERS_MAX 8192

struct heap_container {
	remote_addr address; /* of the object */
	remote_addr type;    /* of its type */
	remote_addr length_at;
	uint64_t length;
	uint32_t path; /* by which it was found first */
	uint16_t type_number;
};

struct heap_containers {
	struct heap_container *items; /* in no order */
	size_t count;
	uint64_t left_out; /* those with fewer entries than `shortest` */
	uint64_t shortest;
};

/*
 * The longest ones, of the objects that the walk has reached. The caller frees items. 0 or
 * -ENOMEM.
 */
__attribute__((warn_unused_result)) int heap_containers_list(
	const struct heap_walk *walk, struct heap_containers *ret_containers);

#endif

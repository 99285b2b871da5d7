/* SPDX-License-Identifier: Apache-2.0 */
/*
 * References of which the copy does not have the object, noted to be read of the process later:
 * heap_young.h says what for.
 */
#ifndef PIEPROFD_PYINTROSPECT_HEAP_HEAP_MEND_H
#define PIEPROFD_PYINTROSPECT_HEAP_HEAP_MEND_H

#include "pyintrospect/heap/heap_nodes.h"

#define HEAP_MENDS_MAX   (1u << 16)
#define HEAP_MEND_OTHERS 64

/* A step: the path is the object's own. */
#define HEAP_MEND_SAME UINT32_MAX

struct heap_mend {
	remote_addr address;
	uint32_t path, step; /* of who refers to it; path 0: it is a root */
};

struct heap_mends {
	const struct heap_nodes *nodes; /* borrowed */
	struct heap_mend *items;
	size_t count, capacity, done;
	remote_addr *noted; /* by hash; NULL: none yet */
	size_t noted_count;
	/* Pages of libraries and the like, to which many objects refer: by their number. */
	remote_addr others[HEAP_MEND_OTHERS];
	bool typed;        /* what is followed now are fields of objects, or variables */
	bool at_work;      /* what is followed now was read of the process */
	uint64_t left_out; /* there were more than HEAP_MENDS_MAX */
	uint64_t objects;  /* that were read so */
};

void heap_mends_init(struct heap_mends *mends, const struct heap_nodes *nodes);
void heap_mends_deinit(struct heap_mends *mends);

/* Whether an object may be at this address which the copy does not have, and nobody noted. */
bool heap_mends_wants(struct heap_mends *mends, remote_addr address);

/* Notes it to be read later, if it is wanted. */
void heap_mends_note(struct heap_mends *mends, remote_addr address, uint32_t path, uint32_t step);

/* Of one that is read with its owner: whether it was wanted. */
bool heap_mends_mark(struct heap_mends *mends, remote_addr address);

/* Whether an object of the copy looks otherwise in the process by now. */
bool heap_mends_differ(const struct heap_mends *mends, remote_addr address, uint64_t size);

#endif

/* SPDX-License-Identifier: Apache-2.0 */
/*
 * References to objects that are younger than the copy of their page: memory is copied one page
 * after the other while the process runs, so that an owner may know what its page does not.
 *
 *   time    --------------------------------------------------------->
 *           page of links copied            page of the head copied
 *                            a new first link is made: head -> new -> old -> older ...
 *
 * In the copy nothing leads from the head to the old links then. When all else is done, such an
 * object is read of the process itself for what it refers to, from which it goes on in the copy. It
 * is not counted: nor is what took its place since the copy left out.
 *
 * Where the new link's block had another object when its page was copied, nothing looks wrong. So
 * when much is reached by nobody, all that was reached is compared with what the process has by
 * now, and what differs is followed as it is now.
 */
#ifndef PIEPROFD_PYINTROSPECT_HEAP_HEAP_MEND_H
#define PIEPROFD_PYINTROSPECT_HEAP_HEAP_MEND_H

#include "common/address.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define HEAP_MENDS_MAX   (1u << 16)
#define HEAP_MEND_OTHERS 64

struct heap_walk;

/* A step: the path is the object's own. */
#define HEAP_MEND_SAME UINT32_MAX

struct heap_mend {
	remote_addr address;
	uint32_t path, step; /* of who refers to it; path 0: it is a root */
};

struct heap_mends {
	struct heap_mend *items;
	size_t count, capacity, done;
	remote_addr *noted; /* by hash; NULL: none yet */
	size_t noted_count;
	/* Pages of libraries and the like, to which many objects refer: by their number. */
	remote_addr others[HEAP_MEND_OTHERS];
	bool at_work;       /* what is followed now was read of the process */
	bool cut;           /* there were more than HEAP_MENDS_MAX */
	uint64_t objects;   /* that were read so */
};

void heap_mends_deinit(struct heap_mends *mends);

/* Whether an object may be at this address which the copy does not have, and nobody noted. */
bool heap_mends_wants(struct heap_walk *walk, remote_addr address);

/* Notes it to be read later, if it is wanted. */
void heap_mends_note(struct heap_walk *walk, remote_addr address, uint32_t path, uint32_t step);

/* Of one that is read with its owner: whether it was wanted. */
bool heap_mends_mark(struct heap_walk *walk, remote_addr address);

/* Whether an object of the copy looks otherwise in the process by now. */
bool heap_mends_differ(const struct heap_walk *walk, remote_addr address, uint64_t size);

/* Notes what was reached and has changed since, if much was not reached. 0 or -ENOMEM. */
__attribute__((warn_unused_result)) int heap_mends_compare(struct heap_walk *walk);

/* Reads all that is noted, and follows what that refers to. */
void heap_mends_follow(struct heap_walk *walk);

#endif

/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Where the functions are by which a process allocates, for probes (attach/allocation_probes.h):
 *
 *   CPython's own    its table of allocators, which says where they begin, stripped or not
 *   malloc() ...     of the C library, or of the allocator that is loaded in its place
 *
 * Compilers may have put a copy of CPython's own into each of its callers. A probe at the function
 * itself sees next to nothing then: that is told, and there is none.
 */
#ifndef PIEPROFD_DAEMON_CAPTURE_ALLOCATOR_PLACES_H
#define PIEPROFD_DAEMON_CAPTURE_ALLOCATOR_PLACES_H

#include "attach/allocation_probes.h"
#include "daemon/capture/allocator_view.h"
#include "daemon/capture/target.h"

#define ALLOCATOR_FILES_MAX 2

enum allocator_scope {
	ALLOCATORS_ALL,
	ALLOCATORS_OF_LIBRARY, /* malloc() and its like alone */
};

struct allocator_places {
	struct allocation_place items[ALLOCATION_PLACES_MAX];
	size_t count;
	int fds[ALLOCATOR_FILES_MAX]; /* owned */
	size_t fd_count;
	enum allocator_view python;
	bool library; /* malloc() was found */
};

/* Reads, nothing else; never while a thread is stopped. Deinit in any case. */
void allocator_places_find(struct target *target, enum allocator_scope scope,
			   struct allocator_places *ret_places);
void allocator_places_deinit(struct allocator_places *places);

/* ---- parts, by themselves for tests ---- */

/* Functions of one table, as PyMemAllocatorEx has them. */
struct allocator_row {
	uint64_t make, make_zeroed, resize, release;
};

/*
 * In words of an interpreter's data: the tables of which its debug hooks are in front, for memory
 * and for objects. code: where functions may lie. False: there are none there.
 */
bool allocator_rows_find(const uint64_t *words, size_t count, struct address_range code,
			 struct allocator_row *ret_memory, struct allocator_row *ret_objects);

/* How often code that lies at address refers to a function otherwise than by calls. */
size_t allocator_references(const uint8_t *code, size_t size, uint64_t address, uint64_t function);

#endif

/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A thread's stack as one unwind sees it: the snapshot, and where that ends too
 * early (a signal handler on its own stack, a deep recursion) one further piece
 * read from the target on demand, a bounded number of times.
 */
#ifndef PIEPROFD_SYMBOLIZE_STACK_VIEW_H
#define PIEPROFD_SYMBOLIZE_STACK_VIEW_H

#include "common/memory.h"
#include "common/stack_snapshot.h"

#define STACK_VIEW_PAGE_BYTES 4096
#define STACK_VIEW_PAGES      9
/* 8 pieces of 32 KB reach as deep as the 256 frames or so that anybody looks at. */
#define STACK_VIEW_READS_MAX 8

struct stack_view {
	const struct memory_reader *reader; /* NULL: the snapshot only */
	struct stack_snapshot snapshot;
	struct stack_snapshot piece; /* bytes in buffer */
	unsigned int reads_left;     /* in this unwind */
	uint64_t reads;              /* over the view's life */
	uint8_t buffer[STACK_VIEW_PAGES * STACK_VIEW_PAGE_BYTES];
};

/* Begins a new unwind: what was read on demand in the last one is forgotten. */
static inline void stack_view_begin(struct stack_view *view, const struct stack_snapshot *snapshot)
{
	view->snapshot = *snapshot;
	view->piece.size = 0;
	view->reads_left = STACK_VIEW_READS_MAX;
}

/* Out of what has been copied already. */
static inline int stack_view_peek(const struct stack_view *view, remote_addr address, void *buffer,
				  size_t size)
{
	if (stack_snapshot_read(&view->snapshot, address, buffer, size) == 0)
		return 0;
	return stack_snapshot_read(&view->piece, address, buffer, size);
}

/* Reads a piece around [address, address + size) from the target; -EFAULT, -ESRCH. */
__attribute__((warn_unused_result)) int stack_view_fetch(struct stack_view *view,
							 remote_addr address, void *buffer,
							 size_t size);

__attribute__((warn_unused_result)) static inline int stack_view_read(struct stack_view *view,
								      remote_addr address,
								      void *buffer, size_t size)
{
	if (stack_view_peek(view, address, buffer, size) == 0)
		return 0;
	return stack_view_fetch(view, address, buffer, size);
}

__attribute__((warn_unused_result)) static inline int stack_view_read_u64(struct stack_view *view,
									  remote_addr address,
									  uint64_t *ret_value)
{
	return stack_view_read(view, address, ret_value, sizeof(*ret_value));
}

#endif

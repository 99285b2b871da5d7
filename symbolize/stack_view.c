/* SPDX-License-Identifier: Apache-2.0 */
#include "symbolize/stack_view.h"

/* A frame's saved registers lie below its return address, which is read first. */
#define BYTES_BELOW 512

int stack_view_fetch(struct stack_view *view, remote_addr address, void *buffer, size_t size)
{
	struct memory_range ranges[STACK_VIEW_PAGES];
	remote_addr start = (address - BYTES_BELOW) & ~(remote_addr)(STACK_VIEW_PAGE_BYTES - 1);
	size_t wanted_page, first, last;
	int error;

	/* Neither page 0 nor the kernel's half holds a stack. */
	if (!view->reader || address < STACK_VIEW_PAGE_BYTES + BYTES_BELOW ||
	    address > INT64_MAX - sizeof(view->buffer))
		return -EFAULT;
	if (view->reads_left == 0)
		return -EFAULT;
	view->reads_left--;
	view->reads++;

	/* One range a page: those that are not mapped must not spoil the others. */
	for (size_t i = 0; i < STACK_VIEW_PAGES; i++)
		ranges[i] = (struct memory_range){
			.address = start + i * STACK_VIEW_PAGE_BYTES,
			.buffer = view->buffer + i * STACK_VIEW_PAGE_BYTES,
			.size = STACK_VIEW_PAGE_BYTES,
		};
	view->piece.size = 0;
	error = memory_read_ranges(view->reader, ranges, STACK_VIEW_PAGES);
	if (error)
		return error;
	wanted_page = (address - start) / STACK_VIEW_PAGE_BYTES;
	if (ranges[wanted_page].error)
		return ranges[wanted_page].error;
	first = wanted_page;
	while (first > 0 && !ranges[first - 1].error)
		first--;
	last = wanted_page;
	while (last + 1 < STACK_VIEW_PAGES && !ranges[last + 1].error)
		last++;
	view->piece = (struct stack_snapshot){
		.start = ranges[first].address,
		.size = (last - first + 1) * STACK_VIEW_PAGE_BYTES,
		.bytes = ranges[first].buffer,
	};
	return stack_snapshot_read(&view->piece, address, buffer, size);
}

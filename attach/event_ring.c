/* SPDX-License-Identifier: Apache-2.0 */
#include "attach/event_ring.h"

#include <errno.h>
#include <linux/perf_event.h>
#include <string.h>
#include <sys/mman.h>

#define PAGE_BYTES 4096u

int event_ring_map(struct event_ring *ring, int fd)
{
	void *pages = mmap(NULL, 2 * PAGE_BYTES, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);

	/* EPERM, as of an event that is not permitted. */
	if (pages == MAP_FAILED)
		return errno == EPERM ? -ENOBUFS : -errno;
	*ring = (struct event_ring){ .pages = pages };
	return 0;
}

void event_ring_unmap(struct event_ring *ring)
{
	if (ring->pages)
		munmap(ring->pages, 2 * PAGE_BYTES);
	*ring = (struct event_ring){ 0 };
}

/* Copies size bytes at a position that may wrap. */
static void copy_from_ring(const struct event_ring *ring, uint64_t position, void *buffer,
			   size_t size)
{
	const uint8_t *data = (const uint8_t *)ring->pages + PAGE_BYTES;
	size_t at = position % PAGE_BYTES;
	size_t first = size < PAGE_BYTES - at ? size : PAGE_BYTES - at;

	memcpy(buffer, data + at, first);
	memcpy((uint8_t *)buffer + first, data, size - first);
}

bool event_ring_next(struct event_ring *ring, struct event_ring_record *ret_record)
{
	struct perf_event_mmap_page *page = ring->pages;
	bool found = false;
	uint64_t head;

	if (!page)
		return false;
	head = __atomic_load_n(&page->data_head, __ATOMIC_ACQUIRE);
	while (!found && ring->tail < head) {
		struct perf_event_header header;

		copy_from_ring(ring, ring->tail, &header, sizeof(header));
		if (header.size < sizeof(header) || header.size > head - ring->tail) {
			ring->tail = head; /* cannot happen; never loop on it, nor pass it */
			break;
		}
		if (header.size <= EVENT_RECORD_BYTES_MAX) {
			ret_record->type = header.type;
			ret_record->size = header.size;
			copy_from_ring(ring, ring->tail, ret_record->bytes, header.size);
			found = true;
		}
		ring->tail += header.size;
	}
	__atomic_store_n(&page->data_tail, ring->tail, __ATOMIC_RELEASE);
	return found;
}

bool event_ring_pending(const struct event_ring *ring)
{
	const struct perf_event_mmap_page *page = ring->pages;

	return page && __atomic_load_n(&page->data_head, __ATOMIC_ACQUIRE) != ring->tail;
}

/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The ring into which the kernel writes the records of one thread's perf
 * events: two pages, one of them data. The kernel is trusted, positions are
 * masked all the same.
 */
#ifndef PIEPROFD_ATTACH_EVENT_RING_H
#define PIEPROFD_ATTACH_EVENT_RING_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define EVENT_RECORD_BYTES_MAX 128

struct event_ring {
	void *pages; /* NULL: not mapped */
	uint64_t tail;
};

/* A record as the kernel wrote it, header first. */
struct event_ring_record {
	uint32_t type; /* PERF_RECORD_* */
	size_t size;
	uint8_t bytes[EVENT_RECORD_BYTES_MAX];
};

/* Maps the ring of the event fd. 0 or a negative errno; -ENOBUFS: the user may lock no more memory.
 */
__attribute__((warn_unused_result)) int event_ring_map(struct event_ring *ring, int fd);
void event_ring_unmap(struct event_ring *ring);

/* Takes the oldest record out. False: there is none. Longer ones are passed over. */
bool event_ring_next(struct event_ring *ring, struct event_ring_record *ret_record);

bool event_ring_pending(const struct event_ring *ring);

#endif

/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A ring into which the program in the kernel (bpf/clock.bpf.c) puts the samples of one process. To
 * make one and to map it takes 2 to 3 ms of CPU time, as much as a fifth of an attach: while rings
 * are kept, one that is given back is emptied and serves the next process.
 *
 * Any thread may open and close; a ring is one thread's.
 */
#ifndef PIEPROFD_ATTACH_CLOCK_RING_H
#define PIEPROFD_ATTACH_CLOCK_RING_H

#include <stdbool.h>
#include <stddef.h>

/* Kept at most, of any sizes: further ones go when they are closed. */
#define CLOCK_RINGS_KEPT 4

struct clock_ring;

/* bytes: a power of two. 0 or a negative errno. */
__attribute__((warn_unused_result)) int clock_ring_open(size_t bytes, struct clock_ring **ret_ring);
/*
 * NULL: nothing. Once the program does not know it any more: what is in it is dropped. The kernel
 * waits for the program where a ring is taken from it (clock_hub_leave()), so that nothing comes
 * after that.
 */
void clock_ring_close(struct clock_ring *ring);

/* The map, for the program. */
int clock_ring_fd(const struct clock_ring *ring);

/*
 * Calls take for each record there is, until it returns a negative number; a record that it was
 * called for is taken out in any case.
 */
void clock_ring_read(struct clock_ring *ring, int (*take)(void *context, void *data, size_t size),
		     void *context);

/* Whether closed ones are kept from now on; if not, those that were kept go. */
void clock_ring_keep(bool keep);

#endif

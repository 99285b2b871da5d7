/* SPDX-License-Identifier: Apache-2.0 */
/*
 * When a thread's clocks run that is put on a processor so often that programming them there takes
 * more than may be spent on it: not in all ticks, but in one of so many as keep that.
 * Pure.
 *
 *   |- - - - X - -|- X - - - - -|        a block of 7 each; in which of its slices, chance says
 *
 * Each slice is as likely as any other: so samples, each counted as often as there are slices in
 * its block, stand for all of the thread's time.
 */
#ifndef PIEPROFD_DAEMON_SAMPLE_CLOCK_BREAKS_H
#define PIEPROFD_DAEMON_SAMPLE_CLOCK_BREAKS_H

#include <stdbool.h>
#include <stdint.h>

/* A block lasts some 1.6 s then. What costs more goes beyond the limit, and is told. */
#define CLOCK_BREAKS_PARTS_MAX 32

/* All zeros: the clocks run all the time. */
struct clock_breaks {
	unsigned parts;  /* slices of the block; 0: as 1 */
	unsigned at;     /* in it */
	unsigned chosen; /* in which the clocks run */
};

/*
 * The next slice begins. Do they run in it? A new block has at least so many slices, and at most
 * fewer_parts, no less: no to and fro. Where half as many as it has would do, it ends at once.
 * random: the generator's state.
 */
bool clock_breaks_next(struct clock_breaks *breaks, unsigned parts, unsigned fewer_parts,
		       uint64_t *random);

/* Is there any slice in which they do not? */
bool clock_breaks_any(const struct clock_breaks *breaks);

#endif

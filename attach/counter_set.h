/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Counters of one thread: the kernel's own, and those of the processor's PMU where there is one.
 * Each is a perf event that only counts: it stops nobody, has no ring, and nothing is written to
 * the thread. The kernel puts it on and off the processor together with the thread, which is all
 * that it costs.
 *
 *   counter_set_open()   from now on they count
 *   counter_set_read()   how far they are; also when the thread has ended
 */
#ifndef PIEPROFD_ATTACH_COUNTER_SET_H
#define PIEPROFD_ATTACH_COUNTER_SET_H

#include "common/error.h"

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

enum counter_kind {
	COUNTER_CPU, /* nanoseconds on a processor */
	COUNTER_SWITCHES,
	COUNTER_MIGRATIONS, /* from one processor to another */
	COUNTER_FAULTS,
	COUNTER_MAJOR_FAULTS,
	COUNTER_INSTRUCTIONS, /* of the PMU, from here on */
	COUNTER_CYCLES,
	COUNTER_CACHE_MISSES,
	COUNTER_KINDS,
};

struct counter_set {
	int fds[COUNTER_KINDS]; /* -1: is not counted */
};

/* "cpu", "context-switches" and so on, as perf(1) names most of them. */
const char *counter_name(enum counter_kind kind);
/* -1: there is none of that name. */
int counter_find(const char *name, size_t length);

/*
 * kinds: a bit for each. 0 or a negative errno: -ENOENT, -EOPNOTSUPP: the machine has no such
 * counter (a PMU's, mostly); -ESRCH: the thread is gone; -EACCES, -EMFILE. Nothing is left open
 * then.
 */
__attribute__((warn_unused_result)) int counter_set_open(struct counter_set *set, pid_t tid,
							 unsigned kinds);
void counter_set_close(struct counter_set *set);

/*
 * Totals since it was opened; of a PMU's counter that had to share the hardware, what it would have
 * counted at the rate that it was seen to count. Bits of those that are not known are not set in
 * *ret_known: the PMU was never there for it.
 */
void counter_set_read(const struct counter_set *set, uint64_t ret_values[static COUNTER_KINDS],
		      unsigned *ret_known);

/* Whether this machine has all of them, tried on the calling thread. 0, or a negative errno with
 * *error filled. */
__attribute__((warn_unused_result)) int counter_set_check(unsigned kinds, struct error *error);

#endif

/* SPDX-License-Identifier: Apache-2.0 */
/*
 * How fast this machine copies memory, by the size of a copy: measured by copies of the daemon's
 * own, once, in some 10 ms. Whether what is copied lies in the processor's caches makes more
 * difference than anything else, and no sample shows it, so there are two rates of each size.
 */
#ifndef PIEPROFD_DAEMON_SAMPLE_COPY_RATE_H
#define PIEPROFD_DAEMON_SAMPLE_COPY_RATE_H

#include <stdbool.h>
#include <stdint.h>

/* Bytes a nanosecond; low is not above high. */
struct copy_rate {
	double low;  /* from and to RAM */
	double high; /* what was copied just before, as far as caches hold it */
};

#define COPY_RATE_SIZES 9

struct copy_rates {
	struct copy_rate items[COPY_RATE_SIZES]; /* of 64 bytes, 256, 1024 ... 4 MiB and more */
};

/* False: out of memory, or the clock cannot be read. */
bool copy_rates_measure(struct copy_rates *ret_rates);

/* Those of this machine, measured when they are first asked for. NULL: not to be had. */
const struct copy_rates *copy_rates_own(void);

/* Of the nearest smaller size that was measured. */
struct copy_rate copy_rates_of(const struct copy_rates *rates, uint64_t bytes);

#endif

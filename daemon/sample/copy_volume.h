/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What a process copies, by line: which part of its time in user code it spends in its C
 * library's copying (copy_routine.h), and about how many bytes that moves.
 *
 *   a sample of the clock --> in such code? --> its time              --> node, thread
 *                                               x this machine's rates --> bytes, from and to
 *
 * A sample that stands for a time T meets a copy by chance in proportion to how long the copies
 * take, so that T at the rate of a copy of its size is what they moved, on average: no copy need
 * be counted, and nothing is in the target. The time is a sample's, as all time is; the rate is
 * measured on this machine (copy_rate.h) and not in the target, so bytes are told from and to.
 *
 * Copies that compilers put in place, and loops of numpy's that copy element by element, are not
 * among them.
 */
#ifndef PIEPROFD_DAEMON_SAMPLE_COPY_VOLUME_H
#define PIEPROFD_DAEMON_SAMPLE_COPY_VOLUME_H

#include "daemon/capture/copy_routine.h"
#include "daemon/cct/side_time.h"
#include "daemon/sample/copy_rate.h"

/* All zeros is a valid one, too, that finds nothing. */
struct copy_volume {
	struct address_ranges code;
	const struct copy_rates *rates; /* NULL: not known; then nothing is */
};

/* Reads the target, and takes some 10 ms when it is the first. */
void copy_volume_init(struct copy_volume *copies, struct target *target);

bool copy_volume_known(const struct copy_volume *copies);

/* A sample of user code that stands for so much time; either of the two may be NULL. */
void copy_volume_charge(const struct copy_volume *copies, const struct target *target,
			const struct registers *registers, uint64_t time_ns, struct side_time *node,
			struct side_time *thread);

#endif

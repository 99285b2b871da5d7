/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Whether a system call that a signal interrupted is worth another try.
 *
 * Files on disk and in /proc interrupt nobody; FUSE and network file systems do,
 * once a signal. What is interrupted again and again will not succeed, and a
 * loop without an end would hold the thread of the target that waits for us.
 */
#ifndef PIEPROFD_COMMON_INTERRUPTED_H
#define PIEPROFD_COMMON_INTERRUPTED_H

#include <errno.h>
#include <stdbool.h>
#include <sys/types.h>

#define INTERRUPTED_MAX 256

/* What the call returned, and errno; times: 0 at first, one for each loop. */
static inline bool interrupted(ssize_t returned, unsigned *times)
{
	return returned < 0 && errno == EINTR && (*times)++ < INTERRUPTED_MAX;
}

#endif

/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What a sleeping thread waits for, by the system call it sleeps in. Which lock
 * a futex belongs to is told by its address: symbols would not do, since the
 * interpreter's functions that wait are static, and most interpreters stripped.
 */
#ifndef PIEPROFD_DAEMON_SAMPLE_WAIT_KIND_H
#define PIEPROFD_DAEMON_SAMPLE_WAIT_KIND_H

#include "attach/procfs.h"
#include "daemon/cct/side_time.h"

/* gil_locks: pyintrospect/gil.h, gil_read_locks(). */
enum wait_kind wait_kind_of(const struct process_sleep *sleep,
			    const struct address_ranges *gil_locks);

#endif

/* SPDX-License-Identifier: Apache-2.0 */
/* Whether a process that nobody traces has ended, or become another program. */
#ifndef PIEPROFD_DAEMON_SAMPLE_PROGRAM_WATCH_H
#define PIEPROFD_DAEMON_SAMPLE_PROGRAM_WATCH_H

#include "common/address.h"

#include <stdint.h>
#include <sys/stat.h>
#include <sys/types.h>

enum program_state {
	PROGRAM_RUNS,
	PROGRAM_EXITED,
	PROGRAM_REPLACED, /* it called exec */
};

struct program_watch {
	uint64_t seen_ns;
	struct stat program; /* st_ino 0: unknown */
	remote_addr stack; /* where it began: moves when a program calls itself anew; 0: unknown */
};

void program_watch_begin(struct program_watch *watch, pid_t pid);

/* Every so often; which program it is, once a second. */
enum program_state program_watch_look(struct program_watch *watch, pid_t pid, uint64_t now_ns);

#endif

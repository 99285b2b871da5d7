/* SPDX-License-Identifier: Apache-2.0 */
/* Whether a process that nobody traces has ended, or become another program. */
#ifndef PIEPROFD_DAEMON_SAMPLE_PROGRAM_WATCH_H
#define PIEPROFD_DAEMON_SAMPLE_PROGRAM_WATCH_H

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
};

void program_watch_begin(struct program_watch *watch, pid_t pid);

/* Every so often; the program's file is looked at once a second. */
enum program_state program_watch_look(struct program_watch *watch, pid_t pid, uint64_t now_ns);

#endif

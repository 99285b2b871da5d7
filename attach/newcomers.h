/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Which processes have begun: by the numbers that the kernel has given out since
 * the last look. It gives them out in order and tells the last one
 * (/proc/loadavg), so that a look costs what there is of new processes and
 * threads, and next to nothing when there is none, however many processes there
 * are.
 *
 * Not seen that way are processes whose number was chosen (a restored
 * checkpoint), and one that the kernel takes more than NEWCOMERS_LOOKS looks to
 * make after it has given it its number.
 *
 * Where the kernel does not tell (LXC puts another file there, or /proc is another
 * pid namespace's) the processes are listed and compared with the list before: one
 * system call for some hundred of them.
 */
#ifndef PIEPROFD_ATTACH_NEWCOMERS_H
#define PIEPROFD_ATTACH_NEWCOMERS_H

#include "common/pid_list.h"

#include <stdbool.h>

/* A number is given out before the process can be seen: it is looked at so often. */
#define NEWCOMERS_LOOKS 3
/* More numbers since the last look, and all processes are told. */
#define NEWCOMERS_MAX 4096

struct newcomers {
	bool open;
	int fd; /* of the file that tells; -1: they are listed */
	pid_t last[NEWCOMERS_LOOKS];
	struct pid_list listed; /* in order */
};

/* Of processes that begin from now on. 0 or a negative errno; newcomers_close() is good for both.
 */
__attribute__((warn_unused_result)) int newcomers_open(struct newcomers *newcomers);
void newcomers_close(struct newcomers *newcomers);

struct newcomer {
	pid_t pid, parent;
};

/*
 * Calls found for each process that may be new, a parent before its children; also
 * for some that were told before, and for all there are where the numbers have
 * begun anew. 0 or a negative errno.
 */
__attribute__((warn_unused_result)) int newcomers_look(
	struct newcomers *newcomers, void (*found)(void *context, const struct newcomer *newcomer),
	void *context);

#endif

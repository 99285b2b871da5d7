/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Processes that may have become something since they began: looked at by their numbers
 * (last_pid.h) when they are some looks old, at 2, 4, 8 and 16 of them. Most call exec at once, or
 * are gone by then, and whatever they are costs no more than four looks at each.
 *
 *   number:      ...  last[16] ... last[15] ...  last[4] .. last[3] .. last[2] .. last[1] ..
 * last[0] looked at:        (at 16 looks)        (8)   (at 4)                (at 2) now
 *
 * Not seen are those that become something later, and those that come when the numbers begin anew
 * or are given out by the thousand. Where the kernel does not tell, nothing is seen. newcomers.h
 * meets every process, at once and with its parent, for more.
 */
#ifndef PIEPROFD_ATTACH_BIRTHS_H
#define PIEPROFD_ATTACH_BIRTHS_H

#include <stdbool.h>
#include <sys/types.h>

#define BIRTHS_LOOKS 16
/* More numbers in a look are passed over. */
#define BIRTHS_MAX 1024

struct births {
	int fd;                       /* -1: the kernel does not tell; 0: not opened */
	pid_t last[BIRTHS_LOOKS + 1]; /* given out by this look, by the one before it, and so on */
};

/* Of processes that begin from now on. 0 or a negative errno; births_close() is good for all. */
__attribute__((warn_unused_result)) int births_open(struct births *births);
void births_close(struct births *births);

/*
 * Calls born for each number that is now of such an age, which may be a thread's, or nobody's any
 * more. looks: how many ago it was given out.
 */
void births_look(struct births *births, void (*born)(void *context, pid_t pid, unsigned looks),
		 void *context);

#endif

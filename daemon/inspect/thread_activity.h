/* SPDX-License-Identifier: Apache-2.0 */
/* What a thread does now, as far as the kernel and the GIL tell. */
#ifndef PIEPROFD_DAEMON_INSPECT_THREAD_ACTIVITY_H
#define PIEPROFD_DAEMON_INSPECT_THREAD_ACTIVITY_H

enum thread_activity {
	THREAD_RUNNING,
	THREAD_SLEEPING, /* in a system call, or for memory */
	THREAD_STOPPED,  /* by SIGSTOP and the like */
	THREAD_GIL_WAIT, /* sleeping, for the GIL */
	THREAD_ACTIVITY_COUNT
};

const char *thread_activity_name(enum thread_activity activity); /* "running" ... */

/* By the state's letter in /proc. */
enum thread_activity thread_activity_of(char state);

#endif

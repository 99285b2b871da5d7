/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A thread that watches the tracers': no thread of a target shall wait for one
 * that is held up, by a bug or by the kernel. One for all of them, which is there
 * while any is watched: hundreds of threads that wake up only to look would cost a
 * good part of a processor.
 *
 * It counts wake-ups of its own, not time: a daemon that was itself stopped, or
 * starved, has not hung. After RELIEF_LOOKS without progress it has the tracer
 * relieved (attach/relief.h), again and again while that lasts. When the
 * tracer's thread does not even take the signal for LAST_LOOKS, because it
 * waits in the kernel for something that does not come (a page of the target
 * that a userfaultfd or a file system does not deliver), and threads of the
 * target wait for it, only the end of the whole daemon lets go of them: that is
 * last_resort's to do. So it is where the tracer's thread was to end and does
 * not: relieved, it does no harm, but nobody could end the daemon by asking.
 */
#ifndef PIEPROFD_ATTACH_WATCHDOG_H
#define PIEPROFD_ATTACH_WATCHDOG_H

#include "attach/relief.h"

#define WATCHDOG_LOOK_NS      (50 * 1000000ull)
#define WATCHDOG_RELIEF_LOOKS 4u
#define WATCHDOG_LAST_LOOKS   20u
#define WATCHDOG_END_LOOKS    200u

/* What was seen of a tracer's thread. */
struct watchdog_look {
	uint64_t turn;
	unsigned same;     /* looks at which the tracer was at work on that turn */
	uint64_t answered; /* signals that it had taken */
	unsigned ignored;  /* sent since without being taken */
	unsigned overdue;  /* looks at which it should have come to its end */
};

struct watchdog {
	pid_t pid;
	pthread_t tracer;
	struct relief *relief;
	void (*last_resort)(void *context); /* does not return; NULL: the daemon just ends */
	void *context;
	bool running;
	unsigned end_looks; /* without progress, then last_resort; 0: no end is expected */
	/* The watching thread's. */
	struct watchdog_look last;
	struct watchdog *next;
};

/*
 * Watches the thread `tracer`, which traces pid and has called relief_begin()
 * or will do so before its first turn. 0 or a negative errno.
 */
__attribute__((warn_unused_result)) int watchdog_start(struct watchdog *watchdog, pid_t pid,
						       pthread_t tracer, struct relief *relief,
						       void (*last_resort)(void *context),
						       void *context);
/* The tracer's thread was asked to end, and is waited for: WATCHDOG_END_LOOKS. */
void watchdog_expect_end(struct watchdog *watchdog, unsigned looks);
/* When the tracer's thread has ended, or can no longer be held up. One that never ran may be ended.
 */
void watchdog_end(struct watchdog *watchdog);

#endif

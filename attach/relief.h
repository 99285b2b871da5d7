/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Lets go of the target's threads while the tracer's own thread is held up.
 *
 * Only the thread that traces may continue what it traces. So the tracer says
 * here what it is about, and when it makes no progress, a watchdog
 * (attach/watchdog.h) sends its thread a signal whose handler continues the
 * thread in hand and answers every further stop, by system calls alone. The
 * handler runs whatever the tracer does, but for waits in the kernel that no
 * signal ends: those are the watchdog's to notice.
 *
 *   tracer's thread                    watchdog            handler, in the tracer's thread
 *   turn++ at every report             the same odd turn
 *   hold(tid) ... stopped ...          seen too often ---> take() and continue it,
 *   take(): still ours? continue it                        answer other stops, disarm their events
 *   recover() what was done meanwhile
 *
 * A stop is continued once: by whoever takes it first.
 */
#ifndef PIEPROFD_ATTACH_RELIEF_H
#define PIEPROFD_ATTACH_RELIEF_H

#include "attach/stop.h"

#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#define RELIEF_BORN_MAX 64

struct relief {
	/* Odd: the tracer is at work since the last change; even: it waits for reports. */
	uint64_t turn;
	uint64_t suspected; /* the turn that takes too long; 0: none */
	uint64_t answered;  /* how often the handler has run */
	uint64_t held;      /* the stop in hand: see relief.c; 0: none */
	pid_t pid;
	int stop_signal;
	/* Written by the handler, read by the tracer between two turns. */
	uint64_t let_go; /* stops that the handler has ended */
	bool replaced;   /* one of them was the process's exec */
	size_t born_count;
	pid_t born[RELIEF_BORN_MAX]; /* threads whose first stop may be among them */
};

/* Of the tracer of this process. */
void relief_init(struct relief *relief, pid_t pid, int stop_signal);
/* In the tracer's thread: from here on it can be relieved. 0 or a negative errno. */
__attribute__((warn_unused_result)) int relief_begin(struct relief *relief);
/* In the same thread: it never will be again. */
void relief_end(struct relief *relief);

/* The tracer goes to wait, or has got something to do. */
void relief_wait(struct relief *relief);
void relief_work(struct relief *relief);

/* This thread is stopped, and to be continued by what its stop asks for, with this signal. */
void relief_hold(struct relief *relief, pid_t tid, enum stop stop, int signal);
/* The signal is not to be delivered after all. */
void relief_drop_signal(struct relief *relief);
/* Before continuing it: false when the handler has done so. */
bool relief_take(struct relief *relief);

/* From another thread: asks that this turn of the tracer's thread be relieved. */
void relief_ask(struct relief *relief, pthread_t tracer, uint64_t turn);
uint64_t relief_turn(const struct relief *relief);
uint64_t relief_answered(const struct relief *relief);
bool relief_holds(const struct relief *relief);

#endif

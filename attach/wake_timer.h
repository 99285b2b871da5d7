/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Ends a wait of one thread after a while: a timer whose signal goes to that
 * thread alone, and whose arrival makes a blocking call return.
 *
 * The signal may arrive just before the call blocks: so it comes again until
 * the timer is disarmed.
 */
#ifndef PIEPROFD_ATTACH_WAKE_TIMER_H
#define PIEPROFD_ATTACH_WAKE_TIMER_H

#include <pthread.h>
#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <time.h>

struct wake_timer {
	timer_t timer;
	bool exists; /* false, as zeros are: none was made, nothing may be armed */
};

/* Of the calling thread, which must be the one that waits. 0 or a negative errno. */
__attribute__((warn_unused_result)) int wake_timer_init(struct wake_timer *timer);
/* Any thread. */
void wake_timer_deinit(struct wake_timer *timer);

void wake_timer_arm(const struct wake_timer *timer, uint64_t timeout_ns);
void wake_timer_disarm(const struct wake_timer *timer);

/*
 * The signal by which descriptors wake the thread, once at a time: it is held back but
 * while it is let in, which tells whether there was one before. Let in for a wait alone,
 * it cuts no other call short.
 */
#define WAKE_EVENT_SIGNAL SIGURG
bool wake_timer_let_in(void);
void wake_timer_hold_back(void);

/* At once, by another thread, once: the one that waits has made a timer. */
void wake_timer_wake(pthread_t thread);

#endif

/* SPDX-License-Identifier: Apache-2.0 */
#include "attach/wake_timer.h"

#include "common/clock.h"

#include <errno.h>
#include <unistd.h>

/* A thread's own: SIGCHLD, which goes to the process, would wake the tracer of another target. */
#define WAKE_SIGNAL   (SIGRTMIN + 5)
#define WAKE_AGAIN_NS (2 * NS_PER_MS)

static void set(const struct wake_timer *timer, uint64_t first_ns, uint64_t again_ns)
{
	struct itimerspec spec = { .it_value = clock_timespec(first_ns),
				   .it_interval = clock_timespec(again_ns) };

	(void)timer_settime(timer->timer, 0, &spec, NULL);
}

static void wake(int signal)
{
	(void)signal; /* the call has returned: that is all */
}

/* An event's, in this thread, since they were let in. */
static _Thread_local volatile sig_atomic_t event_came;

static void wake_by_event(int signal)
{
	(void)signal;
	event_came = 1;
}

static void mask_events(int how)
{
	sigset_t signals;

	sigemptyset(&signals);
	sigaddset(&signals, WAKE_EVENT_SIGNAL);
	(void)pthread_sigmask(how, &signals, NULL);
}

bool wake_timer_let_in(void)
{
	event_came = 0;
	mask_events(SIG_UNBLOCK);
	return event_came;
}

void wake_timer_hold_back(void)
{
	mask_events(SIG_BLOCK);
}

int wake_timer_init(struct wake_timer *timer)
{
	struct sigaction action = { .sa_handler = wake };
	struct sigaction by_event = { .sa_handler = wake_by_event };
	struct sigevent event = { .sigev_notify = SIGEV_THREAD_ID, .sigev_signo = WAKE_SIGNAL };
	sigset_t signals;

	event._sigev_un._tid = gettid();
	sigemptyset(&signals);
	sigaddset(&signals, WAKE_SIGNAL);
	wake_timer_hold_back();
	if (sigaction(WAKE_SIGNAL, &action, NULL) ||
	    sigaction(WAKE_EVENT_SIGNAL, &by_event, NULL) ||
	    pthread_sigmask(SIG_UNBLOCK, &signals, NULL) ||
	    timer_create(CLOCK_MONOTONIC, &event, &timer->timer))
		return -errno;
	timer->exists = true;
	return 0;
}

void wake_timer_deinit(struct wake_timer *timer)
{
	if (timer->exists)
		(void)timer_delete(timer->timer);
	timer->exists = false;
}

void wake_timer_arm(const struct wake_timer *timer, uint64_t timeout_ns)
{
	set(timer, timeout_ns, WAKE_AGAIN_NS);
}

void wake_timer_disarm(const struct wake_timer *timer)
{
	set(timer, 0, 0);
}

void wake_timer_wake(pthread_t thread)
{
	(void)pthread_kill(thread, WAKE_SIGNAL);
}

/* SPDX-License-Identifier: Apache-2.0 */
#include "attach/watchdog.h"

#include "attach/procfs.h"
#include "common/clock.h"
#include "common/error.h"

#include <errno.h>
#include <signal.h>
#include <time.h>
#include <unistd.h>

#define THREADS_LOOKED_AT 1024

struct look {
	uint64_t turn;
	unsigned same;     /* looks at which the tracer was at work on that turn */
	uint64_t answered; /* signals that it had taken */
	unsigned ignored;  /* sent since without being taken */
	unsigned overdue;  /* looks at which it should have come to its end */
};

/* Stopped, by us: in ptrace-stop, and not just asleep. */
static bool target_waits(const struct watchdog *watchdog)
{
	pid_t tids[THREADS_LOOKED_AT];
	size_t count = 0;

	if (relief_holds(watchdog->relief))
		return true;
	if (procfs_read_threads(watchdog->pid, tids, THREADS_LOOKED_AT, &count))
		return false;
	for (size_t i = 0; i < count; i++) {
		struct process_status status;

		if (!procfs_read_status(watchdog->pid, tids[i], &status) && status.state == 't')
			return true;
	}
	return false;
}

static void end_daemon(const struct watchdog *watchdog)
{
	if (watchdog->last_resort)
		watchdog->last_resort(watchdog->context);
	_exit(EXIT_INTERNAL);
}

static void look(const struct watchdog *watchdog, struct look *last)
{
	unsigned end_looks = __atomic_load_n(&watchdog->end_looks, __ATOMIC_RELAXED);
	uint64_t turn = relief_turn(watchdog->relief);
	uint64_t answered = relief_answered(watchdog->relief);

	if (turn % 2 == 0 || turn != last->turn) {
		*last = (struct look){ .turn = turn, .answered = answered };
		return;
	}
	if (end_looks && ++last->overdue > end_looks)
		end_daemon(watchdog);
	if (++last->same < WATCHDOG_RELIEF_LOOKS)
		return;
	if (answered != last->answered) {
		last->answered = answered;
		last->ignored = 0;
	}
	if (last->ignored++ < WATCHDOG_LAST_LOOKS) {
		relief_ask(watchdog->relief, watchdog->tracer, turn);
		return;
	}
	if (target_waits(watchdog))
		end_daemon(watchdog);
}

static void *watch(void *argument)
{
	struct watchdog *watchdog = argument;
	struct look last = { 0 };
	struct timespec until;

	pthread_mutex_lock(&watchdog->lock);
	while (!watchdog->end_wanted) {
		clock_gettime(CLOCK_MONOTONIC, &until);
		until.tv_nsec += (long)WATCHDOG_LOOK_NS;
		until.tv_sec += until.tv_nsec / (long)NS_PER_SECOND;
		until.tv_nsec %= (long)NS_PER_SECOND;
		if (pthread_cond_timedwait(&watchdog->changed, &watchdog->lock, &until) ==
		    ETIMEDOUT)
			look(watchdog, &last);
	}
	pthread_mutex_unlock(&watchdog->lock);
	return NULL;
}

int watchdog_start(struct watchdog *watchdog, pid_t pid, pthread_t tracer, struct relief *relief,
		   void (*last_resort)(void *context), void *context)
{
	pthread_condattr_t attributes;
	int error;

	*watchdog = (struct watchdog){
		.pid = pid,
		.tracer = tracer,
		.relief = relief,
		.last_resort = last_resort,
		.context = context,
	};
	pthread_mutex_init(&watchdog->lock, NULL);
	pthread_condattr_init(&attributes);
	pthread_condattr_setclock(&attributes, CLOCK_MONOTONIC);
	pthread_cond_init(&watchdog->changed, &attributes);
	pthread_condattr_destroy(&attributes);
	error = pthread_create(&watchdog->thread, NULL, watch, watchdog);
	watchdog->running = !error;
	return -error;
}

void watchdog_expect_end(struct watchdog *watchdog, unsigned looks)
{
	__atomic_store_n(&watchdog->end_looks, looks, __ATOMIC_RELAXED);
}

void watchdog_end(struct watchdog *watchdog)
{
	if (!watchdog->running)
		return;
	pthread_mutex_lock(&watchdog->lock);
	watchdog->end_wanted = true;
	pthread_cond_signal(&watchdog->changed);
	pthread_mutex_unlock(&watchdog->lock);
	pthread_join(watchdog->thread, NULL);
	watchdog->running = false;
	pthread_cond_destroy(&watchdog->changed);
	pthread_mutex_destroy(&watchdog->lock);
}

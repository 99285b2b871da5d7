/* SPDX-License-Identifier: Apache-2.0 */
#include "attach/watchdog.h"

#include "attach/procfs.h"
#include "common/clock.h"
#include "common/error.h"

#include <errno.h>
#include <signal.h>
#include <unistd.h>

#define THREADS_LOOKED_AT 1024

/* Held while a watchdog is started or ended, so that the thread is made and joined once. */
static pthread_mutex_t changing = PTHREAD_MUTEX_INITIALIZER;
static pthread_t thread;
/* Guarded by lock. */
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t emptied = PTHREAD_COND_INITIALIZER;
static struct watchdog *watchdogs;

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

static void look_after(struct watchdog *watchdog)
{
	struct watchdog_look *last = &watchdog->last;
	uint64_t turn = relief_turn(watchdog->relief), answered;
	unsigned end_looks;

	/* It still waits: nearly always so, of hundreds. */
	if (turn % 2 == 0 && turn == last->turn)
		return;
	end_looks = __atomic_load_n(&watchdog->end_looks, __ATOMIC_RELAXED);
	answered = relief_answered(watchdog->relief);
	if (turn % 2 == 0 || turn != last->turn) {
		*last = (struct watchdog_look){ .turn = turn, .answered = answered };
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

static void *watch_all(void *argument)
{
	struct timespec until;

	pthread_mutex_lock(&lock);
	while (watchdogs) {
		until = clock_timespec(clock_now_ns() + WATCHDOG_LOOK_NS);
		if (pthread_cond_clockwait(&emptied, &lock, CLOCK_MONOTONIC, &until) == ETIMEDOUT)
			for (struct watchdog *each = watchdogs; each; each = each->next)
				look_after(each);
	}
	pthread_mutex_unlock(&lock);
	return argument;
}

int watchdog_start(struct watchdog *watchdog, pid_t pid, pthread_t tracer, struct relief *relief,
		   void (*last_resort)(void *context), void *context)
{
	int error = 0;

	*watchdog = (struct watchdog){
		.pid = pid,
		.tracer = tracer,
		.relief = relief,
		.last_resort = last_resort,
		.context = context,
	};
	pthread_mutex_lock(&changing);
	pthread_mutex_lock(&lock);
	/* The new thread does not look before the lock is free. */
	if (!watchdogs)
		error = pthread_create(&thread, NULL, watch_all, NULL);
	if (!error) {
		watchdog->next = watchdogs;
		watchdogs = watchdog;
		watchdog->running = true;
	}
	pthread_mutex_unlock(&lock);
	pthread_mutex_unlock(&changing);
	return -error;
}

void watchdog_expect_end(struct watchdog *watchdog, unsigned looks)
{
	__atomic_store_n(&watchdog->end_looks, looks, __ATOMIC_RELAXED);
}

void watchdog_end(struct watchdog *watchdog)
{
	bool last;

	if (!watchdog->running)
		return;
	pthread_mutex_lock(&changing);
	pthread_mutex_lock(&lock);
	for (struct watchdog **at = &watchdogs; *at; at = &(*at)->next)
		if (*at == watchdog) {
			*at = watchdog->next;
			break;
		}
	last = !watchdogs;
	if (last)
		pthread_cond_signal(&emptied);
	pthread_mutex_unlock(&lock);
	if (last)
		pthread_join(thread, NULL);
	watchdog->running = false;
	pthread_mutex_unlock(&changing);
}

/* SPDX-License-Identifier: Apache-2.0 */
#include "attach/switch_cost.h"

#include "attach/thread_events.h"
#include "common/clock.h"

#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <time.h>
#include <unistd.h>

/* Medians of so many: an odd number. */
#define TURNS_EACH    25
#define SLEEP_NS      20000
#define USUAL_CLOCK   1000
#define USUAL_WATCH   6000
#define CLOCK_MAX     10000
#define WATCH_MAX     50000
#define NEVER_FIRES   (1000 * NS_PER_SECOND)
#define NEVER_TOUCHED ((remote_addr)0x10000)

enum equipment {
	BARE,
	CLOCK,
	CLOCK_AND_WATCH,
	EQUIPMENTS
};

static uint64_t own_cpu_ns(void)
{
	struct timespec time = { 0 };

	(void)clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time);
	return (uint64_t)time.tv_sec * NS_PER_SECOND + (uint64_t)time.tv_nsec;
}

/* From before one sleep until after it. */
static uint64_t turn_ns(void)
{
	const struct timespec sleep = { .tv_nsec = SLEEP_NS };
	uint64_t began_ns = own_cpu_ns();

	(void)nanosleep(&sleep, NULL);
	return own_cpu_ns() - began_ns;
}

static int compare(const void *left, const void *right)
{
	const uint64_t *a = left, *b = right;

	return (*a > *b) - (*a < *b);
}

static uint64_t median(uint64_t *times)
{
	qsort(times, TURNS_EACH, sizeof(*times), compare);
	return times[TURNS_EACH / 2];
}

static uint64_t difference(uint64_t more, uint64_t less, uint64_t most)
{
	uint64_t ns = more > less ? more - less : 0;

	return ns < most ? ns : most;
}

/* One after the other, so that what else the machine does meets them all alike. */
static int measure_turns(struct thread_events *events, uint64_t times[EQUIPMENTS][TURNS_EACH])
{
	for (unsigned i = 0; i < TURNS_EACH; i++) {
		int error;

		thread_events_enable_clock(events, false);
		times[BARE][i] = turn_ns();
		thread_events_enable_clock(events, true);
		times[CLOCK][i] = turn_ns();
		error = breakpoint_arm(events, 0, BREAKPOINT_READ_WRITE, NEVER_TOUCHED, 8);
		if (error)
			return error;
		times[CLOCK_AND_WATCH][i] = turn_ns();
		breakpoint_disarm(events, 0);
	}
	return 0;
}

static void *measure(void *result)
{
	struct switch_cost *cost = result;
	uint64_t times[EQUIPMENTS][TURNS_EACH], bare_ns, clock_ns;
	struct thread_events events;

	/* It sleeps for as long as was asked for, and not for twice that. */
	(void)prctl(PR_SET_TIMERSLACK, 1);
	if (thread_events_open(&events, gettid(), SIGURG, NEVER_FIRES))
		return NULL;
	if (!measure_turns(&events, times)) {
		bare_ns = median(times[BARE]);
		clock_ns = median(times[CLOCK]);
		cost->clock_ns = difference(clock_ns, bare_ns, CLOCK_MAX);
		cost->breakpoint_ns =
			difference(median(times[CLOCK_AND_WATCH]), clock_ns, WATCH_MAX);
	}
	thread_events_close(&events);
	return NULL;
}

static struct switch_cost measured = { USUAL_CLOCK, USUAL_WATCH };

/* In a thread of its own: whatever events and priority the caller has. */
static void measure_once(void)
{
	pthread_t thread;

	if (!pthread_create(&thread, NULL, measure, &measured))
		(void)pthread_join(thread, NULL);
}

struct switch_cost switch_cost(void)
{
	static pthread_once_t once = PTHREAD_ONCE_INIT;

	(void)pthread_once(&once, measure_once);
	return measured;
}

/* SPDX-License-Identifier: Apache-2.0 */
#include "attach/switch_cost.h"

#include "attach/thread_events.h"
#include "common/clock.h"

#include <linux/perf_event.h>
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/ioctl.h>
#include <sys/prctl.h>
#include <time.h>
#include <unistd.h>

/* Medians of so many: an odd number. */
#define TURNS_EACH 101
#define SLEEP_NS   20000
/* The interval of a clock that expires soon, of a tick: nearly every time before it. */
#define SOON_PART     10
#define USUAL_CLOCK   1000
#define USUAL_WATCH   6000
#define USUAL_SOON    2000
#define USUAL_TICK    (4 * NS_PER_MS)
#define CLOCK_MAX     10000
#define SOON_MAX      20000
#define WATCH_MAX     50000
#define NEVER_FIRES   (1000 * NS_PER_SECOND)
#define NEVER_TOUCHED ((remote_addr)0x10000)

enum equipment {
	BARE,
	CLOCK,
	SOON,
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
	const int64_t *a = left, *b = right;

	return (*a > *b) - (*a < *b);
}

/* Of what the later ones take more than the earlier ones, each beside its neighbour: what slows the
 * machine for a while slows both. */
static uint64_t usual_difference(uint64_t times[][EQUIPMENTS], enum equipment more,
				 enum equipment less, int64_t most)
{
	int64_t differences[TURNS_EACH], usual;

	for (unsigned i = 0; i < TURNS_EACH; i++)
		differences[i] = (int64_t)(times[i][more] - times[i][less]);
	qsort(differences, TURNS_EACH, sizeof(*differences), compare);
	usual = differences[TURNS_EACH / 2];
	return usual < 0 ? 0 : (uint64_t)(usual < most ? usual : most);
}

/* Set anew each time, it never expires: less of the thread's CPU time passes. */
static void set_clock(struct thread_events *events, uint64_t interval_ns)
{
	(void)ioctl(events->clock_fd, PERF_EVENT_IOC_PERIOD, &interval_ns);
}

static int measure_turns(struct thread_events *events, uint64_t tick_ns,
			 uint64_t times[][EQUIPMENTS])
{
	for (unsigned i = 0; i < TURNS_EACH; i++) {
		int error;

		thread_events_enable_clock(events, false);
		times[i][BARE] = turn_ns();
		thread_events_enable_clock(events, true);
		times[i][CLOCK] = turn_ns();
		set_clock(events, tick_ns / SOON_PART);
		times[i][SOON] = turn_ns();
		set_clock(events, NEVER_FIRES);
		error = breakpoint_arm(events, 0, BREAKPOINT_READ_WRITE, NEVER_TOUCHED, 8);
		if (error)
			return error;
		times[i][CLOCK_AND_WATCH] = turn_ns();
		breakpoint_disarm(events, 0);
	}
	return 0;
}

/* The clock that is read without asking the hardware is as coarse as that. */
static uint64_t tick_ns(void)
{
	struct timespec resolution;

	return clock_getres(CLOCK_MONOTONIC_COARSE, &resolution) || resolution.tv_sec ||
			       resolution.tv_nsec < (long)(NS_PER_MS / 10)
		       ? USUAL_TICK
		       : (uint64_t)resolution.tv_nsec;
}

static void *measure(void *result)
{
	struct switch_cost *cost = result;
	uint64_t times[TURNS_EACH][EQUIPMENTS];
	struct thread_events events;

	/* It sleeps for as long as was asked for, and not for twice that. */
	(void)prctl(PR_SET_TIMERSLACK, 1);
	if (thread_events_open(&events, gettid(), SIGURG, NEVER_FIRES))
		return NULL;
	if (!measure_turns(&events, cost->tick_ns, times)) {
		cost->clock_ns = usual_difference(times, CLOCK, BARE, CLOCK_MAX);
		cost->soon_ns = usual_difference(times, SOON, CLOCK, SOON_MAX);
		cost->breakpoint_ns = usual_difference(times, CLOCK_AND_WATCH, CLOCK, WATCH_MAX);
	}
	thread_events_close(&events);
	return NULL;
}

static struct switch_cost measured = {
	.clock_ns = USUAL_CLOCK,
	.soon_ns = USUAL_SOON,
	.breakpoint_ns = USUAL_WATCH,
};

/* In a thread of its own: whatever events and priority the caller has. */
static void measure_once(void)
{
	pthread_t thread;

	measured.tick_ns = tick_ns();
	if (!pthread_create(&thread, NULL, measure, &measured))
		(void)pthread_join(thread, NULL);
}

struct switch_cost switch_cost(void)
{
	static pthread_once_t once = PTHREAD_ONCE_INIT;

	(void)pthread_once(&once, measure_once);
	return measured;
}

double switch_cost_of_clock(const struct switch_cost *cost, uint64_t interval_ns)
{
	double tick = (double)cost->tick_ns, interval = (double)interval_ns, soon;

	/* How likely is it that the rest of the interval is shorter than that until the tick? */
	if (!interval_ns || !cost->tick_ns)
		soon = 0;
	else if (interval > tick)
		soon = tick / (2 * interval);
	else
		soon = 1 - interval / (2 * tick);
	return (double)cost->clock_ns + soon * (double)cost->soon_ns;
}

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
#define TURNS_EACH    101
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

static int measure_turns(struct thread_events *events, uint64_t times[][EQUIPMENTS])
{
	for (unsigned i = 0; i < TURNS_EACH; i++) {
		int error;

		thread_events_enable_clock(events, false);
		times[i][BARE] = turn_ns();
		thread_events_enable_clock(events, true);
		times[i][CLOCK] = turn_ns();
		error = breakpoint_arm(events, 0, BREAKPOINT_READ_WRITE, NEVER_TOUCHED, 8);
		if (error)
			return error;
		times[i][CLOCK_AND_WATCH] = turn_ns();
		breakpoint_disarm(events, 0);
	}
	return 0;
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
	if (!measure_turns(&events, times)) {
		cost->clock_ns = usual_difference(times, CLOCK, BARE, CLOCK_MAX);
		cost->breakpoint_ns = usual_difference(times, CLOCK_AND_WATCH, CLOCK, WATCH_MAX);
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

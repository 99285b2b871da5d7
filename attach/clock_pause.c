/* SPDX-License-Identifier: Apache-2.0 */
#include "attach/clock_pause.h"

#include "attach/thread_schedule.h"

#include "common/clock.h"

#include <math.h>
#include <unistd.h>

/* Of a thread that runs for less in a slice it is not said what another will be. */
#define SLICE_MIN_NS (0.1 * NS_PER_MS)
/* Of the parts: one that was late does not make up for everything. */
#define STRETCH_MAX 3

/* 0: not counted by this kernel, or the thread is gone. */
static uint64_t run_ns(pid_t tid)
{
	struct thread_schedule schedule;
	int fd = thread_schedule_open(tid, tid), error;

	if (fd < 0)
		return 0;
	error = thread_schedule_read(fd, &schedule);
	close(fd);
	return error ? 0 : schedule.run_ns;
}

static double stretch(const struct clock_pause *pause)
{
	return pause->stretch > 0 ? pause->stretch : 1;
}

static double slice_ran_ns(const struct clock_pause *pause, uint64_t clock_ns)
{
	return clock_ns > pause->slice_began_ns ? (double)(clock_ns - pause->slice_began_ns) : 0;
}

static void end_slice(struct clock_pause *pause, uint64_t clock_ns)
{
	pause->represented_ns += stretch(pause) * slice_ran_ns(pause, clock_ns);
	pause->slice_began_ns = clock_ns;
}

void clock_pause_slice(struct clock_pause *pause, uint64_t clock_ns, unsigned parts)
{
	double ran_ns = (double)(clock_ns + pause->passed_ns), ahead_ns;

	end_slice(pause, clock_ns);
	pause->parts = parts;
	pause->stretch = parts;
	if (parts <= 1 || pause->slice_ns < SLICE_MIN_NS)
		return;
	ahead_ns = pause->slice_ns * (1 + parts) / 2;
	pause->stretch = (ran_ns + ahead_ns - pause->represented_ns) / pause->slice_ns;
	pause->stretch = fmax(1, fmin(pause->stretch, STRETCH_MAX * parts));
}

uint64_t clock_pause_represented_ns(const struct clock_pause *pause, uint64_t clock_ns)
{
	return (uint64_t)(pause->represented_ns + stretch(pause) * slice_ran_ns(pause, clock_ns));
}

void clock_pause_begin(struct clock_pause *pause, pid_t tid, uint64_t clock_ns)
{
	double ran_ns = slice_ran_ns(pause, clock_ns);

	if (pause->parts > 1)
		pause->slice_ns += (ran_ns - pause->slice_ns) * (pause->slice_ns > 0 ? 0.25 : 1);
	end_slice(pause, clock_ns);
	pause->paused = true;
	pause->began_ns = run_ns(tid);
}

void clock_pause_end(struct clock_pause *pause, pid_t tid)
{
	pause->passed_ns = clock_pause_passed_ns(pause, tid);
	pause->paused = false;
}

uint64_t clock_pause_passed_ns(const struct clock_pause *pause, pid_t tid)
{
	uint64_t now_ns;

	if (!pause->paused || !pause->began_ns)
		return pause->passed_ns;
	now_ns = run_ns(tid);
	return now_ns > pause->began_ns ? pause->passed_ns + now_ns - pause->began_ns
					: pause->passed_ns;
}

uint64_t clock_pause_stretch(const struct clock_pause *pause, uint64_t interval_ns)
{
	return (uint64_t)(stretch(pause) * (double)interval_ns);
}

uint64_t clock_pause_period(const struct clock_pause *pause, uint64_t period_ns)
{
	return pause->density > 1 ? period_ns / pause->density : period_ns;
}

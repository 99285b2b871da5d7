/* SPDX-License-Identifier: Apache-2.0 */
#include "attach/clock_pause.h"

#include "attach/thread_schedule.h"

#include <unistd.h>

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

void clock_pause_begin(struct clock_pause *pause, pid_t tid)
{
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
	return pause->parts > 1 ? pause->parts * interval_ns : interval_ns;
}

uint64_t clock_pause_period(const struct clock_pause *pause, uint64_t period_ns)
{
	return pause->density > 1 ? period_ns / pause->density : period_ns;
}

/* SPDX-License-Identifier: Apache-2.0 */
#include "daemon/sample/unclocked_time.h"

#include "attach/thread_schedule.h"

#include <unistd.h>

/* Clocks are started one after the other: less than this part may be that. */
#define PART_MIN 500

void unclocked_begin(struct unclocked_time *time, uint64_t now_ns)
{
	*time = (struct unclocked_time){ .began_ns = now_ns };
}

/* 0: not counted by this kernel, or the thread is gone. */
static uint64_t read_run_ns(pid_t pid, pid_t tid)
{
	struct thread_schedule schedule;
	int fd = thread_schedule_open(pid, tid), error;

	if (fd < 0)
		return 0;
	error = thread_schedule_read(fd, &schedule);
	close(fd);
	return error ? 0 : schedule.run_ns;
}

void unclocked_thread_begin(struct unclocked_thread *thread, pid_t pid, pid_t tid,
			    uint64_t running_ns)
{
	*thread = (struct unclocked_thread){
		.run_ns = read_run_ns(pid, tid),
		.running_ns = running_ns,
	};
}

void unclocked_thread_ended(struct unclocked_time *time, struct unclocked_thread *thread,
			    uint64_t running_ns)
{
	if (running_ns <= thread->running_ns)
		return;
	time->clocked_ns += running_ns - thread->running_ns;
	thread->running_ns = running_ns;
}

void unclocked_thread_measure(struct unclocked_time *time, struct unclocked_thread *thread,
			      pid_t pid, pid_t tid, uint64_t running_ns)
{
	uint64_t run_ns = read_run_ns(pid, tid);
	uint64_t clocked_ns = running_ns > thread->running_ns ? running_ns - thread->running_ns : 0;

	thread->beyond_ns = run_ns > thread->run_ns && run_ns - thread->run_ns > clocked_ns
				    ? run_ns - thread->run_ns - clocked_ns
				    : 0;
	time->living_ns += thread->beyond_ns;
	unclocked_thread_ended(time, thread, running_ns);
}

uint64_t unclocked_whole_ns(const struct unclocked_time *time, uint64_t cpu_ns)
{
	uint64_t whole_ns = cpu_ns > time->clocked_ns ? cpu_ns - time->clocked_ns : 0;

	return whole_ns > cpu_ns / PART_MIN ? whole_ns : 0;
}

uint64_t unclocked_part_ns(const struct unclocked_time *time, const struct unclocked_thread *thread,
			   uint64_t whole_ns)
{
	if (time->living_ns <= whole_ns)
		return thread->beyond_ns;
	/* An account may be a tick of the scheduler late: then all are cut alike. */
	return (uint64_t)((unsigned __int128)thread->beyond_ns * whole_ns / time->living_ns);
}

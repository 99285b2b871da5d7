/* SPDX-License-Identifier: Apache-2.0 */
/* A live child, the tracer on it, and what is seen of both. */
#ifndef PIEPROFD_TESTS_UNIT_TRACED_CHILD_H
#define PIEPROFD_TESTS_UNIT_TRACED_CHILD_H

#include "attach/preflight.h"
#include "attach/procfs.h"
#include "attach/tracer.h"
#include "common/clock.h"
#include "tests/unit/under_valgrind.h"

#include <errno.h>
#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/ptrace.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

/* Shared with the children. */
struct shared {
	volatile uint64_t watched;
	volatile uint64_t behind; /* stored by the very next instruction */
	volatile int blocking;
	volatile int stop; /* no bool: -fsanitize=bool of gcc 12 forgets that it is volatile */
	volatile unsigned threads_done;
	volatile int urgent_seen;
	volatile int read_errno;
};

static struct shared *shared;

struct observer {
	struct tracer *tracer;
	pid_t pid;
	unsigned clocks;
	unsigned traps;
	unsigned exact;
	unsigned started;
	unsigned ended;
	unsigned ended_watched; /* before the events were silenced */
	size_t threads_max;     /* 0: as many as there may be */
	bool watch;             /* put a data breakpoint on shared->watched */
	struct tracer_hooks hooks;
};

/* cmocka's assertions jump back to the test, which is another thread's: end the program instead. */
static inline void fail_outside(const char *what, long value)
{
	fprintf(stderr, "%s: %s: %ld\n", program_invocation_short_name, what, value);
	exit(1);
}

static inline bool thread_is_gone(pid_t pid, pid_t tid)
{
	struct process_status status;

	return procfs_read_status(pid, tid, &status) || strchr("ZX", status.state);
}

static inline void on_started(void *context, struct tracee *tracee)
{
	struct observer *observer = context;
	int error;

	observer->started++;
	if (!observer->watch || tracee->events.clock_fd < 0)
		return;
	error = breakpoint_arm(&tracee->events, 2, BREAKPOINT_WRITE,
			       (remote_addr)(uintptr_t)&shared->watched, 8);
	/* A thread that runs when it is attached to may have ended by now. */
	if (error && !thread_is_gone(observer->pid, tracee->id.tid))
		fail_outside("a breakpoint of a living thread was refused", error);
}

static inline void on_ended(void *context, struct tracee *tracee)
{
	struct observer *observer = context;

	(void)tracee;
	observer->ended++;
}

static inline void on_stopped(void *context, struct tracee *tracee,
			      const struct registers *registers, const struct event_record *records,
			      size_t count)
{
	struct observer *observer = context;

	(void)tracee;
	for (size_t i = 0; i < count; i++) {
		if (records[i].time_ns > clock_now_ns())
			fail_outside("an event of the future, ns ahead",
				     (long)(records[i].time_ns - clock_now_ns()));
		if (records[i].source == EVENT_CLOCK) {
			observer->clocks++;
			continue;
		}
		if (records[i].source != 2)
			fail_outside("a record of slot", records[i].source);
		if (records[i].ip != registers->rip)
			fail_outside("an event elsewhere than the stop, bytes off",
				     (long)(records[i].ip - registers->rip));
		observer->traps++;
		observer->exact += shared->watched == shared->behind + 1;
	}
}

static inline void on_resumed(void *context, struct tracee *tracee)
{
	(void)context;
	(void)tracee;
}

static inline void observer_attach(struct observer *observer, pid_t pid)
{
	struct preflight preflight;
	struct error error;

	observer->pid = pid;
	observer->hooks = (struct tracer_hooks){
		.context = observer,
		.thread_started = on_started,
		.thread_ended = on_ended,
		.stopped = on_stopped,
		.resumed = on_resumed,
	};
	if (preflight_check(pid, 0, &preflight, &error)) {
		print_error("%s: %s\n", error.cause, error.cure);
		fail();
	}
	assert_int_equal(preflight.breakpoints, 4);
	observer->tracer = tracer_create(pid, preflight.stop_signal, NS_PER_MS, &observer->hooks);
	assert_non_null(observer->tracer);
	if (observer->threads_max)
		tracer_limit_threads(observer->tracer, observer->threads_max);
	assert_int_equal(tracer_attach(observer->tracer, &error), 0);
	tracer_enable_clocks(observer->tracer, true);
}

static inline enum tracer_end observer_poll_ms(struct observer *observer, unsigned ms)
{
	uint64_t limit_ns = clock_now_ns() + ms * NS_PER_MS;
	enum tracer_end end;

	do
		end = tracer_poll(observer->tracer, NS_PER_MS);
	while (end == TRACER_RUNNING && clock_now_ns() < limit_ns);
	return end;
}

/* ptrace relations belong to a thread: each scene plays in one, whose end detaches. */
static inline void play(void *(*scene)(void *), struct observer *observer)
{
	pthread_t thread;

	assert_int_equal(pthread_create(&thread, NULL, scene, observer), 0);
	pthread_join(thread, NULL);
}

static inline char state_of(pid_t pid)
{
	struct process_status status;

	return procfs_read_status(pid, 0, &status) ? '-' : status.tracer ? 'P' : status.state;
}

/* The child is as it should be when nobody is attached: alive, untraced, all debug registers free.
 */
static inline void assert_undisturbed(pid_t pid)
{
	struct thread_events events;

	/* The kernel detaches a moment after the tracer's thread can be joined. */
	for (int wait_ms = 0; wait_ms < 1000 && !strchr("RS", state_of(pid)); wait_ms++)
		usleep(1000);
	assert_true(strchr("RS", state_of(pid)) != NULL);
	assert_int_equal(thread_events_open(&events, pid, SIGURG, NS_PER_SECOND), 0);
	for (unsigned slot = 0; slot < BREAKPOINT_SLOTS; slot++)
		assert_int_equal(breakpoint_arm(&events, slot, BREAKPOINT_EXECUTE, 8, 8), 0);
	thread_events_close(&events);
}

static inline void assert_exit(pid_t pid, int code)
{
	int status;

	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_true(WIFEXITED(status));
	assert_int_equal(WEXITSTATUS(status), code);
}

/* Not inlined: the addresses of the two stores must be adjacent instructions. */
__attribute__((noinline)) static void store_both(void)
{
	__asm__ volatile("incq %0\n\tincq %1\n\t"
			 : "+m"(shared->watched), "+m"(shared->behind)
			 :
			 : "memory");
}

static inline void spin(unsigned rounds)
{
	for (volatile unsigned i = 0; i < rounds; i++)
		;
}

static inline pid_t start_child(int (*body)(void))
{
	pid_t pid;

	memset(shared, 0, sizeof(*shared));
	pid = fork();
	if (!pid) {
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		_exit(body());
	}
	return pid;
}

static inline int child_storing(void)
{
	while (!shared->stop) {
		store_both();
		spin(100000);
	}
	return shared->watched == shared->behind ? 7 : 1;
}

static inline void *scene_traps(void *argument)
{
	struct observer *observer = argument;

	observer_attach(observer, observer->pid);
	assert_int_equal(observer_poll_ms(observer, 300), TRACER_RUNNING);
	observer->ended_watched = observer->ended;
	tracer_quiesce(observer->tracer);
	return NULL;
}

/* Each scene is about a child that clocks and signals stop. */
static inline void test_nothing_under_valgrind(void **state)
{
	(void)state;
	skip();
}

/* In place of all of a program's tests. */
static inline int nothing_under_valgrind(void)
{
	const struct CMUnitTest nothing[] = { cmocka_unit_test(test_nothing_under_valgrind) };

	return cmocka_run_group_tests(nothing, NULL, NULL);
}

static inline int share_memory(void **state)
{
	(void)state;
	shared = mmap(NULL, sizeof(*shared), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1,
		      0);
	return shared == MAP_FAILED ? -1 : 0;
}

#endif

/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The tracer on live children: exact data breakpoints, threads born while
 * attached, group-stop, blocked system calls, the death of the tracer.
 */
#include "attach/preflight.h"
#include "attach/procfs.h"
#include "attach/tracer.h"
#include "common/clock.h"
#include "tests/unit/assert_sampled.h"
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
static void fail_outside(const char *what, long value)
{
	fprintf(stderr, "attach_tracer: %s: %ld\n", what, value);
	exit(1);
}

static bool thread_is_gone(pid_t pid, pid_t tid)
{
	struct process_status status;

	return procfs_read_status(pid, tid, &status) || strchr("ZX", status.state);
}

static void on_started(void *context, struct tracee *tracee)
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

static void on_ended(void *context, struct tracee *tracee)
{
	struct observer *observer = context;

	(void)tracee;
	observer->ended++;
}

static void on_stopped(void *context, struct tracee *tracee, const struct registers *registers,
		       const struct event_record *records, size_t count)
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

static void on_resumed(void *context, struct tracee *tracee)
{
	(void)context;
	(void)tracee;
}

static void observer_attach(struct observer *observer, pid_t pid)
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

static enum tracer_end observer_poll_ms(struct observer *observer, unsigned ms)
{
	uint64_t limit_ns = clock_now_ns() + ms * NS_PER_MS;
	enum tracer_end end;

	do
		end = tracer_poll(observer->tracer, NS_PER_MS);
	while (end == TRACER_RUNNING && clock_now_ns() < limit_ns);
	return end;
}

/* ptrace relations belong to a thread: each scene plays in one, whose end detaches. */
static void play(void *(*scene)(void *), struct observer *observer)
{
	pthread_t thread;

	assert_int_equal(pthread_create(&thread, NULL, scene, observer), 0);
	pthread_join(thread, NULL);
}

static char state_of(pid_t pid)
{
	struct process_status status;

	return procfs_read_status(pid, 0, &status) ? '-' : status.tracer ? 'P' : status.state;
}

/* The child is as it should be when nobody is attached: alive, untraced, all debug registers free.
 */
static void assert_undisturbed(pid_t pid)
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

static void assert_exit(pid_t pid, int code)
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

static void spin(unsigned rounds)
{
	for (volatile unsigned i = 0; i < rounds; i++)
		;
}

static pid_t start_child(int (*body)(void))
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

static int child_storing(void)
{
	while (!shared->stop) {
		store_both();
		spin(100000);
	}
	return shared->watched == shared->behind ? 7 : 1;
}

static void *scene_traps(void *argument)
{
	struct observer *observer = argument;

	observer_attach(observer, observer->pid);
	assert_int_equal(observer_poll_ms(observer, 300), TRACER_RUNNING);
	observer->ended_watched = observer->ended;
	tracer_quiesce(observer->tracer);
	return NULL;
}

static void test_traps_are_exact(void **state)
{
	struct observer observer = { .watch = true };
	pid_t pid = start_child(child_storing);

	(void)state;
	observer.pid = pid;
	play(scene_traps, &observer);
	assert_undisturbed(pid);
	shared->stop = true;
	assert_exit(pid, 7);
	print_message("%u clock stops, %u traps\n", observer.clocks, observer.traps);
	assert_sampled(observer.clocks > 10);
	assert_sampled(observer.traps > 100);
	assert_int_equal(observer.exact, observer.traps);
	assert_int_equal(tracer_counts(observer.tracer)->foreign_signals, 0);
	tracer_destroy(observer.tracer);
	assert_int_equal(observer.started, observer.ended);
}

static void *short_thread(void *argument)
{
	(void)argument;
	for (int i = 0; i < 3; i++) {
		store_both();
		spin(100000);
	}
	__atomic_add_fetch(&shared->threads_done, 1, __ATOMIC_RELAXED);
	return NULL;
}

static int child_threads(void)
{
	while (!shared->stop) {
		pthread_t threads[4];

		for (int i = 0; i < 4; i++)
			if (pthread_create(&threads[i], NULL, short_thread, NULL))
				return 1;
		for (int i = 0; i < 4; i++)
			pthread_join(threads[i], NULL);
	}
	return 8;
}

static void test_new_threads_have_events(void **state)
{
	struct observer observer = { .watch = true };
	pid_t pid = start_child(child_threads);

	(void)state;
	observer.pid = pid;
	play(scene_traps, &observer);
	assert_undisturbed(pid);
	shared->stop = true;
	assert_exit(pid, 8);
	print_message("%u threads, %u ended while watched, %u traps\n", observer.started,
		      observer.ended_watched, observer.traps);
	/* Every thread that was born and ended meanwhile stored three times, each time stopped. */
	assert_sampled(observer.started > 8);
	assert_sampled(observer.traps + 24 >= 3 * (observer.ended_watched - 4));
	tracer_destroy(observer.tracer);
}

static void *storing_thread(void *argument)
{
	while (!shared->stop)
		spin(100000);
	return argument;
}

static int child_five_threads(void)
{
	pthread_t threads[4];

	for (int i = 0; i < 4; i++)
		if (pthread_create(&threads[i], NULL, storing_thread, NULL))
			return 1;
	shared->threads_done = 4;
	for (int i = 0; i < 4; i++)
		pthread_join(threads[i], NULL);
	return 9;
}

/* Those that are too many run on, and count. */
static void test_too_many_threads(void **state)
{
	(void)state;
	for (size_t most = 3; most <= 5; most += 2) {
		struct observer observer = { .threads_max = most };
		pid_t pid = start_child(child_five_threads);

		while (shared->threads_done < 4)
			usleep(1000);
		observer.pid = pid;
		play(scene_traps, &observer);
		assert_int_equal(observer.started, most);
		assert_int_equal(tracer_counts(observer.tracer)->threads, most);
		assert_int_equal(tracer_counts(observer.tracer)->threads_beyond > 0, most < 5);
		assert_undisturbed(pid);
		shared->stop = true;
		assert_exit(pid, 9);
		tracer_destroy(observer.tracer);
	}
}

static int child_blocking(void)
{
	sigset_t set;

	sigfillset(&set);
	sigprocmask(SIG_BLOCK, &set, NULL);
	shared->blocking = 1;
	while (!shared->stop)
		spin(1000);
	return 14;
}

static void *scene_blocking(void *argument)
{
	struct observer *observer = argument;

	observer_attach(observer, observer->pid);
	observer_poll_ms(observer, 50);
	tracer_check_blocked(observer->tracer);
	assert_int_equal(tracer_counts(observer->tracer)->threads_blocking, 1);
	tracer_check_blocked(observer->tracer);
	assert_int_equal(tracer_counts(observer->tracer)->threads_blocking, 1);
	tracer_quiesce(observer->tracer);
	return NULL;
}

static void test_thread_that_blocks_signals(void **state)
{
	struct observer observer = { 0 };
	pid_t pid = start_child(child_blocking);

	(void)state;
	observer.pid = pid;
	while (!shared->blocking)
		usleep(1000);
	play(scene_blocking, &observer);
	assert_int_equal(observer.clocks, 0);
	assert_undisturbed(pid);
	shared->stop = true;
	assert_exit(pid, 14);
	tracer_destroy(observer.tracer);
}

static int reading_pipe[2];

static int child_reading(void)
{
	char byte;
	ssize_t got = read(reading_pipe[0], &byte, 1);

	shared->read_errno = got < 0 ? errno : 0;
	return got == 1 ? 9 : 1;
}

static void test_blocked_read_is_not_interrupted(void **state)
{
	struct observer observer = { 0 };
	pid_t pid;

	(void)state;
	assert_int_equal(pipe(reading_pipe), 0);
	pid = start_child(child_reading);
	while (state_of(pid) != 'S')
		usleep(1000);
	observer.pid = pid;
	play(scene_traps, &observer);
	usleep(20000);
	assert_int_equal(state_of(pid), 'S');
	assert_int_equal(shared->read_errno, 0);
	assert_int_equal(write(reading_pipe[1], "x", 1), 1);
	assert_exit(pid, 9);
	tracer_destroy(observer.tracer);
	close(reading_pipe[0]);
	close(reading_pipe[1]);
}

static void count_urgent(int signal)
{
	(void)signal;
	shared->urgent_seen++;
}

static int child_urgent(void)
{
	signal(SIGURG, count_urgent);
	signal(SIGWINCH, count_urgent);
	while (!shared->stop)
		spin(1000);
	return 10;
}

static void *scene_urgent(void *argument)
{
	struct observer *observer = argument;

	observer_attach(observer, observer->pid);
	for (int i = 0; i < 20; i++) {
		int before = shared->urgent_seen;

		kill(observer->pid, SIGURG);
		/* Its own signal reaches it, once. */
		for (int wait_ms = 0; wait_ms < 1000 && shared->urgent_seen == before; wait_ms++)
			observer_poll_ms(observer, 1);
		assert_int_equal(shared->urgent_seen, before + 1);
	}
	tracer_quiesce(observer->tracer);
	return NULL;
}

static void test_targets_own_signals(void **state)
{
	struct observer observer = { 0 };
	pid_t pid = start_child(child_urgent);

	(void)state;
	observer.pid = pid;
	usleep(20000);
	play(scene_urgent, &observer);
	assert_int_equal(shared->urgent_seen, 20); /* none of ours */
	assert_int_equal(tracer_counts(observer.tracer)->foreign_signals, 20);
	assert_true(observer.clocks > 0);
	assert_undisturbed(pid);
	shared->stop = true;
	assert_exit(pid, 10);
	tracer_destroy(observer.tracer);
}

static void *scene_group_stop(void *argument)
{
	struct observer *observer = argument;

	observer_attach(observer, observer->pid);
	observer_poll_ms(observer, 30);
	kill(observer->pid, SIGSTOP);
	observer_poll_ms(observer, 50);
	{
		unsigned before = observer->clocks;

		observer_poll_ms(observer, 50);
		assert_int_equal(observer->clocks, before); /* it is stopped, and stays so */
	}
	kill(observer->pid, SIGCONT);
	{
		unsigned before = observer->clocks;

		observer_poll_ms(observer, 200);
		assert_true(observer->clocks > before);
	}
	/* Detach from a stopped process: it must stay stopped, and be continuable. */
	kill(observer->pid, SIGSTOP);
	observer_poll_ms(observer, 50);
	tracer_quiesce(observer->tracer);
	return NULL;
}

static void test_group_stop(void **state)
{
	struct observer observer = { 0 };
	pid_t pid = start_child(child_storing);

	(void)state;
	observer.pid = pid;
	play(scene_group_stop, &observer);
	/* The kernel detaches a moment after the thread can be joined, and lets the child stop
	 * anew. */
	for (int wait_ms = 0; wait_ms < 1000 && state_of(pid) != 'T'; wait_ms++)
		usleep(1000);
	usleep(20000);
	assert_int_equal(state_of(pid), 'T');
	kill(pid, SIGCONT);
	usleep(20000);
	assert_undisturbed(pid);
	shared->stop = true;
	assert_exit(pid, 7);
	tracer_destroy(observer.tracer);
}

static int child_exec(void)
{
	spin(50000000);
	execl("/bin/sh", "sh", "-c", "exit 11", (char *)NULL);
	return 1;
}

static void *scene_until_end(void *argument)
{
	struct observer *observer = argument;
	enum tracer_end end;

	observer_attach(observer, observer->pid);
	end = observer_poll_ms(observer, 20000);
	assert_int_equal(end, shared->stop ? TRACER_TARGET_EXITED : TRACER_TARGET_REPLACED);
	tracer_quiesce(observer->tracer);
	return NULL;
}

static void test_exec(void **state)
{
	struct observer observer = { .watch = true };
	pid_t pid = start_child(child_exec);

	(void)state;
	observer.pid = pid;
	play(scene_until_end, &observer);
	assert_exit(pid, 11);
	tracer_destroy(observer.tracer);
}

static int child_exits(void)
{
	shared->stop = true;
	spin(100000000);
	return 12;
}

static void test_exit_while_attached(void **state)
{
	struct observer observer = { .watch = true };
	pid_t pid = start_child(child_exits);

	(void)state;
	observer.pid = pid;
	while (!shared->stop)
		usleep(100);
	play(scene_until_end, &observer);
	assert_int_equal(tracer_exit_status(observer.tracer), 12);
	/* Its parent and its tracer are one process here: the tracer has reaped it. */
	assert_int_equal(waitpid(pid, NULL, 0), -1);
	tracer_destroy(observer.tracer);
}

static int child_forks(void)
{
	for (volatile int i = 0; i < 200; i++) {
		int status;
		pid_t child = i % 2 ? vfork() : fork();

		if (!child)
			_exit(3);
		if (child < 0 || waitpid(child, &status, 0) != child || !WIFEXITED(status) ||
		    WEXITSTATUS(status) != 3)
			return 1;
		store_both();
	}
	while (!shared->stop)
		spin(1000);
	return 13;
}

static void test_children_are_left_alone(void **state)
{
	struct observer observer = { .watch = true };
	pid_t pid = start_child(child_forks);

	(void)state;
	observer.pid = pid;
	play(scene_traps, &observer);
	assert_undisturbed(pid);
	shared->stop = true;
	assert_exit(pid, 13);
	assert_int_equal(observer.started, 1);
	tracer_destroy(observer.tracer);
}

/* A daemon that dies at any instant must leave the target running. */
static void test_tracer_killed(void **state)
{
	(void)state;
	for (int round = 0; round < 20; round++) {
		pid_t pid = start_child(child_storing);
		pid_t daemon = fork();

		if (!daemon) {
			struct observer observer = { .watch = true, .pid = pid };

			play(scene_until_end, &observer);
			_exit(0);
		}
		usleep(20000 + (unsigned)round * 1777);
		kill(daemon, SIGKILL);
		waitpid(daemon, NULL, 0);
		usleep(2000);
		assert_undisturbed(pid);
		shared->stop = true;
		assert_exit(pid, 7);
	}
}

static void test_refusals(void **state)
{
	struct preflight preflight;
	struct error error;
	pid_t pid = start_child(child_storing), tracer, gone = fork();
	int ready[2];
	char byte;

	(void)state;
	if (!gone)
		_exit(0);
	waitpid(gone, NULL, 0);
	assert_int_equal(preflight_check(gone, 0, &preflight, &error), -1);
	assert_int_equal(error.exit_code, EXIT_NO_TARGET);
	assert_non_null(strstr(error.cause, "no process"));
	assert_int_equal(preflight_check(getpid(), 0, &preflight, &error), -1);
	assert_int_equal(error.exit_code, EXIT_NO_TARGET);
	assert_int_equal(preflight_check(2, 0, &preflight, &error),
			 -1); /* kthreadd, or nothing in a container */

	assert_int_equal(pipe(ready), 0);
	tracer = fork();
	if (!tracer) {
		prctl(PR_SET_NAME, "other tracer");
		ptrace(PTRACE_SEIZE, pid, NULL, NULL);
		(void)!write(ready[1], "r", 1);
		for (;;)
			pause();
	}
	assert_int_equal(read(ready[0], &byte, 1), 1);
	assert_int_equal(preflight_check(pid, 0, &preflight, &error), -1);
	assert_int_equal(error.exit_code, EXIT_PERMISSION);
	assert_non_null(strstr(error.cause, "already traced"));
	assert_non_null(strstr(error.cause, "other tracer"));
	kill(tracer, SIGKILL);
	waitpid(tracer, NULL, 0);

	/* All debug registers taken by another program. */
	{
		struct thread_events others;

		assert_int_equal(thread_events_open(&others, pid, SIGURG, NS_PER_SECOND), 0);
		for (unsigned slot = 0; slot < BREAKPOINT_SLOTS; slot++)
			assert_int_equal(breakpoint_arm(&others, slot, BREAKPOINT_EXECUTE, 8, 8),
					 0);
		assert_int_equal(preflight_check(pid, 0, &preflight, &error), 0);
		assert_int_equal(preflight.breakpoints, 0);
		assert_int_equal(preflight.breakpoint_errno, ENOSPC);
		preflight_explain_breakpoints(pid, preflight.breakpoint_errno, &error);
		assert_non_null(strstr(error.cause, "debug registers"));
		thread_events_close(&others);
	}
	assert_int_equal(preflight_check(pid, 0, &preflight, &error), 0);
	assert_int_equal(preflight.breakpoints, 4);
	shared->stop = true;
	assert_exit(pid, 7);
}

/* As another user: what an ordinary user is told about root's process. */
static void test_refused_to_strangers(void **state)
{
	struct preflight preflight;
	struct error error;
	pid_t pid, child;
	int status;

	(void)state;
	if (geteuid() != 0) {
		print_message("skipped: needs root to become somebody else\n");
		return;
	}
	pid = start_child(child_storing);
	child = fork();
	if (!child) {
		if (setgid(65534) || setuid(65534))
			_exit(2);
		if (preflight_check(pid, 0, &preflight, &error) != -1 ||
		    error.exit_code != EXIT_PERMISSION || !strstr(error.cause, "belongs to user 0"))
			_exit(1);
		_exit(0);
	}
	waitpid(child, &status, 0);
	assert_int_equal(status, 0);
	shared->stop = true;
	assert_exit(pid, 7);
}

/* Each scene is about a child that clocks and signals stop. */
static void test_nothing_under_valgrind(void **state)
{
	(void)state;
	skip();
}

int main(void)
{
	const struct CMUnitTest nothing[] = { cmocka_unit_test(test_nothing_under_valgrind) };
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_traps_are_exact),
		cmocka_unit_test(test_new_threads_have_events),
		cmocka_unit_test(test_too_many_threads),
		cmocka_unit_test(test_thread_that_blocks_signals),
		cmocka_unit_test(test_blocked_read_is_not_interrupted),
		cmocka_unit_test(test_targets_own_signals),
		cmocka_unit_test(test_group_stop),
		cmocka_unit_test(test_exec),
		cmocka_unit_test(test_exit_while_attached),
		cmocka_unit_test(test_children_are_left_alone),
		cmocka_unit_test(test_tracer_killed),
		cmocka_unit_test(test_refusals),
		cmocka_unit_test(test_refused_to_strangers),
	};

	if (under_valgrind())
		return cmocka_run_group_tests(nothing, NULL, NULL);
	shared = mmap(NULL, sizeof(*shared), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1,
		      0);
	return cmocka_run_group_tests(tests, NULL, NULL);
}

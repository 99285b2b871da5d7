/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A tracer that is held up, in a stop or between two, and a live target which
 * must go on all the same: threads continued, signals delivered, threads born.
 */
#include "attach/preflight.h"
#include "attach/tracer.h"
#include "attach/watchdog.h"
#include "common/clock.h"
#include "tests/unit/under_valgrind.h"

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
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#define LIMIT_NS (20 * NS_PER_SECOND)

/* Shared with the child. */
struct shared {
	volatile uint64_t rounds;
	volatile uint64_t born_rounds;
	volatile int usr1_seen;
	volatile int stop;
	volatile int bear;
	volatile uint64_t strangers;
	volatile int strangers_go;
};

static struct shared *shared;

struct observer {
	pid_t pid;
	struct tracer *tracer;
	struct watchdog watchdog;
	struct tracer_hooks hooks;
	bool hang_in_stop;
	bool ran_meanwhile;
	unsigned stops, resumes, abandons, threads;
};

/* cmocka's assertions jump back to the test, which is another thread's. */
static void fail_outside(const char *what)
{
	fprintf(stderr, "attach_watchdog: %s\n", what);
	exit(1);
}

static void on_started(void *context, struct tracee *tracee)
{
	struct observer *observer = context;

	(void)tracee;
	observer->threads++;
}

static void on_thread(void *context, struct tracee *tracee)
{
	(void)context;
	(void)tracee;
}

static void on_resumed(void *context, struct tracee *tracee)
{
	struct observer *observer = context;

	(void)tracee;
	observer->resumes++;
}

static void on_abandoned(void *context, struct tracee *tracee)
{
	struct observer *observer = context;

	(void)tracee;
	observer->abandons++;
}

/* Until the number has grown by so much: the tracer does nothing else. */
static bool hang_until(const volatile uint64_t *number, uint64_t more)
{
	uint64_t before = *number, limit_ns = clock_now_ns() + LIMIT_NS;

	while (*number - before < more && clock_now_ns() < limit_ns)
		;
	return *number - before >= more;
}

static void on_stopped(void *context, struct tracee *tracee, const struct registers *registers,
		       const struct event_record *records, size_t count)
{
	struct observer *observer = context;

	(void)tracee;
	(void)registers;
	(void)records;
	(void)count;
	observer->stops++;
	if (!observer->hang_in_stop)
		return;
	observer->hang_in_stop = false;
	observer->ran_meanwhile = hang_until(&shared->rounds, 3);
}

static void attach(struct observer *observer)
{
	struct preflight preflight;
	struct error error;

	observer->hooks = (struct tracer_hooks){
		.context = observer,
		.thread_started = on_started,
		.thread_ended = on_thread,
		.stopped = on_stopped,
		.resumed = on_resumed,
		.abandoned = on_abandoned,
	};
	if (preflight_check(observer->pid, 0, &preflight, &error))
		fail_outside(error.cause);
	observer->tracer =
		tracer_create(observer->pid, preflight.stop_signal, NS_PER_MS, &observer->hooks);
	if (!observer->tracer || watchdog_start(&observer->watchdog, observer->pid, pthread_self(),
						tracer_relief(observer->tracer), NULL, NULL))
		fail_outside("no tracer, or no watchdog");
	if (tracer_attach(observer->tracer, &error))
		fail_outside(error.cause);
	tracer_enable_clocks(observer->tracer, true);
}

static void detach(struct observer *observer)
{
	tracer_quiesce(observer->tracer);
	watchdog_end(&observer->watchdog);
}

/* Polls until so many more stops were sampled. */
static bool sample(struct observer *observer, unsigned more)
{
	unsigned before = observer->resumes;
	uint64_t limit_ns = clock_now_ns() + LIMIT_NS;

	while (observer->resumes - before < more && clock_now_ns() < limit_ns)
		if (tracer_poll(observer->tracer, NS_PER_MS) != TRACER_RUNNING)
			return false;
	return observer->resumes - before >= more;
}

static void *scene_in_stop(void *argument)
{
	struct observer *observer = argument;

	attach(observer);
	if (!sample(observer, 10))
		fail_outside("no samples at first");
	observer->hang_in_stop = true;
	while (observer->hang_in_stop)
		(void)tracer_poll(observer->tracer, NS_PER_MS);
	if (!observer->ran_meanwhile)
		fail_outside("the thread stayed stopped");
	if (!sample(observer, 10))
		fail_outside("no samples afterwards");
	detach(observer);
	return NULL;
}

static void *scene_between(void *argument)
{
	struct observer *observer = argument;

	attach(observer);
	if (!sample(observer, 10))
		fail_outside("no samples at first");
	/* Its clock stops the thread at once; then again when the signal comes, ... */
	if (!hang_until(&shared->rounds, 3))
		fail_outside("the thread stayed stopped");
	kill(observer->pid, SIGUSR1);
	for (uint64_t limit_ns = clock_now_ns() + LIMIT_NS; !shared->usr1_seen;)
		if (clock_now_ns() > limit_ns)
			fail_outside("a signal was not delivered");
	/* ... and when it makes a thread, which stops before its first instruction. */
	shared->bear = true;
	if (!hang_until(&shared->born_rounds, 1))
		fail_outside("the new thread stayed stopped");
	if (!sample(observer, 20))
		fail_outside("no samples afterwards");
	detach(observer);
	return NULL;
}

static bool signals_seen(int count)
{
	uint64_t limit_ns = clock_now_ns() + LIMIT_NS;

	while (shared->usr1_seen < count && clock_now_ns() < limit_ns)
		;
	return shared->usr1_seen >= count;
}

/* Processes that are attached by themselves, and continued while nobody looks: their exec is not
 * the target's. */
static void *scene_strangers(void *argument)
{
	struct observer *observer = argument;

	attach(observer);
	if (!sample(observer, 10))
		fail_outside("no samples at first");
	shared->bear = true;
	if (!hang_until(&shared->strangers, 2))
		fail_outside("the strangers stayed stopped");
	if (!signals_seen(1))
		fail_outside("the first stranger's program did not run");
	if (!sample(observer, 20))
		fail_outside("no samples after the first exec");
	shared->strangers_go = true;
	while (shared->usr1_seen < 2)
		if (!sample(observer, 1))
			fail_outside("no samples after the second exec");
	if (!sample(observer, 10))
		fail_outside("no samples afterwards");
	detach(observer);
	return NULL;
}

static void on_usr1(int signal)
{
	(void)signal;
	shared->usr1_seen++;
}

static void work(volatile uint64_t *rounds)
{
	while (!shared->stop) {
		for (volatile unsigned i = 0; i < 1000000; i++)
			;
		++*rounds;
	}
}

static void *born(void *argument)
{
	(void)argument;
	work(&shared->born_rounds);
	return NULL;
}

static int child(void)
{
	pthread_t thread;

	signal(SIGUSR1, on_usr1);
	while (!shared->stop && !shared->bear) {
		for (volatile unsigned i = 0; i < 1000000; i++)
			;
		shared->rounds++;
	}
	if (!shared->bear)
		return 7;
	if (pthread_create(&thread, NULL, born, NULL))
		return 1;
	work(&shared->rounds);
	pthread_join(thread, NULL);
	return shared->usr1_seen == 1 ? 8 : 2;
}

/* A process made by clone(2) without SIGCHLD: the kernel attaches it as it does threads. */
static pid_t bear_stranger(bool waits)
{
	pid_t pid = (pid_t)syscall(SYS_clone, 0, NULL, NULL, NULL, NULL);

	if (pid)
		return pid;
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	__atomic_add_fetch(&shared->strangers, 1, __ATOMIC_RELAXED);
	while (waits && !shared->strangers_go && !shared->stop)
		usleep(1000);
	execl("/bin/sh", "sh", "-c", "kill -USR1 $PPID", (char *)NULL);
	_exit(1);
}

static int child_of_strangers(void)
{
	pid_t pids[2];
	int status, failed = 0;

	signal(SIGUSR1, on_usr1);
	while (!shared->bear && !shared->stop)
		shared->rounds++;
	for (int i = 0; i < 2; i++)
		pids[i] = bear_stranger(i == 1);
	while (!shared->stop)
		shared->rounds++;
	for (int i = 0; i < 2; i++)
		failed |= waitpid(pids[i], &status, __WALL) != pids[i] || status;
	return failed ? 1 : 9;
}

/* The scene in a thread of its own, whose end detaches; then the child must end with this code. */
static void play(void *(*scene)(void *), int (*child_body)(void), struct observer *observer,
		 int code)
{
	pthread_t thread;
	int status;

	memset(shared, 0, sizeof(*shared));
	observer->pid = fork();
	if (!observer->pid) {
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		_exit(child_body());
	}
	assert_int_equal(pthread_create(&thread, NULL, scene, observer), 0);
	pthread_join(thread, NULL);
	shared->stop = true;
	assert_int_equal(waitpid(observer->pid, &status, 0), observer->pid);
	assert_true(WIFEXITED(status));
	assert_int_equal(WEXITSTATUS(status), code);
}

static void test_held_up_in_a_stop(void **state)
{
	struct observer observer = { 0 };

	(void)state;
	if (under_valgrind())
		skip();
	play(scene_in_stop, child, &observer, 7);
	print_message("%lu let go of\n", (unsigned long)tracer_counts(observer.tracer)->abandoned);
	/* A loaded machine may have held us up elsewhere, too. */
	assert_true(observer.abandons >= 1);
	assert_true(tracer_counts(observer.tracer)->abandoned >= observer.abandons);
	tracer_destroy(observer.tracer);
}

static void test_held_up_between_stops(void **state)
{
	struct observer observer = { 0 };

	(void)state;
	if (under_valgrind())
		skip();
	play(scene_between, child, &observer, 8);
	print_message("%lu let go of\n", (unsigned long)tracer_counts(observer.tracer)->abandoned);
	/* The signal's stop, the maker's, the new thread's; nearly always one of the clock's, too.
	 */
	assert_true(tracer_counts(observer.tracer)->abandoned >= 3);
	assert_int_equal(observer.threads, 2);
	tracer_destroy(observer.tracer);
}

static void test_exec_of_strangers(void **state)
{
	struct observer observer = { 0 };

	(void)state;
	if (under_valgrind())
		skip();
	play(scene_strangers, child_of_strangers, &observer, 9);
	assert_int_equal(observer.threads, 1);
	tracer_destroy(observer.tracer);
}

/* The same end by the shortest way: looks that see nothing wrong. */
static void test_ends_before_the_tracer_begins(void **state)
{
	struct relief relief;
	struct watchdog watchdog;

	(void)state;
	relief_init(&relief, getpid(), SIGURG);
	assert_int_equal(watchdog_start(&watchdog, getpid(), pthread_self(), &relief, NULL, NULL),
			 0);
	usleep(10 * WATCHDOG_LOOK_NS / NS_PER_US);
	watchdog_end(&watchdog);
	watchdog_end(&watchdog);
	assert_int_equal(relief_answered(&relief), 0);
}

/* In a loop that takes signals, but never ends. */
static void *scene_endless(void *argument)
{
	struct relief *relief = argument;

	if (relief_begin(relief))
		fail_outside("no relief");
	relief_work(relief);
	for (;;)
		pause();
	return NULL;
}

static void give_up(void *context)
{
	_exit(*(int *)context);
}

static void test_end_that_does_not_come(void **state)
{
	int status, code = 9;
	pid_t daemon = fork();

	(void)state;
	if (!daemon) {
		struct relief relief;
		struct watchdog watchdog;
		pthread_t thread;

		prctl(PR_SET_PDEATHSIG, SIGKILL);
		alarm(LIMIT_NS / NS_PER_SECOND);
		relief_init(&relief, getpid(), SIGURG);
		if (pthread_create(&thread, NULL, scene_endless, &relief) ||
		    watchdog_start(&watchdog, getpid(), thread, &relief, give_up, &code))
			_exit(1);
		/* Without being asked to end, it may take its time. */
		usleep(4 * WATCHDOG_RELIEF_LOOKS * WATCHDOG_LOOK_NS / NS_PER_US);
		if (!relief_answered(&relief))
			_exit(2);
		watchdog_expect_end(&watchdog, 2 * WATCHDOG_RELIEF_LOOKS);
		pthread_join(thread, NULL);
		_exit(3);
	}
	assert_int_equal(waitpid(daemon, &status, 0), daemon);
	assert_true(WIFEXITED(status));
	assert_int_equal(WEXITSTATUS(status), code);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_held_up_in_a_stop),
		cmocka_unit_test(test_held_up_between_stops),
		cmocka_unit_test(test_exec_of_strangers),
		cmocka_unit_test(test_ends_before_the_tracer_begins),
		cmocka_unit_test(test_end_that_does_not_come),
	};

	shared = mmap(NULL, sizeof(*shared), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1,
		      0);
	return cmocka_run_group_tests(tests, NULL, NULL);
}

/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Threads that block all signals: they are seen without stops, with all their CPU time,
 * and no signal of ours is left in them.
 */
#include "tests/unit/assert_sampled.h"
#include "traced_child.h"

/* What the tracer tells of threads that it does not stop. */
static unsigned passed;
static uint64_t passed_ns;
static bool passed_elsewhere;

static void on_passed(void *context, struct tracee *tracee, const struct event_record *records,
		      size_t count)
{
	(void)context;
	if (!tracee->unstopped)
		fail_outside("a thread that is stopped was told to have passed", tracee->id.tid);
	for (size_t i = 0; i < count; i++) {
		passed++;
		passed_ns += records[i].stands_for_ns;
		passed_elsewhere |= !records[i].ip;
	}
}

static void attach(struct observer *observer)
{
	passed = 0;
	passed_ns = 0;
	passed_elsewhere = false;
	observer_attach(observer, observer->pid);
	observer->hooks.passed = on_passed;
}

static void block_all(void)
{
	sigset_t set;

	sigfillset(&set);
	pthread_sigmask(SIG_BLOCK, &set, NULL);
}

static bool has_pending(pid_t pid, pid_t tid)
{
	struct process_status status;

	return procfs_read_status(pid, tid, &status) || status.signals_pending;
}

static uint64_t cpu_ns(pid_t pid)
{
	clockid_t clock;

	assert_int_equal(clock_getcpuclockid(pid, &clock), 0);
	return clock_read_ns(clock);
}

static int child_blocking(void)
{
	block_all();
	shared->blocking = 1;
	while (!shared->stop)
		spin(1000);
	return 14;
}

static uint64_t ran_ns;

static void *scene_blocking(void *argument)
{
	struct observer *observer = argument;
	uint64_t began_ns;

	attach(observer);
	began_ns = cpu_ns(observer->pid);
	observer_poll_ms(observer, 300);
	ran_ns = cpu_ns(observer->pid) - began_ns;
	tracer_check_blocked(observer->tracer);
	assert_int_equal(tracer_counts(observer->tracer)->threads_blocking, 1);
	tracer_quiesce(observer->tracer);
	return NULL;
}

static void test_blocked_from_the_beginning(void **state)
{
	struct observer observer = { 0 };
	pid_t pid = start_child(child_blocking);

	(void)state;
	observer.pid = pid;
	while (!shared->blocking)
		usleep(1000);
	play(scene_blocking, &observer);
	print_message("%u records, %.1f of %.1f ms\n", passed, (double)passed_ns / 1e6,
		      (double)ran_ns / 1e6);
	assert_int_equal(observer.clocks, 0);
	assert_int_equal(tracer_counts(observer.tracer)->stops, 0);
	assert_false(passed_elsewhere);
	assert_sampled(passed > 10);
	/* The first record stands for a period, whenever it comes; the last is yet to come. */
	assert_sampled(passed_ns + 6 * NS_PER_MS > ran_ns - ran_ns / 20 &&
		       passed_ns < ran_ns + ran_ns / 20 + 6 * NS_PER_MS);
	assert_false(has_pending(pid, pid));
	assert_int_equal(tracer_counts(observer.tracer)->signals_left, 0);
	assert_undisturbed(pid);
	shared->stop = true;
	assert_exit(pid, 14);
	tracer_destroy(observer.tracer);
}

static volatile int *wanted; /* shared with the child */

/* Blocks and opens up as it is told. */
static int child_changing(void)
{
	sigset_t set;

	sigfillset(&set);
	while (!shared->stop) {
		if (shared->blocking != *wanted) {
			sigprocmask(*wanted ? SIG_BLOCK : SIG_UNBLOCK, &set, NULL);
			shared->blocking = *wanted;
		}
		spin(1000);
	}
	return 15;
}

static void poll_and_look(struct observer *observer, unsigned ms)
{
	for (unsigned i = 0; i < ms; i += 10) {
		observer_poll_ms(observer, 10);
		tracer_check_blocked(observer->tracer);
	}
}

static void *scene_changing(void *argument)
{
	struct observer *observer = argument;
	unsigned stopped, unstopped;

	attach(observer);
	for (int i = 0; i < 3; i++) {
		stopped = observer->clocks;
		poll_and_look(observer, 100);
		assert_sampled(observer->clocks > stopped);
		*wanted = 1;
		unstopped = passed;
		poll_and_look(observer, 100);
		assert_sampled(passed > unstopped);
		stopped = observer->clocks;
		poll_and_look(observer, 50);
		assert_int_equal(observer->clocks, stopped);
		/* The one that was on its way. */
		assert_true(has_pending(observer->pid, observer->pid));
		*wanted = 0;
	}
	poll_and_look(observer, 50);
	assert_false(has_pending(observer->pid, observer->pid));
	*wanted = 1;
	poll_and_look(observer, 50);
	tracer_quiesce(observer->tracer);
	return NULL;
}

static void test_blocks_and_opens_up(void **state)
{
	struct observer observer = { 0 };
	pid_t pid;
	int *page;

	(void)state;
	page = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	assert_ptr_not_equal(page, MAP_FAILED);
	wanted = page;
	pid = start_child(child_changing);
	observer.pid = pid;
	play(scene_changing, &observer);
	assert_int_equal(tracer_counts(observer.tracer)->threads_blocking, 1);
	assert_int_equal(tracer_counts(observer.tracer)->foreign_signals, 0);
	/* It is counted, and gone when the thread opens up. */
	assert_int_equal(tracer_counts(observer.tracer)->signals_left, 1);
	assert_undisturbed(pid);
	*wanted = 0;
	for (int wait_ms = 0; wait_ms < 1000 && shared->blocking; wait_ms++)
		usleep(1000);
	assert_false(has_pending(pid, pid));
	shared->stop = true;
	assert_exit(pid, 15);
	tracer_destroy(observer.tracer);
	munmap(page, 4096);
}

static void *blocking_thread(void *argument)
{
	block_all();
	__atomic_add_fetch(&shared->threads_done, 1, __ATOMIC_RELAXED);
	while (!shared->stop)
		spin(1000);
	return argument;
}

/* As pools do: not before they are wanted. */
static int child_pool(void)
{
	pthread_t threads[2];

	while (!shared->blocking)
		spin(1000);
	for (int i = 0; i < 2; i++)
		if (pthread_create(&threads[i], NULL, blocking_thread, NULL))
			return 1;
	for (int i = 0; i < 2; i++)
		pthread_join(threads[i], NULL);
	return 16;
}

static void *scene_pool(void *argument)
{
	struct observer *observer = argument;

	attach(observer);
	poll_and_look(observer, 50);
	shared->blocking = 1;
	poll_and_look(observer, 300);
	assert_int_equal(shared->threads_done, 2);
	tracer_quiesce(observer->tracer);
	return NULL;
}

static void test_born_and_blocking(void **state)
{
	struct observer observer = { 0 };
	pid_t pid = start_child(child_pool), tids[8];
	size_t count;

	(void)state;
	observer.pid = pid;
	play(scene_pool, &observer);
	assert_sampled(passed > 10);
	assert_int_equal(observer.started, 3);
	assert_int_equal(procfs_read_threads(pid, tids, 8, &count), 0);
	assert_int_equal(count, 3);
	for (size_t i = 0; i < count; i++)
		assert_false(has_pending(pid, tids[i]));
	assert_int_equal(tracer_counts(observer.tracer)->threads_blocking, 2);
	assert_int_equal(tracer_counts(observer.tracer)->signals_left, 0);
	assert_undisturbed(pid);
	shared->stop = true;
	assert_exit(pid, 16);
	tracer_destroy(observer.tracer);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_blocked_from_the_beginning),
		cmocka_unit_test(test_blocks_and_opens_up),
		cmocka_unit_test(test_born_and_blocking),
	};

	if (under_valgrind())
		return nothing_under_valgrind();
	return cmocka_run_group_tests(tests, share_memory, NULL);
}

/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The tracer on live children: exact data breakpoints, threads born while
 * attached, children of the target, the end of the target or of the tracer.
 */
#include "tests/unit/assert_sampled.h"
#include "traced_child.h"

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

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_traps_are_exact),
		cmocka_unit_test(test_new_threads_have_events),
		cmocka_unit_test(test_too_many_threads),
		cmocka_unit_test(test_exec),
		cmocka_unit_test(test_exit_while_attached),
		cmocka_unit_test(test_children_are_left_alone),
		cmocka_unit_test(test_tracer_killed),
	};

	if (under_valgrind())
		return nothing_under_valgrind();
	return cmocka_run_group_tests(tests, share_memory, NULL);
}

/* SPDX-License-Identifier: Apache-2.0 */
/* Children by looking, and by the kernel's count. */
#include "attach/children.h"
#include "attach/fork_counter.h"

#include <errno.h>
#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <spawn.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#define CHILDREN 5

static pid_t sleeper(void)
{
	pid_t pid = fork();

	if (!pid)
		for (;;)
			pause();
	assert_true(pid > 0);
	return pid;
}

static void *make_child(void *argument)
{
	*(pid_t *)argument = sleeper();
	pause();
	return NULL;
}

static void end(pid_t pid)
{
	kill(pid, SIGKILL);
	assert_int_equal(waitpid(pid, NULL, 0), pid);
}

static bool is_among(pid_t pid, const pid_t *pids, size_t count)
{
	for (size_t i = 0; i < count; i++)
		if (pids[i] == pid)
			return true;
	return false;
}

/* Those of all threads, and no grandchild. */
static void test_children(void **state)
{
	pid_t made[CHILDREN + 1];
	struct pid_list found = { 0 };
	pthread_t thread;

	(void)state;
	assert_int_equal(children_read(getpid(), &found), 0);
	assert_int_equal(found.count, 0);
	for (size_t i = 0; i < CHILDREN; i++)
		made[i] = sleeper();
	made[CHILDREN] = 0;
	assert_int_equal(pthread_create(&thread, NULL, make_child, &made[CHILDREN]), 0);
	while (!__atomic_load_n(&made[CHILDREN], __ATOMIC_ACQUIRE))
		usleep(1000);
	assert_int_equal(children_read(getpid(), &found), 0);
	assert_int_equal(found.count, CHILDREN + 1);
	for (size_t i = 0; i <= CHILDREN; i++)
		assert_true(is_among(made[i], found.items, found.count));
	assert_int_equal(children_read(made[0], &found), 0);
	assert_int_equal(found.count, 0);
	for (size_t i = 0; i <= CHILDREN; i++)
		end(made[i]);
	assert_int_equal(children_read(made[0], &found), -ESRCH);
	pid_list_deinit(&found);
}

static void *nothing(void *argument)
{
	return argument;
}

/* Processes, however soon they end; no threads. More than the ring holds at once. */
static void test_fork_counter(void **state)
{
	struct fork_counter counter;
	uint64_t counted = 0;
	char word[] = "true", *words[] = { word, NULL };
	const unsigned forks = 300;

	(void)state;
	assert_int_equal(fork_counter_open(&counter, gettid()), 0);
	assert_int_equal(fork_counter_take(&counter), 0);
	for (unsigned i = 0; i < forks; i++) {
		pid_t pid = i % 2 ? fork() : 0;
		pthread_t thread;

		if (i % 2 && !pid)
			_exit(0);
		/* As subprocess does, by vfork. */
		if (i % 2 == 0)
			assert_int_equal(posix_spawn(&pid, "/bin/true", NULL, NULL, words, NULL),
					 0);
		assert_int_equal(waitpid(pid, NULL, 0), pid);
		assert_int_equal(pthread_create(&thread, NULL, nothing, NULL), 0);
		pthread_join(thread, NULL);
		if (i % 20 == 0)
			counted += fork_counter_take(&counter);
	}
	counted += fork_counter_take(&counter);
	assert_int_equal(counted, forks);
	fork_counter_close(&counter);
	assert_int_equal(fork_counter_take(&counter), 0);
}

static void *wait_for_ever(void *unused)
{
	(void)unused;
	for (;;)
		pause();
	return NULL;
}

/* Of the last of so many threads. */
static void test_child_of_many_threads(void **state)
{
	enum {
		THREADS = 4200
	};
	pid_t *made = mmap(NULL, sizeof(*made), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS,
			   -1, 0);
	struct pid_list found = { 0 };
	pid_t child;

	(void)state;
	assert_ptr_not_equal(made, MAP_FAILED);
	child = fork();
	if (!child) {
		pthread_attr_t small;
		pthread_t thread;

		prctl(PR_SET_PDEATHSIG, SIGKILL);
		pthread_attr_init(&small);
		pthread_attr_setstacksize(&small, 64 << 10);
		for (int i = 1; i <= THREADS; i++)
			if (pthread_create(&thread, &small,
					   i < THREADS ? wait_for_ever : make_child, made))
				_exit(1);
		pause();
	}
	assert_true(child > 0);
	while (!__atomic_load_n(made, __ATOMIC_ACQUIRE)) {
		usleep(1000);
		assert_int_equal(waitpid(child, NULL, WNOHANG), 0);
	}
	assert_int_equal(children_read(child, &found), 0);
	assert_int_equal(found.count, 1);
	assert_int_equal(found.items[0], *made);
	kill(*made, SIGKILL);
	end(child);
	pid_list_deinit(&found);
	munmap(made, sizeof(*made));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_children),
		cmocka_unit_test(test_child_of_many_threads),
		cmocka_unit_test(test_fork_counter),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

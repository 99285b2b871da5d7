/* SPDX-License-Identifier: Apache-2.0 */
/* A process with more threads than are sampled unstopped. */
#include "daemon/sample/unstopped_sampler.h"

#include "common/clock.h"

#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#define THREADS_MAX 4096

static void *wait_for_ever(void *unused)
{
	for (;;)
		pause();
	return unused;
}

/* *begun: how many threads there are, *wanted: how many there are to be. */
static pid_t start_child(unsigned *begun, const unsigned *wanted)
{
	pid_t pid = fork();
	pthread_attr_t small;
	pthread_t thread;

	assert_true(pid >= 0);
	if (pid)
		return pid;
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	pthread_attr_init(&small);
	pthread_attr_setstacksize(&small, 64 << 10);
	__atomic_store_n(begun, 1, __ATOMIC_RELEASE);
	for (;;) {
		if (__atomic_load_n(wanted, __ATOMIC_ACQUIRE) == *begun)
			usleep(1000);
		else if (pthread_create(&thread, &small, wait_for_ever, NULL))
			_exit(1);
		else
			__atomic_add_fetch(begun, 1, __ATOMIC_RELEASE);
	}
}

static void await(pid_t pid, const unsigned *begun, unsigned count)
{
	while (__atomic_load_n(begun, __ATOMIC_ACQUIRE) != count) {
		usleep(1000);
		assert_int_equal(waitpid(pid, NULL, WNOHANG), 0);
	}
}

static void test_too_many_threads(void **state)
{
	unsigned *shared = mmap(NULL, 2 * sizeof(*shared), PROT_READ | PROT_WRITE,
				MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	struct target target = { 0 };
	struct losses losses = { 0 };
	struct thread_times times;
	struct unstopped_sink sink = { .losses = &losses, .threads = &times };
	struct unstopped_sampler *sampler;

	(void)state;
	assert_ptr_not_equal(shared, MAP_FAILED);
	assert_int_equal(thread_times_init(&times), 0);
	shared[1] = THREADS_MAX;
	target.pid = start_child(&shared[0], &shared[1]);
	await(target.pid, &shared[0], THREADS_MAX);
	sampler = unstopped_sampler_create(&target, NS_PER_MS, &sink);
	assert_non_null(sampler);
	unstopped_sampler_begin(sampler);
	assert_int_equal(losses.counts[LOSS_TARGET_LIMIT], 0);
	__atomic_store_n(&shared[1], THREADS_MAX + 1, __ATOMIC_RELEASE);
	await(target.pid, &shared[0], THREADS_MAX + 1);
	/* Once, however often it is looked at. */
	for (int i = 0; i < 2; i++) {
		unstopped_sampler_begin(sampler);
		assert_int_equal(losses.counts[LOSS_TARGET_LIMIT], 1);
	}
	unstopped_sampler_destroy(sampler);
	thread_times_deinit(&times);
	kill(target.pid, SIGKILL);
	assert_int_equal(waitpid(target.pid, NULL, 0), target.pid);
	munmap(shared, 2 * sizeof(*shared));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_too_many_threads),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

/* SPDX-License-Identifier: Apache-2.0 */
/* Time that threads were ready to run and had no CPU. */
#include "daemon/sample/queued_time.h"

#include "common/clock.h"

#include <pthread.h>
#include <sched.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <time.h>
#include <unistd.h>

#include <cmocka.h>

#define WORK_NS (200 * NS_PER_MS)

/* Two threads on one CPU: each waits while the other one works. */
static void *work(void *unused)
{
	struct timespec now;

	(void)unused;
	do
		clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
	while ((uint64_t)now.tv_sec * NS_PER_SECOND + (uint64_t)now.tv_nsec < WORK_NS);
	return NULL;
}

static void share_a_cpu(void)
{
	cpu_set_t all, one;
	pthread_t thread;

	assert_int_equal(sched_getaffinity(0, sizeof(all), &all), 0);
	CPU_ZERO(&one);
	for (int i = 0; i < CPU_SETSIZE && !CPU_COUNT(&one); i++)
		if (CPU_ISSET(i, &all))
			CPU_SET(i, &one);
	assert_int_equal(sched_setaffinity(0, sizeof(one), &one), 0);
	assert_int_equal(pthread_create(&thread, NULL, work, NULL), 0);
	work(NULL);
	pthread_join(thread, NULL);
	assert_int_equal(sched_setaffinity(0, sizeof(all), &all), 0);
}

static void test_shared_cpu(void **state)
{
	static struct queued_time time;
	uint64_t first_ns;

	(void)state;
	queued_time_begin(&time, getpid(), clock_now_ns());
	if (!time.known)
		skip(); /* this kernel does not count */
	share_a_cpu();
	/* Too early to look again. */
	queued_time_update(&time, getpid(), time.read_ns + 1);
	assert_int_equal(time.time_ns, 0);
	queued_time_end(&time, getpid());
	assert_true(time.known);
	/* At the least what one of them waited, less much: the other one may have ended first. */
	assert_true(time.time_ns > WORK_NS / 10);
	/* A pause does not count, and nothing is lost by going on. */
	first_ns = time.time_ns;
	queued_time_begin(&time, getpid(), clock_now_ns());
	assert_int_equal(time.time_ns, first_ns);
	queued_time_end(&time, getpid());
	assert_true(time.time_ns >= first_ns);
}

static void test_gone(void **state)
{
	static struct queued_time time;

	(void)state;
	queued_time_begin(&time, 0x7ffffff0, 1);
	assert_false(time.known);
	queued_time_end(&time, 0x7ffffff0);
	assert_false(time.known);
}

static void *wait_for_pipe(void *end)
{
	char byte;

	(void)!read(*(int *)end, &byte, 1);
	return NULL;
}

/* Of a process with more threads than it may have, nothing is known. */
static void test_too_many_threads(void **state)
{
	static pthread_t threads[QUEUED_THREADS_MAX];
	static struct queued_time time;
	pthread_attr_t small;
	int ends[2];

	(void)state;
	queued_time_begin(&time, getpid(), clock_now_ns());
	if (!time.known)
		skip();
	assert_int_equal(pipe(ends), 0);
	pthread_attr_init(&small);
	pthread_attr_setstacksize(&small, 64 << 10);
	for (size_t i = 0; i < QUEUED_THREADS_MAX - 1; i++)
		assert_int_equal(pthread_create(&threads[i], &small, wait_for_pipe, &ends[0]), 0);
	usleep(100000);
	queued_time_end(&time, getpid());
	assert_true(time.known);
	queued_time_begin(&time, getpid(), clock_now_ns());
	assert_int_equal(time.count, QUEUED_THREADS_MAX);
	assert_int_equal(
		pthread_create(&threads[QUEUED_THREADS_MAX - 1], &small, wait_for_pipe, &ends[0]),
		0);
	usleep(100000);
	queued_time_end(&time, getpid());
	assert_false(time.known);
	queued_time_begin(&time, getpid(), clock_now_ns());
	assert_false(time.known);
	close(ends[1]);
	for (size_t i = 0; i < QUEUED_THREADS_MAX; i++)
		pthread_join(threads[i], NULL);
	close(ends[0]);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_shared_cpu),
		cmocka_unit_test(test_gone),
		cmocka_unit_test(test_too_many_threads),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

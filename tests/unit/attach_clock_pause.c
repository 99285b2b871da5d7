/* SPDX-License-Identifier: Apache-2.0 */
/* A thread's clocks, this one's, that run in a part of its time: what it ran, and what samples
 * tell. */
#include "attach/clock_pause.h"

#include "attach/kernel_clock.h"
#include "attach/thread_events.h"
#include "common/clock.h"

#include <errno.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stdint.h>
#include <time.h>
#include <unistd.h>

#include <cmocka.h>

#include "tests/unit/assert_sampled.h"

#define PERIOD_NS NS_PER_MS
/* Until the scheduler's account is up to date. */
#define LATE_NS (20 * NS_PER_MS)

static uint64_t cpu_ns(void)
{
	struct timespec time;

	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time);
	return (uint64_t)time.tv_sec * NS_PER_SECOND + (uint64_t)time.tv_nsec;
}

static uint64_t run(uint64_t least_ns)
{
	uint64_t began_ns = cpu_ns(), passed_ns;
	volatile unsigned sum = 0;

	do {
		for (unsigned i = 0; i < 100000; i++)
			sum += i;
		passed_ns = cpu_ns() - began_ns;
	} while (passed_ns < least_ns);
	return passed_ns;
}

/* One that is gone: it has run for no time more. */
#define NOBODY INT32_MAX

static void test_stretch(void **state)
{
	struct clock_pause pause = { 0 };

	(void)state;
	assert_int_equal(clock_pause_stretch(&pause, 10), 10);
	clock_pause_slice(&pause, 0, 3);
	assert_int_equal(clock_pause_stretch(&pause, 10), 30);
	assert_int_equal(clock_pause_period(&pause, 10), 10);
	pause.density = 2;
	assert_int_equal(clock_pause_period(&pause, 10), 5);
	pause = (struct clock_pause){ .passed_ns = 5 };
	clock_pause_begin(&pause, NOBODY, 7);
	assert_true(pause.paused);
	assert_int_equal(clock_pause_passed_ns(&pause, NOBODY), 5);
	clock_pause_end(&pause, NOBODY);
	assert_false(pause.paused);
	assert_int_equal(pause.passed_ns, 5);
}

/* Slices of which some have more of the thread's time than others, and pauses of any length. */
static void test_stands_for_all(void **state)
{
	static const uint64_t slices[] = { 40, 40, 10, 50, 40 },
			      pauses[] = { 0, 60, 360, 200, 120 };
	struct clock_pause pause = { 0 };
	uint64_t clock_ns = 0, ran_ns, stands_ns;

	(void)state;
	for (unsigned i = 0; i < 500; i++) {
		pause.passed_ns += pauses[i % 5] * NS_PER_MS;
		clock_pause_slice(&pause, clock_ns, 5);
		clock_ns += slices[i * 3 % 5] * NS_PER_MS;
		clock_pause_begin(&pause, NOBODY, clock_ns);
		clock_pause_end(&pause, NOBODY);
	}
	ran_ns = clock_ns + pause.passed_ns;
	stands_ns = clock_pause_represented_ns(&pause, clock_ns);
	/* By less than one block and its pause, of 500. */
	assert_in_range(stands_ns, ran_ns - 400 * NS_PER_MS, ran_ns + 400 * NS_PER_MS);
	/* And as it was when there are no more pauses. */
	clock_pause_slice(&pause, clock_ns, 1);
	assert_int_equal(clock_pause_stretch(&pause, 10), 10);
	assert_in_range(clock_pause_represented_ns(&pause, clock_ns + 100), stands_ns + 99,
			stands_ns + 101);
}

static void test_one_part_of_three(void **state)
{
	struct thread_events events;
	struct kernel_clock kernel = { .fd = -1 };
	struct event_record record;
	uint64_t on_ns, off_ns, running_ns, sampled_ns = 0;
	int error = thread_events_open(&events, gettid(), SIGURG, PERIOD_NS);

	(void)state;
	/* Whoever may not have perf events here; any other error is one. */
	if (error == -EACCES || error == -EPERM || error == -ENOSYS)
		skip();
	assert_int_equal(error, 0);
	thread_events_enable_clock(&events, true);
	thread_events_pause_clock(&events);
	/* Is told that all clocks go on: this one does not. */
	thread_events_enable_clock(&events, true);
	off_ns = run(40 * PERIOD_NS);
	assert_int_equal(thread_events_drain(&events, &record, 1), 0);
	running_ns = thread_events_running_ns(&events);
	assert_in_range(running_ns, off_ns - LATE_NS, off_ns + LATE_NS);
	thread_events_resume_clock(&events, 3, true);
	on_ns = run(20 * PERIOD_NS);
	thread_events_pause_clock(&events);
	kernel_clock_pause(&kernel, &events.pause);
	assert_true(kernel.pause.paused);
	running_ns = thread_events_running_ns(&events);
	assert_in_range(running_ns, on_ns + off_ns - LATE_NS, on_ns + off_ns + LATE_NS);
	while (thread_events_drain(&events, &record, 1)) {
		assert_true(record.running_ns + LATE_NS > off_ns);
		sampled_ns += record.stands_for_ns;
	}
	assert_sampled(sampled_ns > on_ns && sampled_ns < 6 * on_ns);
	thread_events_close(&events);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_stretch),
		cmocka_unit_test(test_stands_for_all),
		cmocka_unit_test(test_one_part_of_three),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

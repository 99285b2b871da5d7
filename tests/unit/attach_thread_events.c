/* SPDX-License-Identifier: Apache-2.0 */
/* The clock of a thread, this one, that ends before its records are read; breakpoints' time. */
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

static uint64_t cpu_ns(void)
{
	struct timespec time;

	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time);
	return (uint64_t)time.tv_sec * NS_PER_SECOND + (uint64_t)time.tv_nsec;
}

/* In user code, mostly. Returns how long it took. */
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

/* SIGURG, which is ignored, is what it would be stopped by. */
static void begin(struct thread_events *events, struct sampling_rest rest)
{
	int error = thread_events_open_after(events, gettid(), SIGURG, PERIOD_NS, rest);

	/* Whoever may not have perf events here; any other error is one. */
	if (error == -EACCES || error == -EPERM || error == -ENOSYS)
		skip();
	assert_int_equal(error, 0);
	thread_events_enable_clock(events, true);
}

static void test_unread_records_are_owed(void **state)
{
	struct thread_events events;
	struct sampling_rest rest = { .left_ns = PERIOD_NS / 2, .whole_ns = PERIOD_NS };
	struct event_record record;
	uint64_t ran_ns, second_ns = 0;

	(void)state;
	begin(&events, rest);
	ran_ns = run(20 * PERIOD_NS);
	thread_events_enable_clock(&events, false);
	rest = thread_events_rest(&events);
	thread_events_close(&events);
	/* On a busy machine, the timers are late. */
	assert_sampled(rest.owed_ns > ran_ns / 2 && rest.owed_ns < ran_ns + 2 * PERIOD_NS);
	assert_true(rest.left_ns && rest.left_ns < PERIOD_NS && rest.whole_ns >= rest.left_ns);

	/* The next one's first sample has that time, too, and nobody's after it. */
	begin(&events, rest);
	(void)run(10 * PERIOD_NS);
	thread_events_enable_clock(&events, false);
	assert_sampled(thread_events_drain(&events, &record, 1) == 1);
	assert_true(record.stands_for_ns >= rest.owed_ns);
	while (thread_events_drain(&events, &record, 1))
		second_ns += record.stands_for_ns;
	assert_sampled(second_ns < 20 * PERIOD_NS);
	assert_int_equal(thread_events_rest(&events).owed_ns, 0);
	thread_events_close(&events);
}

static void test_nothing_is_owed(void **state)
{
	const struct sampling_rest wanted = { .left_ns = 900 * NS_PER_SECOND,
					      .whole_ns = 901 * NS_PER_SECOND };
	struct thread_events events;
	struct sampling_rest rest;

	(void)state;
	begin(&events, wanted);
	(void)run(NS_PER_MS);
	thread_events_enable_clock(&events, false);
	rest = thread_events_rest(&events);
	thread_events_close(&events);
	assert_int_equal(rest.owed_ns, 0);
	assert_int_equal(rest.whole_ns, wanted.whole_ns);
	assert_true(rest.left_ns < wanted.left_ns);

	/* What another one owed is handed on. */
	begin(&events, (struct sampling_rest){ 900 * NS_PER_SECOND, 901 * NS_PER_SECOND, 7 });
	rest = thread_events_rest(&events);
	thread_events_close(&events);
	assert_int_equal(rest.owed_ns, 7);
}

/* Of two at the same time, once. */
static void test_armed_time(void **state)
{
	const struct timespec moment = { .tv_nsec = 2 * NS_PER_MS };
	const remote_addr never_touched = 0x10000;
	struct thread_events events;
	uint64_t began_ns, armed_ns;
	int error;

	(void)state;
	begin(&events, (struct sampling_rest){ 0 });
	thread_events_enable_clock(&events, false);
	assert_int_equal(thread_events_armed_ns(&events, clock_now_ns()), 0);
	began_ns = clock_now_ns();
	error = breakpoint_arm(&events, 0, BREAKPOINT_READ_WRITE, never_touched, 8);
	if (!error)
		error = breakpoint_arm(&events, 1, BREAKPOINT_EXECUTE, never_touched, 8);
	if (error) {
		thread_events_close(&events);
		skip();
	}
	(void)nanosleep(&moment, NULL);
	armed_ns = thread_events_armed_ns(&events, clock_now_ns());
	assert_in_range(armed_ns, 2 * NS_PER_MS, clock_now_ns() - began_ns);
	breakpoint_disarm(&events, 0);
	breakpoint_disarm(&events, 0);
	assert_true(thread_events_armed_ns(&events, clock_now_ns()) > armed_ns);
	breakpoint_disarm(&events, 1);
	armed_ns = thread_events_armed_ns(&events, clock_now_ns());
	(void)nanosleep(&moment, NULL);
	assert_int_equal(thread_events_armed_ns(&events, clock_now_ns()), armed_ns);
	/* Armed anew, and aimed anew. */
	assert_int_equal(breakpoint_arm(&events, 1, BREAKPOINT_EXECUTE, never_touched, 8), 0);
	assert_int_equal(breakpoint_arm(&events, 1, BREAKPOINT_EXECUTE, never_touched + 8, 8), 0);
	breakpoint_disarm(&events, 1);
	assert_true(thread_events_armed_ns(&events, UINT64_MAX) > armed_ns);
	assert_true(thread_events_armed_ns(&events, UINT64_MAX) < clock_now_ns() - began_ns);
	thread_events_close(&events);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_unread_records_are_owed),
		cmocka_unit_test(test_nothing_is_owed),
		cmocka_unit_test(test_armed_time),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

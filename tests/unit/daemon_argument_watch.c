/* SPDX-License-Identifier: Apache-2.0 */
/* How long a call is watched for; what is found by it, tests/e2e/test_repeats.py has. */
#include "daemon/detect/argument_watch.h"

#include "attach/tracee_table.h"
#include "common/clock.h"

#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

/* As in docs/SECURITY.md. */
#define TRAPS         8
#define ROW_TRAPS     40
#define UNKNOWN_CALLS 4
#define WAIT_NS       (100 * NS_PER_MS)
#define SLOT          2
#define NOW           NS_PER_SECOND

struct watched {
	struct tracee tracee;
	struct argument_watch watch;
	struct capture capture; /* without Python frames: nothing is compared */
	uint64_t word;
};

/* A child that sleeps, in which a word is watched. */
static struct watched *watched_create(void)
{
	struct watched *watched = calloc(1, sizeof(*watched));
	pid_t pid = fork();

	assert_non_null(watched);
	assert_true(pid >= 0);
	if (pid == 0) {
		/* A check that fails leaves none behind. */
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		pause();
		_exit(0);
	}
	watched->tracee.id.tid = pid;
	assert_int_equal(thread_events_open(&watched->tracee.events, pid, SIGURG, NS_PER_SECOND),
			 0);
	argument_watch_init(&watched->watch);
	assert_false(argument_watch_is_at(&watched->watch, SLOT));
	assert_true(argument_watch_arm(&watched->watch, &watched->tracee, SLOT,
				       (remote_addr)(uintptr_t)&watched->word, NOW));
	assert_true(argument_watch_is_at(&watched->watch, SLOT));
	return watched;
}

static void watched_destroy(struct watched *watched)
{
	pid_t pid = watched->tracee.id.tid;

	thread_events_close(&watched->tracee.events);
	kill(pid, SIGKILL);
	assert_int_equal(waitpid(pid, NULL, 0), pid);
	free(watched);
}

/* After how many traps it is over, each at the next of so many places in the interpreter. */
static unsigned traps_until_over(struct watched *watched, unsigned places)
{
	for (unsigned traps = 1;; traps++) {
		watched->capture.registers.rip = 0x1000 + traps % places;
		if (argument_watch_meet(&watched->watch, NULL, &watched->tracee, &watched->capture,
					NOW))
			return traps;
		assert_true(argument_watch_is_at(&watched->watch, SLOT));
	}
}

static void test_traps(void **state)
{
	/* One place: where it begins, three times. Of several, one trap in so many is that. */
	static const unsigned expected[][2] = { { 1, 3 }, { 2, 5 }, { 3, 7 }, { 100, TRAPS } };

	(void)state;
	for (size_t i = 0; i < sizeof(expected) / sizeof(expected[0]); i++) {
		struct watched *watched = watched_create();

		assert_int_equal(traps_until_over(watched, expected[i][0]), expected[i][1]);
		assert_false(argument_watch_is_at(&watched->watch, SLOT));
		/* The slot is free. */
		assert_false(watched->tracee.events.slots[SLOT].enabled);
		watched_destroy(watched);
	}
}

static void test_row(void **state)
{
	/* Not one of these calls can be told. */
	static const unsigned expected[][2] = { { 1, UNKNOWN_CALLS }, { 100, ROW_TRAPS } };

	(void)state;
	for (size_t i = 0; i < sizeof(expected) / sizeof(expected[0]); i++) {
		struct watched *watched = watched_create();

		watched->watch.row_length = ARGUMENT_ROW;
		assert_int_equal(traps_until_over(watched, expected[i][0]), expected[i][1]);
		assert_false(watched->tracee.events.slots[SLOT].enabled);
		watched_destroy(watched);
	}
}

static void test_time(void **state)
{
	struct watched *watched = watched_create();
	struct argument_watch *watch = &watched->watch;

	(void)state;
	assert_int_equal(argument_watch_expire(watch, NULL, &watched->tracee, NOW + WAIT_NS - 1),
			 ARGUMENT_WATCH_NO_SLOT);
	assert_true(watched->tracee.events.slots[SLOT].enabled);
	assert_int_equal(argument_watch_expire(watch, NULL, &watched->tracee, NOW + WAIT_NS), SLOT);
	assert_false(watched->tracee.events.slots[SLOT].enabled);
	assert_int_equal(argument_watch_expire(watch, NULL, &watched->tracee, UINT64_MAX),
			 ARGUMENT_WATCH_NO_SLOT);
	watched_destroy(watched);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_traps),
		cmocka_unit_test(test_row),
		cmocka_unit_test(test_time),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

/* SPDX-License-Identifier: Apache-2.0 */
/* The scheduler's figures: they stand still for a thread that sleeps, and only for one that does.
 */
#include "attach/thread_schedule.h"

#include "common/clock.h"

#include <errno.h>
#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <unistd.h>

#include <cmocka.h>

struct sleeper {
	int go[2], came[2];
	pid_t tid;
};

/* Reads and answers each byte; ends with the pipe. */
static void *run(void *argument)
{
	struct sleeper *sleeper = argument;
	char byte;

	sleeper->tid = gettid();
	if (write(sleeper->came[1], "", 1) != 1)
		return NULL;
	while (read(sleeper->go[0], &byte, 1) == 1 && write(sleeper->came[1], &byte, 1) == 1)
		;
	return NULL;
}

static void read_while_asleep(int fd, struct thread_schedule *ret_schedule)
{
	struct thread_schedule before;

	/* It answers before it sleeps again: until its figures stand still for a while. */
	do {
		assert_int_equal(thread_schedule_read(fd, &before), 0);
		usleep(20000);
		assert_int_equal(thread_schedule_read(fd, ret_schedule), 0);
	} while (before.turns != ret_schedule->turns || before.run_ns != ret_schedule->run_ns);
}

static void test_turns(void **state)
{
	struct sleeper sleeper;
	struct thread_schedule first, last, now;
	pthread_t thread;
	char byte;
	int fd;

	(void)state;
	assert_int_equal(pipe(sleeper.go), 0);
	assert_int_equal(pipe(sleeper.came), 0);
	assert_int_equal(pthread_create(&thread, NULL, run, &sleeper), 0);
	assert_int_equal(read(sleeper.came[0], &byte, 1), 1);
	fd = thread_schedule_open(getpid(), sleeper.tid);
	assert_true(fd >= 0);
	read_while_asleep(fd, &first);
	last = first;
	for (unsigned i = 0; i < 20; i++) {
		assert_int_equal(write(sleeper.go[1], "", 1), 1);
		assert_int_equal(read(sleeper.came[0], &byte, 1), 1);
		read_while_asleep(fd, &now);
		assert_true(now.turns > last.turns);
		/* What a hypervisor took in the meantime is subtracted: of so short a turn
		 * nothing may be left. Hence turns are what tells that a thread has run.
		 */
		assert_true(now.run_ns >= last.run_ns);
		assert_true(now.queued_ns >= last.queued_ns);
		last = now;
	}
	assert_true(last.run_ns > first.run_ns);
	close(sleeper.go[1]);
	assert_int_equal(pthread_join(thread, NULL), 0);
	/* A thread is joined a moment before the kernel lets go of it. */
	for (unsigned i = 0; i < 1000 && thread_schedule_read(fd, &now) >= 0; i++)
		usleep(1000);
	assert_true(thread_schedule_read(fd, &now) < 0);
	close(fd);
	close(sleeper.go[0]);
	close(sleeper.came[0]);
	close(sleeper.came[1]);
}

static void test_refusals(void **state)
{
	struct thread_schedule schedule;
	int fds[2];

	(void)state;
	assert_true(thread_schedule_open(getpid(), 1) < 0);
	assert_int_equal(thread_schedule_read(-1, &schedule), -EBADF);
	assert_int_equal(pipe(fds), 0);
	assert_int_equal(thread_schedule_read(fds[0], &schedule), -ESPIPE);
	close(fds[0]);
	close(fds[1]);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_turns),
		cmocka_unit_test(test_refusals),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

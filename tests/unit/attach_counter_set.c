/* SPDX-License-Identifier: Apache-2.0 */
/* Counters of a thread against what it knows itself. Skipped where they are not permitted. */
#include "attach/counter_set.h"

#include "common/clock.h"
#include "tests/must.h"

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include <cmocka.h>

#define PAGE   4096u
#define PAGES  200u
#define SLEEPS 20
#define KERNELS                                                                                    \
	(1u << COUNTER_CPU | 1u << COUNTER_SWITCHES | 1u << COUNTER_MIGRATIONS |                   \
	 1u << COUNTER_FAULTS | 1u << COUNTER_MAJOR_FAULTS)

static bool permitted(void)
{
	struct error error;

	return !counter_set_check(KERNELS, &error);
}

static void touch(void)
{
	volatile uint8_t *bytes = mmap(NULL, (size_t)PAGES * PAGE, PROT_READ | PROT_WRITE,
				       MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	must(bytes != MAP_FAILED);
	(void)madvise((void *)(uintptr_t)bytes, (size_t)PAGES * PAGE, MADV_NOHUGEPAGE);
	for (uint32_t i = 0; i < PAGES; i++)
		bytes[(size_t)i * PAGE] = 1;
	must(!munmap((void *)(uintptr_t)bytes, (size_t)PAGES * PAGE));
}

static void rest(void)
{
	const struct timespec sleep = { .tv_nsec = 1000 };

	for (int i = 0; i < SLEEPS; i++)
		(void)nanosleep(&sleep, NULL);
}

static void test_own_thread(void **state)
{
	uint64_t before[COUNTER_KINDS], after[COUNTER_KINDS], cpu_ns;
	struct rusage began, ended;
	struct counter_set set;
	unsigned known;

	(void)state;
	if (!permitted())
		skip();
	assert_int_equal(counter_set_open(&set, gettid(), KERNELS), 0);
	counter_set_read(&set, before, &known);
	assert_int_equal(known, KERNELS);
	must(!getrusage(RUSAGE_THREAD, &began));
	cpu_ns = clock_thread_cpu_ns();
	touch();
	rest();
	cpu_ns = clock_thread_cpu_ns() - cpu_ns;
	must(!getrusage(RUSAGE_THREAD, &ended));
	counter_set_read(&set, after, &known);
	assert_int_equal(known, KERNELS);
	/* By another of the kernel's clocks. */
	assert_true(after[COUNTER_CPU] - before[COUNTER_CPU] >= cpu_ns / 2);
	assert_true(after[COUNTER_FAULTS] - before[COUNTER_FAULTS] >=
		    (uint64_t)(ended.ru_minflt - began.ru_minflt));
	assert_true(after[COUNTER_FAULTS] >= PAGES);
	assert_true(after[COUNTER_SWITCHES] - before[COUNTER_SWITCHES] >=
		    (uint64_t)(ended.ru_nvcsw - began.ru_nvcsw));
	/* What was not asked for is not known. */
	assert_int_equal(after[COUNTER_CYCLES], 0);
	counter_set_close(&set);
	counter_set_read(&set, after, &known);
	assert_int_equal(known, 0);
}

/* One that has ended can be read as before. */
static void test_ended(void **state)
{
	uint64_t values[COUNTER_KINDS];
	struct counter_set set;
	unsigned known;
	int pipes[2], status;
	pid_t pid;
	char byte;

	(void)state;
	if (!permitted())
		skip();
	must(!pipe(pipes));
	pid = fork();
	must(pid >= 0);
	if (!pid) {
		must(read(pipes[0], &byte, 1) == 1);
		touch();
		_exit(0);
	}
	assert_int_equal(counter_set_open(&set, pid, KERNELS), 0);
	must(write(pipes[1], "x", 1) == 1);
	must(waitpid(pid, &status, 0) == pid && !status);
	counter_set_read(&set, values, &known);
	assert_int_equal(known, KERNELS);
	assert_true(values[COUNTER_FAULTS] >= PAGES);
	assert_true(values[COUNTER_CPU] > 0);
	counter_set_close(&set);
	assert_int_equal(counter_set_open(&set, pid, KERNELS), -ESRCH);
	close(pipes[0]);
	close(pipes[1]);
}

static void test_names(void **state)
{
	(void)state;
	for (int i = 0; i < COUNTER_KINDS; i++) {
		const char *name = counter_name((enum counter_kind)i);

		assert_int_equal(counter_find(name, strlen(name)), i);
		assert_int_equal(counter_find(name, strlen(name) - 1), -1);
	}
	assert_int_equal(counter_find("", 0), -1);
	assert_int_equal(counter_find("cpu,cycles", 3), COUNTER_CPU);
}

/* The words for what there is not: a PMU's, on most machines that tests run on. */
static void test_check(void **state)
{
	struct error error = { .cause = "" };
	int failure = counter_set_check(1u << COUNTER_CYCLES, &error);

	(void)state;
	assert_int_equal(counter_set_check(0, &error), 0);
	if (!failure)
		return;
	assert_non_null(strstr(error.cause, "no counter of cycles here"));
	assert_true(error.cure[0] != '\0');
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_own_thread),
		cmocka_unit_test(test_ended),
		cmocka_unit_test(test_names),
		cmocka_unit_test(test_check),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

/* SPDX-License-Identifier: Apache-2.0 */
/* Several processes sampled by the same clocks: real ones, by the kernel that is there. */
#include "attach/clock_hub.h"
#include "attach/kernel_clocks.h"

#include "assert_sampled.h"
#include "common/clock.h"

#include <dirent.h>
#include <limits.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#define PERIOD_NS (2 * NS_PER_MS)
#define WORK_NS   (700 * NS_PER_MS)
/* No process has such a number. */
#define NOBODY 0x3ffff000

struct child {
	pid_t pid;
	struct kernel_clocks *clocks;
	unsigned samples, strange;
	uint64_t time_ns;
	uint64_t began_ns; /* CPU time */
};

static void child_start(struct child *child)
{
	*child = (struct child){ .pid = fork() };
	assert_true(child->pid >= 0);
	if (!child->pid) {
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		for (volatile unsigned i = 0;; i++)
			;
	}
}

static void child_end(struct child *child)
{
	kernel_clocks_destroy(child->clocks);
	kill(child->pid, SIGKILL);
	assert_int_equal(waitpid(child->pid, NULL, 0), child->pid);
}

static uint64_t cpu_ns(const struct child *child)
{
	clockid_t clock;

	assert_int_equal(clock_getcpuclockid(child->pid, &clock), 0);
	return clock_read_ns(clock);
}

/* False: the kernel does not let us, which is none of this test's business. */
static bool child_sample(struct child *child, uint64_t period_ns)
{
	const struct clock_config config = { 0 };
	struct error error = { 0 };

	child->clocks = kernel_clocks_create(child->pid, &config, period_ns, &error);
	if (!child->clocks) {
		print_message("skipped: %s\n", error.cause);
		return false;
	}
	child->began_ns = cpu_ns(child);
	kernel_clocks_enable(child->clocks, true);
	return true;
}

static void take(void *context, const struct clock_sample *sample)
{
	struct child *child = context;

	child->samples++;
	child->strange += sample->tid != child->pid;
	child->time_ns += sample->stands_for_ns;
}

static void wait_and_read(struct child *children, size_t count)
{
	const struct timespec pause = { .tv_nsec = 10 * NS_PER_MS };
	uint64_t spent_ns = 0;

	for (unsigned i = 0; i < 2000 && spent_ns < WORK_NS; i++) {
		(void)nanosleep(&pause, NULL);
		for (size_t k = 0; k < count; k++)
			(void)kernel_clocks_read(children[k].clocks, take, &children[k], UINT_MAX);
		spent_ns = cpu_ns(&children[0]) - children[0].began_ns;
	}
}

/* Each gets its own samples, and as many as it wants; all together they are its CPU time. */
static void test_two_periods(void **state)
{
	static const uint64_t periods[] = { PERIOD_NS, 5 * PERIOD_NS };
	struct child children[2];
	bool sampled = true;

	(void)state;
	for (size_t i = 0; i < 2; i++)
		child_start(&children[i]);
	for (size_t i = 0; i < 2 && sampled; i++)
		sampled = child_sample(&children[i], periods[i]);
	if (sampled)
		wait_and_read(children, 2);
	for (size_t i = 0; i < 2 && sampled; i++) {
		uint64_t spent_ns = cpu_ns(&children[i]) - children[i].began_ns;
		double samples = (double)spent_ns / (double)periods[i];
		double share = (double)children[i].time_ns / (double)spent_ns;

		print_message("%u samples of %.0f expected, %.2f of the time\n",
			      children[i].samples, samples, share);
		assert_int_equal(children[i].strange, 0);
		assert_int_equal(kernel_clocks_dropped(children[i].clocks), 0);
		assert_sampled(children[i].samples > 0.5 * samples &&
			       children[i].samples < 1.6 * samples);
		assert_sampled(share > 0.5 && share < 1.6);
	}
	for (size_t i = 0; i < 2; i++)
		child_end(&children[i]);
}

/* One that leaves or pauses takes nothing from the other; the last one takes all with it. */
static void test_comes_and_goes(void **state)
{
	struct child children[2];
	bool sampled = true;
	unsigned before;

	(void)state;
	for (size_t i = 0; i < 2; i++)
		child_start(&children[i]);
	for (size_t i = 0; i < 2 && sampled; i++)
		sampled = child_sample(&children[i], PERIOD_NS);
	if (sampled) {
		kernel_clocks_enable(children[1].clocks, false);
		(void)kernel_clocks_read(children[1].clocks, take, &children[1], UINT_MAX);
		before = children[1].samples;
		wait_and_read(children, 2);
		assert_int_equal(children[1].samples, before);
		assert_sampled(children[0].samples > 20);
		kernel_clocks_destroy(children[1].clocks);
		children[1].clocks = NULL;
		before = children[0].samples;
		children[0].began_ns = cpu_ns(&children[0]);
		wait_and_read(children, 1);
		assert_sampled(children[0].samples > before + 20);
		/* Again, in another place. */
		assert_true(child_sample(&children[1], PERIOD_NS));
		children[0].began_ns = cpu_ns(&children[0]);
		wait_and_read(children, 2);
		assert_sampled(children[1].samples > 20);
		assert_int_equal(children[0].strange + children[1].strange, 0);
	}
	for (size_t i = 0; i < 2; i++)
		child_end(&children[i]);
}

static void test_limit(void **state)
{
	const struct clock_config config = { 0 };
	struct kernel_clocks *all[CLOCK_TARGETS_MAX] = { 0 }, *one_more;
	struct error error = { 0 };
	size_t count = 0;

	(void)state;
	for (; count < CLOCK_TARGETS_MAX; count++) {
		all[count] =
			kernel_clocks_create(NOBODY + (pid_t)count, &config, PERIOD_NS, &error);
		if (!all[count])
			break;
	}
	if (count < CLOCK_TARGETS_MAX)
		print_message("skipped after %zu: %s\n", count, error.cause);
	if (count == CLOCK_TARGETS_MAX) {
		assert_null(kernel_clocks_create(NOBODY - 1, &config, PERIOD_NS, &error));
		assert_non_null(strstr(error.cause, "at most 64 processes"));
		/* There is room when one is gone. */
		kernel_clocks_destroy(all[7]);
		all[7] = kernel_clocks_create(NOBODY - 1, &config, PERIOD_NS, &error);
		assert_non_null(all[7]);
		/* Nobody is in it twice. */
		kernel_clocks_destroy(all[8]);
		all[8] = NULL;
		one_more = kernel_clocks_create(NOBODY - 1, &config, PERIOD_NS, &error);
		assert_null(one_more);
		assert_non_null(strstr(error.cause, "File exists"));
	}
	for (size_t i = 0; i < count; i++)
		kernel_clocks_destroy(all[i]);
}

static size_t open_files(void)
{
	DIR *folder = opendir("/proc/self/fd");
	size_t count = 0;

	assert_non_null(folder);
	while (readdir(folder))
		count++;
	closedir(folder);
	return count;
}

/* What is held stays when the last one leaves, works for the next one, and goes when released. */
static void test_held(void **state)
{
	size_t files = open_files(), files_held;
	struct child child;

	(void)state;
	child_start(&child);
	clock_hub_hold();
	clock_hub_hold();
	/* Nothing is loaded for nobody. */
	assert_int_equal(open_files(), files);
	if (child_sample(&child, PERIOD_NS)) {
		kernel_clocks_destroy(child.clocks);
		child.clocks = NULL;
		files_held = open_files();
		assert_true(files_held > files);
		assert_true(child_sample(&child, 5 * PERIOD_NS));
		wait_and_read(&child, 1);
		assert_sampled(child.samples > 5);
		assert_int_equal(child.strange, 0);
		/* Released while one is in it: goes with that one. */
		clock_hub_release();
		wait_and_read(&child, 1);
		kernel_clocks_destroy(child.clocks);
		child.clocks = NULL;
		assert_int_equal(open_files(), files);
		clock_hub_hold();
		assert_true(child_sample(&child, PERIOD_NS));
		kernel_clocks_destroy(child.clocks);
		child.clocks = NULL;
		assert_int_equal(open_files(), files_held);
	}
	clock_hub_release();
	assert_int_equal(open_files(), files);
	child_end(&child);
}

/* A ring that is kept has nothing of the process before when the next one gets it. */
static void test_rings(void **state)
{
	const struct timespec pause = { .tv_nsec = 10 * NS_PER_MS };
	const struct clock_config config = { 0 };
	struct error error = { 0 };
	struct child child, nobody = { 0 };
	size_t files;

	(void)state;
	child_start(&child);
	clock_hub_hold();
	if (child_sample(&child, PERIOD_NS)) {
		for (unsigned i = 0; i < 500 && cpu_ns(&child) - child.began_ns < WORK_NS / 7; i++)
			(void)nanosleep(&pause, NULL);
		kernel_clocks_destroy(child.clocks);
		child.clocks = NULL;
		files = open_files();
		nobody.clocks = kernel_clocks_create(NOBODY, &config, PERIOD_NS, &error);
		assert_non_null(nobody.clocks);
		/* The same ring: a new one would be a file more. */
		assert_int_equal(open_files(), files);
		assert_int_equal(kernel_clocks_read(nobody.clocks, take, &nobody, UINT_MAX), 0);
		kernel_clocks_destroy(nobody.clocks);
		assert_int_equal(open_files(), files);
	}
	clock_hub_release();
	child_end(&child);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_two_periods), cmocka_unit_test(test_comes_and_goes),
		cmocka_unit_test(test_limit),       cmocka_unit_test(test_held),
		cmocka_unit_test(test_rings),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

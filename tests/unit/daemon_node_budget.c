/* SPDX-License-Identifier: Apache-2.0 */
/* A share of the machine: sessions that cost something, for an hour. */
#include "daemon/serve/node_budget.h"

#include "common/clock.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#define MAX  32
#define TURN 100 /* looks, of 0.1 s */

struct run {
	double cpu_share; /* of the machine, over the last half */
	double sessions;  /* on average, likewise */
	uint64_t attached;
};

/* Each attach costs so much, each session so much a second; others always wait. */
static struct run simulate(double share, unsigned processors, double attach_s, double session_share)
{
	struct node_budget budget = { .share = share, .processors = processors };
	struct run run = { 0 };
	double cpu_ns = 0, half_ns = 0;
	unsigned ages[MAX] = { 0 };
	size_t live = 0, looks = 36000;

	for (size_t i = 1; i <= looks; i++) {
		size_t room =
			node_budget_room(&budget, i * 100 * NS_PER_MS, (uint64_t)cpu_ns, live, MAX);
		bool turns = budget.left_ns >= 0;
		size_t before = live;

		assert_in_range(room, 1, MAX);
		if (live > room)
			live--;
		/* One whose turn is over gives way. */
		for (size_t k = 0; k < live; k++)
			if (++ages[k] >= TURN && turns) {
				turns = false;
				ages[k] = 0;
				cpu_ns += attach_s * 1e9;
				run.attached++;
			}
		if (room > before) {
			ages[live++] = 0;
			cpu_ns += attach_s * 1e9;
			run.attached++;
		}
		cpu_ns += (double)live * session_share * 1e8;
		if (i == looks / 2)
			half_ns = cpu_ns;
		if (i > looks / 2)
			run.sessions += (double)live / (double)(looks / 2);
	}
	run.cpu_share = (cpu_ns - half_ns) / (1800e9 * processors);
	return run;
}

static void test_share_is_kept(void **state)
{
	static const double shares[] = { 0.001, 0.005, 0.01, 0.05 };

	(void)state;
	for (size_t i = 0; i < sizeof(shares) / sizeof(shares[0]); i++) {
		struct run run = simulate(shares[i], 2, 0.1, 0.001);

		/* At least one session is kept, whose 0.1% is less than any of these. */
		assert_true(run.cpu_share < 1.1 * shares[i]);
		assert_true(run.sessions >= 0.99);
		/* And it is made use of, until there are as many as may be. */
		assert_true(run.cpu_share > 0.6 * shares[i] || run.sessions > MAX - 1);
	}
}

static void test_no_limit(void **state)
{
	struct node_budget budget = { .processors = 1 };

	(void)state;
	assert_int_equal(node_budget_room(&budget, NS_PER_SECOND, 0, 3, MAX), MAX);
}

static void test_debt(void **state)
{
	struct node_budget budget = { .share = 0.01, .processors = 1 };

	(void)state;
	assert_int_equal(node_budget_room(&budget, NS_PER_SECOND, 0, 8, MAX), 9);
	/* 30 ms spent of 10: no more; a second of it: fewer, once a second. */
	assert_int_equal(node_budget_room(&budget, 2 * NS_PER_SECOND, 30 * NS_PER_MS, 8, MAX), 8);
	assert_int_equal(node_budget_room(&budget, 3 * NS_PER_SECOND, NS_PER_SECOND, 8, MAX), 7);
	assert_int_equal(node_budget_room(&budget, 3 * NS_PER_SECOND + 1, NS_PER_SECOND, 7, MAX),
			 7);
	assert_int_equal(node_budget_room(&budget, 5 * NS_PER_SECOND, NS_PER_SECOND, 1, MAX), 1);
	assert_int_equal(node_budget_room(&budget, 90 * NS_PER_SECOND, NS_PER_SECOND, 1, MAX), 1);
	assert_int_equal(node_budget_room(&budget, 110 * NS_PER_SECOND, NS_PER_SECOND, 1, MAX), 2);
	/* Of an hour's work ten minutes' worth is owed. */
	assert_int_equal(node_budget_room(&budget, 111 * NS_PER_SECOND, 37 * NS_PER_SECOND, 1, MAX),
			 1);
	assert_int_equal(node_budget_room(&budget, 700 * NS_PER_SECOND, 37 * NS_PER_SECOND, 1, MAX),
			 1);
	assert_int_equal(node_budget_room(&budget, 712 * NS_PER_SECOND, 37 * NS_PER_SECOND, 1, MAX),
			 2);
}

/* The first attach is not charged; the second is. */
static void test_start(void **state)
{
	struct node_budget budget = { .share = 0.01, .processors = 1 };

	(void)state;
	assert_int_equal(node_budget_room(&budget, NS_PER_SECOND, 5 * NS_PER_MS, 0, MAX), 1);
	assert_int_equal(node_budget_room(&budget, 2 * NS_PER_SECOND, NS_PER_SECOND / 4, 0, MAX),
			 1);
	assert_int_equal(node_budget_room(&budget, 3 * NS_PER_SECOND, NS_PER_SECOND, 1, MAX), 2);
	assert_int_equal(
		node_budget_room(&budget, 3 * NS_PER_SECOND + 1, 2 * NS_PER_SECOND, 1, MAX), 1);
	assert_true(budget.left_ns < 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_share_is_kept),
		cmocka_unit_test(test_no_limit),
		cmocka_unit_test(test_debt),
		cmocka_unit_test(test_start),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

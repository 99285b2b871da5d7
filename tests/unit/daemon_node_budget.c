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

#define ATTACH_NS (8 * NS_PER_MS)

struct course {
	struct node_budget budget;
	uint64_t now_ns, cpu_ns;
	uint64_t turns, new_turns;
	int64_t lowest_ns;
	double most_of_minute; /* of the share */
	uint64_t minute_cpu_ns[600];
};

static struct course course_begin(void)
{
	struct course course = { .budget = { .share = 0.005, .processors = 2 },
				 .now_ns = NS_PER_SECOND };

	(void)node_budget_room(&course.budget, course.now_ns, 0, 1, MAX);
	return course;
}

/* A tenth of a second: others always wait for their turn. */
static bool course_go_on(struct course *course, bool newcomer)
{
	struct node_budget *budget = &course->budget;
	bool is_new = false, other;
	size_t at = (size_t)(course->now_ns / (100 * NS_PER_MS)) % 600;
	double used;

	course->now_ns += 100 * NS_PER_MS;
	/* What sessions take. */
	course->cpu_ns += 100 * NS_PER_MS / 1000;
	(void)node_budget_room(budget, course->now_ns, course->cpu_ns, 1, MAX);
	is_new = newcomer && node_budget_has_credit(budget);
	other = !is_new && budget->left_ns >= 0;
	if (is_new || other)
		course->cpu_ns += ATTACH_NS;
	course->turns += other;
	course->new_turns += is_new;
	node_budget_charge(budget, is_new ? ATTACH_NS : 0, other ? ATTACH_NS : 0);
	if (budget->left_ns < course->lowest_ns)
		course->lowest_ns = budget->left_ns;
	used = (double)(course->cpu_ns - course->minute_cpu_ns[at]) / 600e6;
	course->minute_cpu_ns[at] = course->cpu_ns;
	if (course->now_ns > 120 * NS_PER_SECOND && used > course->most_of_minute)
		course->most_of_minute = used;
	return is_new;
}

/* One that comes now and then waits for nobody, and the share is kept. */
static void test_newcomer_waits_for_nobody(void **state)
{
	struct course course = course_begin();

	(void)state;
	for (size_t i = 0; i < 36000; i++) {
		bool comes = i % 100 == 99;

		assert_true(course_go_on(&course, comes) == comes);
	}
	assert_int_equal(course.new_turns, 360);
	/* Of 3600 s, 10 ms each, less what the session takes. */
	assert_in_range(course.turns, 3600 * 9 / 8 - 370, 3600 * 9 / 8);
	/* Less than six seconds: they do not come at once. */
	assert_true(course.lowest_ns > -30 * (int64_t)NS_PER_MS);
	assert_true(course.most_of_minute < 1.05);
}

/* Hundreds come and go: half of the turns is theirs, and the debt has a bound. */
static void test_crowd_leaves_half(void **state)
{
	struct course course = course_begin();

	(void)state;
	for (size_t i = 0; i < 36000; i++)
		(void)course_go_on(&course, i >= 2000);
	assert_true(course.turns > course.new_turns);
	assert_in_range(course.new_turns, 1800, 2030);
	assert_true(course.lowest_ns >= -60 * (int64_t)NS_PER_MS - (int64_t)ATTACH_NS);
	assert_true(course.lowest_ns < -50 * (int64_t)NS_PER_MS);
	assert_true(course.most_of_minute < 1.13);
}

/* Of many at once some are sampled at once, and what they took is paid back before others. */
static void test_burst(void **state)
{
	struct course course = course_begin();
	size_t wait = 0;

	(void)state;
	for (size_t i = 0; i < 50; i++)
		(void)course_go_on(&course, false);
	course.turns = 0;
	for (size_t i = 0; i < 10; i++)
		(void)course_go_on(&course, true);
	assert_in_range(course.new_turns, 7, 8);
	assert_int_equal(course.turns, 0);
	while (!course.turns) {
		(void)course_go_on(&course, false);
		wait++;
	}
	assert_in_range(wait, 40, 80);
	/* That turn has brought in another one. */
	course.new_turns = 0;
	for (size_t i = 0; i < 5; i++)
		(void)course_go_on(&course, true);
	assert_int_equal(course.new_turns, 1);
}

/* What others' attaches bring in beyond it is lost. */
static void test_credit(void **state)
{
	struct node_budget budget = { .processors = 1 };

	(void)state;
	assert_true(node_budget_has_credit(&budget));
	budget.share = 0.01;
	node_budget_charge(&budget, 0, NS_PER_SECOND);
	assert_int_equal(budget.credit_used_ns, 0);
	node_budget_charge(&budget, 59 * NS_PER_MS, 0);
	assert_true(node_budget_has_credit(&budget));
	node_budget_charge(&budget, 1 * NS_PER_MS, 0);
	assert_false(node_budget_has_credit(&budget));
	node_budget_charge(&budget, 0, 1);
	assert_true(node_budget_has_credit(&budget));
	budget.left_ns = -60 * (int64_t)NS_PER_MS;
	assert_false(node_budget_has_credit(&budget));
	budget.left_ns++;
	assert_true(node_budget_has_credit(&budget));
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
		cmocka_unit_test(test_newcomer_waits_for_nobody),
		cmocka_unit_test(test_crowd_leaves_half),
		cmocka_unit_test(test_burst),
		cmocka_unit_test(test_credit),
		cmocka_unit_test(test_no_limit),
		cmocka_unit_test(test_debt),
		cmocka_unit_test(test_start),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

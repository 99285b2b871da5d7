/* SPDX-License-Identifier: Apache-2.0 */
/* What hits of probes cost: in all, and one of them, measured on ourselves. Skipped where the
 * kernel takes no probes of ours. */
#include "attach/trap_cost.h"

#include "attach/link_closer.h"

#include "tests/must.h"

#include <setjmp.h>
#include <stdarg.h>
#include <unistd.h>

#include <cmocka.h>

void trap_cost_emulated(void);
void trap_cost_stepped(void);

static void test_sum(void **state)
{
	const struct trap_cost cost = { 700, 11000, true };
	struct function_counts counts = { .traps = 100, .stepped = 10 };

	(void)state;
	counts.timed = 4;
	counts.timed_ns = 1200;
	assert_int_equal(trap_cost_of(&cost, &counts), 90 * 700 + 10 * 11000 + 100 * 300);
	/* None was timed: a usual time. */
	counts.timed = 0;
	assert_in_range(trap_cost_of(&cost, &counts), 90 * 700 + 10 * 11000 + 100 * 100,
			90 * 700 + 10 * 11000 + 100 * 1000);
	counts = (struct function_counts){ 0 };
	assert_int_equal(trap_cost_of(&cost, &counts), 0);
}

static uint8_t first_byte(void (*instruction)(void))
{
	return *(volatile const uint8_t *)(uintptr_t)instruction;
}

static void test_measured(void **state)
{
	const struct mpi_wanted wanted = { .switches = -1, .faults = -1, .functions = true };
	uint8_t jump = first_byte(trap_cost_emulated), move = first_byte(trap_cost_stepped);
	struct mpi_probes *probes;
	struct function_counts counts;
	struct trap_cost cost;
	struct error error;

	(void)state;
	probes = mpi_probes_create(NULL, 0, MPI_PROBES_AUTO, &wanted, &error);
	if (!probes) {
		print_message("skipped: %s\n", error.cause);
		skip();
	}
	for (unsigned i = 0; i < 2; i++) {
		cost = trap_cost_measure(probes);
		assert_true(cost.measured);
		assert_in_range(cost.emulated_ns, 100, 20000);
		assert_in_range(cost.stepped_ns, 100, 100000);
		/* No trace of it is left, neither here nor in what is counted. */
		assert_int_equal(first_byte(trap_cost_emulated), jump);
		assert_int_equal(first_byte(trap_cost_stepped), move);
		counts = function_probes_counts(probes, 0);
		assert_int_equal(counts.traps + counts.timed + counts.timed_ns, 0);
	}
	mpi_probes_destroy(probes);
}

static void test_refused(void **state)
{
	const struct mpi_wanted wanted = { .switches = -1, .faults = -1 };
	struct mpi_probes *probes;
	struct error error;

	(void)state;
	probes = mpi_probes_create(NULL, 0, MPI_PROBES_AUTO, &wanted, &error);
	if (!probes) {
		print_message("skipped: %s\n", error.cause);
		skip();
	}
	/* Not made for functions: what is usual. */
	assert_false(trap_cost_measure(probes).measured);
	assert_in_range(trap_cost_measure(probes).emulated_ns, 100, 20000);
	mpi_probes_destroy(probes);
}

static void test_closer(void **state)
{
	struct link_closer closer = { 0 };
	int ends[2];
	char byte;

	(void)state;
	assert_true(link_closer_is_done(&closer, false));
	for (unsigned i = 0; i < 3; i++) {
		must(!pipe(ends));
		link_closer_close(&closer, &ends[1], 1, i == 1);
		/* All that have it open are gone: the end of the file. */
		must(read(ends[0], &byte, 1) == 0);
		close(ends[0]);
	}
	assert_true(link_closer_is_done(&closer, true));
	assert_true(link_closer_is_done(&closer, false));
	link_closer_close(&closer, NULL, 0, false);
	assert_true(link_closer_is_done(&closer, false));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_sum),
		cmocka_unit_test(test_measured),
		cmocka_unit_test(test_refused),
		cmocka_unit_test(test_closer),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

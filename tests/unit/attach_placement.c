/* SPDX-License-Identifier: Apache-2.0 */
/* When the tracer's thread follows the target's to its processor, and when it lets that be. */
#include "attach/placement.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

/*
 * A machine: where the target's thread stops depends on whether it stays with
 * the tracer. Returns the moves in so many stops; *own_cpu is the tracer's.
 */
static unsigned moves_in(struct placement *placement, unsigned stops, bool stays, unsigned *own_cpu)
{
	unsigned moves = 0;

	for (unsigned i = 0; i < stops; i++) {
		unsigned target_cpu = stays ? 1 : *own_cpu ^ 1;

		if (placement_moves(placement, target_cpu, *own_cpu)) {
			*own_cpu = target_cpu;
			moves++;
		}
	}
	return moves;
}

static void follows_one_that_stays(void **state)
{
	struct placement placement;
	unsigned own_cpu = 0;

	(void)state;
	placement_init(&placement);
	assert_int_equal(moves_in(&placement, 100000, true, &own_cpu), 1);
	assert_int_equal(own_cpu, 1);
}

/* Where the scheduler puts the target elsewhere as soon as we are there: fewer and fewer tries. */
static void gives_up_one_that_does_not(void **state)
{
	struct placement placement;
	unsigned own_cpu = 0, early, late;

	(void)state;
	placement_init(&placement);
	early = moves_in(&placement, 10000, false, &own_cpu);
	late = moves_in(&placement, 10000, false, &own_cpu);
	assert_in_range(early, 1, 8);
	assert_in_range(late, 0, 2);
	/* And should it stay one day, it is found out. */
	(void)moves_in(&placement, 2000000, true, &own_cpu);
	assert_int_equal(own_cpu, 1);
}

/* Threads that take turns on several processors: there is no place to be. */
static void stays_among_many(void **state)
{
	struct placement placement;

	(void)state;
	placement_init(&placement);
	for (unsigned i = 0; i < 100000; i++)
		assert_false(placement_moves(&placement, i / 3 % 4, 7));
}

static void stays_where_it_is_right(void **state)
{
	struct placement placement;

	(void)state;
	placement_init(&placement);
	/* Seven of eight elsewhere in a row are not enough. */
	for (unsigned i = 0; i < 100000; i++)
		assert_false(placement_moves(&placement, i % 8 ? 3 : 2, 2));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(follows_one_that_stays),
		cmocka_unit_test(gives_up_one_that_does_not),
		cmocka_unit_test(stays_among_many),
		cmocka_unit_test(stays_where_it_is_right),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

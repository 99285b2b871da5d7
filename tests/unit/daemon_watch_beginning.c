/* SPDX-License-Identifier: Apache-2.0 */
/* How a watch begins: from a sample to the boundary of the sampled call. */
#include "watch_transitions.h"

static void test_sample(void **state)
{
	struct fake *fake;

	(void)state;
	PLAY(FREE, SAMPLE_FOUND, {
		sample(fake);
		assert_true(watch_machine_wants_context(fake->thread));
	});
	PLAY(FREE, SAMPLE_BY_PROCESSOR, sample_by_processor(fake));
	PLAY(FREE, SAMPLE_FURTHER, {
		find_further(fake);
		sample(fake);
		assert_false(watch_machine_wants_context(fake->thread));
	});
	for (enum state from = FREE; from < STATE_COUNT; from++)
		PLAY(from, SAMPLE_NONE, {
			let_go(fake);
			fake->search = LOSS_NO_BOUNDARY;
			sample(fake);
		});
	PLAY(FREE, SAMPLE_FOUND_REFUSED, {
		fake->refuse = true;
		sample(fake);
	});
	PLAY(FREE, SAMPLE_FURTHER_REFUSED, {
		fake->refuse = true;
		find_further(fake);
		sample(fake);
	});
}

static void test_eviction(void **state)
{
	struct fake *fake;

	(void)state;
	for (enum state from = STEPPING; from < STATE_COUNT; from++) {
		PLAY(from, SAMPLE_KEPT, {
			keep(fake);
			sample(fake);
		});
		PLAY(from, SAMPLE_KEPT, {
			keep(fake);
			find_further(fake);
			sample(fake);
		});
		PLAY(from, LENT_NONE, {
			keep(fake);
			lend(fake);
		});
		if (EVICTABLE & IN(from))
			continue;
		/* Not even when the draw is against it. */
		PLAY(from, SAMPLE_KEPT, {
			let_go(fake);
			sample(fake);
		});
	}
	for (enum state from = STEPPING; from < STATE_COUNT; from++) {
		if (!(EVICTABLE & IN(from)) || from == JUDGED)
			continue;
		PLAY(from, EVICTED_FOUND, {
			let_go(fake);
			fake->found.access.address = WORD + 8;
			sample(fake);
			assert_int_equal(fake->thread->watches[0].watched.start, WORD + 8);
		});
		PLAY(from, EVICTED_FURTHER, {
			let_go(fake);
			find_further(fake);
			sample(fake);
		});
		PLAY(from, EVICTED_REFUSED, {
			let_go(fake);
			fake->refuse = true;
			sample(fake);
		});
		PLAY(from, LENT_EVICTED, {
			let_go(fake);
			lend(fake);
		});
	}
}

static void test_eviction_of_judged(void **state)
{
	(void)state;
	for (int second = 0; second < 2; second++)
		for (int way = 0; way < 4; way++) {
			static const enum transition ways[2][4] = {
				{ T_EVICTED_FOUND, T_EVICTED_FURTHER, T_EVICTED_REFUSED,
				  T_LENT_EVICTED },
				{ T_EVICTED_PAIR_FOUND, T_EVICTED_PAIR_FURTHER,
				  T_EVICTED_PAIR_REFUSED, T_LENT_EVICTED_PAIR },
			};
			struct fake *fake = fake_create(1);

			to_judged(fake, second);
			before(fake);
			let_go(fake);
			if (way == 1)
				find_further(fake);
			fake->refuse = way == 2;
			if (way == 3)
				lend(fake);
			else
				sample(fake);
			after(fake, ways[second][way]);
			fake_destroy(fake);
		}
}

static void test_stepping(void **state)
{
	struct fake *fake = at(STEPPING);

	(void)state;
	/* What was passed over counts at the next stop, too. */
	TAKES(fake, STEP_FOUND, hit_step(fake));
	assert_int_equal(fake->asked.steps, 1);
	assert_int_equal(fake->asked.skip, 3);
	fake_destroy(fake);

	fake = at(STEPPING);
	find_further(fake);
	for (unsigned i = 1; i < 4; i++) {
		TAKES(fake, STEP_FURTHER, hit_step(fake));
		assert_int_equal(fake->asked.steps, i);
	}
	TAKES(fake, STEP_TOO_OFTEN, hit_step(fake));
	fake_destroy(fake);

	PLAY(STEPPING, STEP_NO_CAPTURE, {
		struct event_record record = { .ip = RUN_TO };

		fake->registers.rip = RUN_TO;
		watch_machine_breakpoint(&fake->process, fake->thread, &record, NULL,
					 &fake->registers);
	});
	PLAY(STEPPING, STEP_NONE, {
		fake->search = LOSS_NO_BOUNDARY;
		hit_step(fake);
	});
	PLAY(STEPPING, STEP_FOUND_REFUSED, {
		fake->refuse = true;
		hit_step(fake);
	});
	PLAY(STEPPING, STEP_FURTHER_REFUSED, {
		fake->refuse = true;
		find_further(fake);
		hit_step(fake);
	});
}

static void test_boundary(void **state)
{
	struct fake *fake = at(BOUNDARY);

	(void)state;
	for (int i = 0; i < 16; i++)
		TAKES(fake, RETURNED_DEEPER, hit_boundary_deeper(fake));
	TAKES(fake, RETURNED_DEEPER_TOO_OFTEN, hit_boundary_deeper(fake));
	fake_destroy(fake);

	/* As often as it may be, and then it comes. */
	fake = at(BOUNDARY);
	for (int i = 0; i < 16; i++)
		TAKES(fake, RETURNED_DEEPER, hit_boundary_deeper(fake));
	fake->running_ns += CALL_NS;
	TAKES(fake, RETURNED, hit_boundary(fake));
	/* Each phase counts anew. */
	for (int i = 0; i < 24; i++)
		TAKES(fake, TRAP_BY_OTHERS, hit_trap_by_interpreter(fake));
	fake->memory[0]++;
	TAKES(fake, VERDICT_SETTLES, hit_trap(fake));
	for (int i = 0; i < 16; i++)
		TAKES(fake, RETURNED_DEEPER, hit_boundary_deeper(fake));
	fake_destroy(fake);

	PLAY(BOUNDARY, RETURNED_UNREADABLE, {
		fake->unreadable = true;
		hit_boundary(fake);
	});
	PLAY(BOUNDARY, RETURNED_REFUSED, {
		fake->refuse = true;
		hit_boundary(fake);
	});
}

static void test_lent(void **state)
{
	struct fake *fake = fake_create(1);

	(void)state;
	TAKES(fake, LENT_FREE,
	      assert_int_equal(watch_machine_lend(&fake->process, fake->thread), 0));
	TAKES(fake, LENT_NONE,
	      assert_int_equal(watch_machine_lend(&fake->process, fake->thread), SLOT_NONE));
	TAKES(fake, RETURNED_SLOT, watch_machine_return(fake->thread, 0));
	TAKES(fake, SAMPLE_FOUND, sample(fake));
	fake_destroy(fake);

	/* No debug register is ours at all. */
	fake = fake_create(0);
	before(fake);
	assert_int_equal(watch_machine_lend(&fake->process, fake->thread), SLOT_NONE);
	assert_int_equal(counted_since(fake, &fake->totals), NOTHING);
	sample(fake);
	assert_int_equal(counted_since(fake, &fake->totals), LOST(LOSS_WATCH_EVICTED));
	fake_destroy(fake);
}

static void test_every_transition_was_reached(void **state)
{
	(void)state;
	assert_int_equal(not_reached(PART_BEGINNINGS), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_sample),
		cmocka_unit_test(test_eviction),
		cmocka_unit_test(test_eviction_of_judged),
		cmocka_unit_test(test_stepping),
		cmocka_unit_test(test_boundary),
		cmocka_unit_test(test_lent),
		cmocka_unit_test(test_every_transition_was_reached),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

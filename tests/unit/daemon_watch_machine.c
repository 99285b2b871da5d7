/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What may come to a watch in any phase, several watches at a time, and random
 * play, in which no sample gets lost and nothing happens that is not listed.
 */
#include "unit_random.h"
#include "watch_transitions.h"

static void test_any_state(void **state)
{
	static const enum transition cancelled[2][STATE_COUNT] = {
		{ T_CANCELLED_NONE, T_CANCELLED, T_CANCELLED, T_CANCELLED, T_CANCELLED_PAIR,
		  T_CANCELLED_PAIR, T_CANCELLED, T_CANCELLED_NONE },
		{ T_THREAD_ENDED_NONE, T_THREAD_ENDED, T_THREAD_ENDED, T_THREAD_ENDED,
		  T_THREAD_ENDED_PAIR, T_THREAD_ENDED_PAIR, T_THREAD_ENDED, T_THREAD_ENDED_NONE },
	};
	struct fake *fake;

	(void)state;
	for (enum state from = FREE; from < STATE_COUNT; from++) {
		if (from != DECIDED)
			PLAY(from, CONTEXT_KNOWN, resume(fake));
		fake = at(from);
		before(fake);
		watch_machine_cancel(&fake->process, fake->thread);
		after(fake, cancelled[0][from]);
		fake_destroy(fake);
		/* And a thread that comes later has all of it to itself. */
		fake = at(from);
		before(fake);
		end_thread(fake);
		after(fake, cancelled[1][from]);
		same_call(fake);
		fake->found.further = false;
		TAKES(fake, SAMPLE_FOUND, sample(fake));
		fake_destroy(fake);
	}
	for (enum state from = FREE; from < STATE_COUNT; from++) {
		fake = at(from);
		before(fake);
		watch_machine_relieve(&fake->process, fake->thread);
		after(fake, from == WATCHING ? T_RELIEVED
			    : from == JUDGED ? T_RELIEVED_PAIR
					     : T_RELIEVED_NONE);
		fake_destroy(fake);
	}
	for (enum state from = STEPPING; from < DECIDED; from++)
		if (from == JUDGED || from == SETTLING)
			PLAY(from, LATE_PAIR, hit_late(fake));
		else
			PLAY(from, LATE, hit_late(fake));
	for (int settling = 0; settling < 2; settling++) {
		fake = fake_create(1);
		(settling ? to_settling : to_judged)(fake, false);
		TAKES(fake, LATE, hit_late(fake));
		if (!settling) {
			to_judged(fake, false);
			TAKES(fake, RELIEVED, watch_machine_relieve(&fake->process, fake->thread));
		}
		(settling ? to_settling : to_judged)(fake, false);
		TAKES(fake, CANCELLED, watch_machine_cancel(&fake->process, fake->thread));
		(settling ? to_settling : to_judged)(fake, false);
		TAKES(fake, THREAD_ENDED, end_thread(fake));
		fake_destroy(fake);
	}
	PLAY(FREE, LATE_IGNORED, hit_late(fake));
	PLAY(DECIDED, LATE_IGNORED, hit_late(fake));
	PLAY(FREE, HIT_IGNORED, hit_trap(fake));
	PLAY(DECIDED, HIT_IGNORED, hit_trap(fake));
	PLAY(LENT, HIT_IGNORED, hit_boundary(fake));
}

/* How long each may last, and what it then counts as. */
static void test_time_out(void **state)
{
	static const struct {
		enum state from;
		uint64_t limit_ns;
		enum transition transition;
	} cases[] = {
		{ STEPPING, 100 * NS_PER_MS, T_STEP_TIMEOUT },
		{ BOUNDARY, 10 * NS_PER_SECOND, T_RETURNED_TIMEOUT },
		{ WATCHING, TIMEOUT_NS, T_WATCH_TIMEOUT_NEVER },
		{ JUDGED, TIMEOUT_NS, T_WATCH_TIMEOUT_PAIR },
		{ SETTLING, 10 * NS_PER_SECOND, T_WATCH_TIMEOUT_PAIR },
	};
	struct fake *fake;

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		fake = at(cases[i].from);
		/* A clock that was read before it was armed; the last moment; one later. */
		TAKES(fake, TICK_EARLY, tick(fake, 0 - NS_PER_SECOND));
		TAKES(fake, TICK_EARLY, tick(fake, cases[i].limit_ns));
		before(fake);
		tick(fake, cases[i].limit_ns + 1);
		after(fake, cases[i].transition);
		fake_destroy(fake);
	}
	PLAY(FREE, TICK_EARLY, tick(fake, UINT64_MAX / 2));
	PLAY(DECIDED, TICK_EARLY, tick(fake, UINT64_MAX / 2));
	PLAY(LENT, TICK_EARLY, tick(fake, UINT64_MAX / 2));

	/* Each phase has its own time: what the one before took does not count. */
	fake = at(BOUNDARY);
	fake->now_ns += 9 * NS_PER_SECOND;
	TAKES(fake, TICK_EARLY, tick(fake, 0));
	TAKES(fake, RETURNED, hit_boundary(fake));
	TAKES(fake, TICK_EARLY, tick(fake, TIMEOUT_NS));
	fake_destroy(fake);

	/* Without the earlier context, or without the later one. */
	fake = fake_create(1);
	sample(fake);
	resume_without_context(fake);
	hit_boundary(fake);
	TAKES(fake, WATCH_TIMEOUT_UNPLACED, tick(fake, TIMEOUT_NS + 1));
	fake_destroy(fake);
	for (int settling = 0; settling < 2; settling++) {
		fake = fake_create(1);
		(settling ? to_settling : to_judged)(fake, false);
		resume_without_context(fake);
		TAKES(fake, WATCH_TIMEOUT_UNPLACED, tick(fake, 10 * NS_PER_SECOND + 1));
		fake_destroy(fake);
	}
	/* The table is full. */
	fake = at(WATCHING);
	pair_table_destroy(fake->process.pairs);
	fake->process.pairs = pair_table_create(0);
	TAKES(fake, WATCH_TIMEOUT_UNPLACED, tick(fake, TIMEOUT_NS + 1));
	fake_destroy(fake);
}

/* Four watches at a time, each in another state, end each in its own way. */
static void test_slots(void **state)
{
	struct fake *fake = fake_create(4);
	struct totals totals;

	(void)state;
	for (fake->slot = 0; fake->slot < 4; fake->slot++) {
		TAKES(fake, SAMPLE_FOUND, sample(fake));
		TAKES(fake, CONTEXT_KNOWN, resume(fake));
	}
	fake->slot = 2;
	fake->running_ns += CALL_NS;
	TAKES(fake, RETURNED, hit_boundary(fake));
	fake->slot = 1;
	TAKES(fake, RETURNED, hit_boundary(fake));
	fake->memory[0]++;
	TAKES(fake, VERDICT_SETTLES, hit_trap(fake));
	fake->slot = 3;
	TAKES(fake, LATE, hit_late(fake));
	TAKES(fake, LENT_FREE, lend(fake));
	for (int slot = 0; slot < 4; slot++)
		check_watch(fake, slot);
	totals = totals_of(fake);
	/* The first at its boundary, the second without its later context, the third never again.
	 */
	tick(fake, 11 * NS_PER_SECOND);
	assert_int_equal(counted_since(fake, &totals),
			 LOST(LOSS_BOUNDARY_MISSED) | LOST(LOSS_TREE_FULL) | NEVER);
	assert_int_equal(state_of(fake), LENT);
	for (fake->slot = 0; fake->slot < 3; fake->slot++)
		assert_int_equal(state_of(fake), FREE);
	fake_destroy(fake);
}

/* Which events want a capture: most do not. */
static void test_wants_capture(void **state)
{
	struct event_record record = { .source = 0 };
	struct registers registers = { .rip = TRAP_AT };

	(void)state;
	for (enum state from = FREE; from < STATE_COUNT; from++) {
		struct fake *fake = at(from);
		bool data = from == WATCHING || from == JUDGED;

		fake->registers.rip = TRAP_AT;
		record.source = 0;
		assert_int_equal(watch_machine_wants_capture(&fake->process, fake->thread, &record,
							     &registers),
				 from == STEPPING || data);
		fake->code = LOSS_FILTER_LOADER;
		assert_int_equal(watch_machine_wants_capture(&fake->process, fake->thread, &record,
							     &registers),
				 from == STEPPING);
		/* Of the clock, or of sampled memory. */
		record.source = EVENT_CLOCK;
		assert_false(watch_machine_wants_capture(&fake->process, fake->thread, &record,
							 &registers));
		fake_destroy(fake);
	}
}

static enum event play(struct fake *fake, struct unit_random *random)
{
	static void (*const calls[])(struct fake *) = { same_call, same_user, other_call };
	static void (*const hits[])(struct fake *) = { hit_step,
						       hit_boundary,
						       hit_boundary,
						       hit_boundary_deeper,
						       hit_trap,
						       hit_trap,
						       hit_trap_by_interpreter,
						       hit_late };
	bool lent = state_of(fake) == LENT;

	calls[unit_random_below(random, 3)](fake);
	fake->refuse = !unit_random_below(random, 8);
	fake->unreadable = !unit_random_below(random, 8);
	fake->search = unit_random_below(random, 8) ? LOSS_COUNT : LOSS_NO_BOUNDARY;
	fake->call = unit_random_below(random, 8) ? LOSS_COUNT : LOSS_FILTER_INTERPRETER;
	fake->trap_error = unit_random_below(random, 8) ? 0 : -EILSEQ;
	fake->found.further = unit_random_below(random, 2);
	fake->found.run_to = RUN_TO;
	fake->later.kinds = (uint8_t)(1 + unit_random_below(random, 3));
	fake->memory[unit_random_below(random, 16)] ^= !unit_random_below(random, 4);
	fake->running_ns += unit_random_below(random, CALL_NS);
	switch (unit_random_below(random, 16)) {
	case 0:
	case 1:
	case 2:
		(unit_random_below(random, 2) ? sample : sample_load)(fake);
		return SAMPLE;
	case 3:
		watch_machine_resumed(&fake->process, fake->thread, NULL);
		return RESUMED;
	case 4:
	case 5:
		watch_machine_resumed(&fake->process, fake->thread, fake->node);
		return RESUMED;
	case 6:
		tick(fake, unit_random_below(random, 4) ? 0 : 11 * NS_PER_SECOND);
		return TICK;
	case 7:
		if (!unit_random_below(random, 8)) {
			watch_machine_relieve(&fake->process, fake->thread);
			return RELIEVE;
		}
		if (!unit_random_below(random, 4)) {
			watch_machine_cancel(&fake->process, fake->thread);
			return CANCEL;
		}
		if (lent) {
			watch_machine_return(fake->thread, 0);
			return RETURN;
		}
		lend(fake);
		return LEND;
	default:
		if (lent)
			hit_boundary(fake);
		else
			hits[unit_random_below(random, 8)](fake);
		return HIT;
	}
}

/* No sample gets lost, and nothing happens that is not listed. */
static void test_random_play(void **state)
{
	struct unit_random random = { .state = 20 };
	struct fake *fake = fake_create(1);
	uint64_t begun = 0, ended = 0;
	struct totals totals;

	(void)state;
	for (int i = 0; i < 600000; i++) {
		enum transition transition = 0;
		enum event event;

		before(fake);
		event = play(fake, &random);
		check_watch(fake, 0);
		while (transition < TRANSITION_COUNT &&
		       (transitions[transition].event != event || !is_listed(fake, transition)))
			transition++;
		if (transition == TRANSITION_COUNT)
			fail_msg("event %d from %d to %d counted %#llx is not listed", event,
				 fake->before, state_of(fake),
				 (unsigned long long)counted_since(fake, &fake->totals));
		begun += event == SAMPLE;
	}
	ended += state_of(fake) != FREE && state_of(fake) != LENT;
	totals = totals_of(fake);
	for (int loss = 0; loss < LOSS_COUNT; loss++)
		if (loss != LOSS_TRAP_UNDECODED)
			ended += totals.losses.counts[loss];
	ended += totals.pairs + totals.never;
	assert_true(totals.pairs > 1000 && totals.never > 100);
	assert_int_equal(begun, ended);
	fake_destroy(fake);
}

static void test_every_transition_was_reached(void **state)
{
	(void)state;
	assert_int_equal(not_reached(PART_INTERRUPTIONS), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_any_state),
		cmocka_unit_test(test_time_out),
		cmocka_unit_test(test_slots),
		cmocka_unit_test(test_wants_capture),
		cmocka_unit_test(test_random_play),
		cmocka_unit_test(test_every_transition_was_reached),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

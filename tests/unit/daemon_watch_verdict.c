/* SPDX-License-Identifier: Apache-2.0 */
/* What a watch finds: from the boundary of the sampled call to a pair of accesses. */
#include "watch_transitions.h"

static void test_watching(void **state)
{
	struct fake *fake = at(WATCHING);

	(void)state;
	for (int i = 0; i < 24; i++)
		TAKES(fake, TRAP_BY_OTHERS, hit_trap_by_interpreter(fake));
	TAKES(fake, TRAP_TOO_OFTEN, hit_trap_by_interpreter(fake));
	fake_destroy(fake);

	/* A capture was taken, but no native library's call is in it. */
	PLAY(WATCHING, TRAP_BY_OTHERS, {
		fake->call = LOSS_FILTER_INTERPRETER;
		hit_trap(fake);
	});
	PLAY(WATCHING, TRAP_UNREADABLE, {
		fake->unreadable = true;
		hit_trap(fake);
	});
	PLAY(WATCHING, VERDICT, hit_trap(fake));
	/* Of a store that could not be decoded the value is known all the same. */
	PLAY(WATCHING, VERDICT, {
		fake->trap_error = -EILSEQ;
		hit_trap(fake);
	});
	PLAY(WATCHING, VERDICT_SETTLES, {
		fake->memory[0]++;
		hit_trap(fake);
		assert_true(watch_machine_wants_context(fake->thread));
	});
	PLAY(WATCHING, VERDICT_SETTLE_REFUSED, {
		fake->memory[0]++;
		fake->refuse = true;
		hit_trap(fake);
	});
	PLAY(WATCHING, VERDICT_FOLLOWED, {
		fake->memory[0]++;
		same_user(fake);
		hit_trap(fake);
		assert_true(watch_machine_wants_context(fake->thread));
	});
	/* Of another call altogether there is no more to learn. */
	PLAY(WATCHING, VERDICT, {
		fake->memory[0]++;
		other_call(fake);
		hit_trap(fake);
	});
	/* Nor of one deeper in a recursion. */
	PLAY(WATCHING, VERDICT_FOLLOWED, {
		fake->memory[0]++;
		fake->capture->native[1].sp -= 64;
		hit_trap(fake);
	});
}

static void to_watching_loads(struct fake *fake)
{
	sample_load(fake);
	resume(fake);
	fake->running_ns += CALL_NS;
	hit_boundary(fake);
	assert_int_equal(fake->breakpoints[0].type, BREAKPOINT_READ_WRITE);
}

static void test_watching_loads(void **state)
{
	struct fake *fake = fake_create(1);

	(void)state;
	to_watching_loads(fake);
	fake->later.kinds = ACCESS_LOAD | ACCESS_STORE;
	TAKES(fake, TRAP_BY_OTHERS, hit_trap(fake));
	fake->trap_error = -ENOENT;
	for (int i = 1; i < 24; i++)
		TAKES(fake, TRAP_UNDECODED, hit_trap(fake));
	TAKES(fake, TRAP_UNDECODED_TOO_OFTEN, hit_trap(fake));
	fake_destroy(fake);

	/* A store in between, which is passed over, changes nothing: V1 stays. */
	fake = fake_create(1);
	to_watching_loads(fake);
	fake->later.kinds = ACCESS_STORE;
	fake->memory[0]++;
	TAKES(fake, TRAP_BY_OTHERS, hit_trap(fake));
	fake->memory[0]--;
	fake->later.kinds = ACCESS_LOAD;
	TAKES(fake, VERDICT, hit_trap(fake));
	TAKES(fake, DECIDED_PAIR, resume(fake));
	assert_int_equal(pair_table_pair(fake->process.pairs, 0)->verdicts[VERDICT_REDUNDANT], 1);
	assert_int_equal(pair_table_origin(fake->process.pairs, 0)->by_memory[MEMORY_STATIC], 1);
	fake_destroy(fake);

	/* A new value is settled in the same call, and not followed to another. */
	for (int same = 0; same < 2; same++) {
		fake = fake_create(1);
		to_watching_loads(fake);
		fake->memory[0]++;
		if (same) {
			TAKES(fake, VERDICT_SETTLES, hit_trap(fake));
		} else {
			same_user(fake);
			TAKES(fake, VERDICT, hit_trap(fake));
		}
		fake_destroy(fake);
	}
}

static void test_judged(void **state)
{
	struct fake *fake = at(JUDGED);

	(void)state;
	for (int i = 0; i < 4; i++)
		TAKES(fake, LATER_OTHER_CALL, hit_trap(fake));
	TAKES(fake, LATER_OTHER_CALL_TOO_OFTEN, hit_trap(fake));
	fake_destroy(fake);

	fake = at(JUDGED);
	for (int i = 0; i < 24; i++)
		TAKES(fake, TRAP_BY_OTHERS, hit_trap_by_interpreter(fake));
	TAKES(fake, LATER_TRAP_TOO_OFTEN, hit_trap_by_interpreter(fake));
	fake_destroy(fake);

	PLAY(JUDGED, VERDICT_SETTLES, {
		same_call(fake);
		hit_trap(fake);
	});
	PLAY(JUDGED, LATER_SETTLE_REFUSED, {
		same_call(fake);
		fake->refuse = true;
		hit_trap(fake);
	});

	/* The later context could not be had: there is no pair. */
	fake = fake_create(1);
	to_judged(fake, false);
	TAKES(fake, CONTEXT_KNOWN, resume_without_context(fake));
	for (int i = 0; i < 4; i++)
		TAKES(fake, LATER_OTHER_CALL, hit_trap(fake));
	TAKES(fake, TRAP_TOO_OFTEN, hit_trap(fake));
	fake_destroy(fake);
}

static const struct pair *only_pair(const struct fake *fake)
{
	assert_int_equal(pair_table_pair_count(fake->process.pairs), 1);
	return pair_table_pair(fake->process.pairs, 0);
}

static void test_settling(void **state)
{
	struct fake *fake;

	(void)state;
	/* In the end the call leaves what had been there, or does not, or that is unknown. */
	for (int left = 0; left < 3; left++) {
		fake = at(SETTLING);
		TAKES(fake, RETURNED_DEEPER, hit_boundary_deeper(fake));
		fake->memory[0] -= left == 1;
		fake->unreadable = left == 2;
		if (left == 2)
			TAKES(fake, SETTLED_UNREADABLE, hit_boundary(fake));
		else
			TAKES(fake, SETTLED, hit_boundary(fake));
		assert_int_equal(only_pair(fake)->verdicts[VERDICT_NEW], 1);
		assert_int_equal(only_pair(fake)->settled, left != 2);
		assert_int_equal(only_pair(fake)->settled_same, left == 1);
		fake_destroy(fake);
	}

	fake = at(SETTLING);
	for (int i = 0; i < 16; i++)
		TAKES(fake, RETURNED_DEEPER, hit_boundary_deeper(fake));
	TAKES(fake, SETTLED_DEEPER_TOO_OFTEN, hit_boundary_deeper(fake));
	assert_int_equal(only_pair(fake)->settled, 0);
	fake_destroy(fake);

	fake = fake_create(1);
	to_settling(fake, false);
	TAKES(fake, CONTEXT_KNOWN, resume_without_context(fake));
	TAKES(fake, SETTLED_UNPLACED, hit_boundary(fake));
	fake_destroy(fake);

	/* The same call after others. */
	fake = at(JUDGED);
	same_call(fake);
	TAKES(fake, VERDICT_SETTLES, hit_trap(fake));
	fake->memory[0]--;
	TAKES(fake, SETTLED, hit_boundary(fake));
	assert_int_equal(only_pair(fake)->settled_same, 1);
	fake_destroy(fake);
}

static void test_decided(void **state)
{
	struct fake *fake = at(DECIDED);

	(void)state;
	assert_true(watch_machine_wants_context(fake->thread));
	TAKES(fake, DECIDED_PAIR, resume(fake));
	fake_destroy(fake);
	PLAY(DECIDED, DECIDED_UNPLACED, resume_without_context(fake));

	/* The earlier context could not be had. */
	fake = fake_create(1);
	sample(fake);
	TAKES(fake, CONTEXT_KNOWN, resume_without_context(fake));
	TAKES(fake, RETURNED, hit_boundary(fake));
	TAKES(fake, VERDICT, hit_trap(fake));
	TAKES(fake, DECIDED_UNPLACED, resume(fake));
	fake_destroy(fake);

	/* The table of pairs is full. */
	fake = at(DECIDED);
	pair_table_destroy(fake->process.pairs);
	fake->process.pairs = pair_table_create(0);
	TAKES(fake, DECIDED_UNPLACED, resume(fake));
	fake_destroy(fake);
}

/* On-CPU time: of the call, of the way to the later access; it may stand still or go back. */
static void test_durations(void **state)
{
	struct fake *fake = fake_create(1);
	const struct watch *watch = &fake->thread->watches[0];

	(void)state;
	fake->process.resume_ns = UINT64_MAX;
	sample(fake);
	resume(fake);
	fake->running_ns += CALL_NS;
	hit_boundary(fake);
	/* The first boundary is all that is known of what resuming takes. */
	assert_int_equal(watch->evidence.call_ns, 1);
	assert_int_equal(fake->process.resume_ns, CALL_NS);
	/* So it is too short a call for its end to be awaited. */
	fake->memory[0]++;
	fake->running_ns += 700;
	TAKES(fake, VERDICT, hit_trap(fake));
	TAKES(fake, DECIDED_PAIR, resume(fake));
	assert_int_equal(only_pair(fake)->distance_ns_sum, 700);

	sample(fake);
	resume(fake);
	fake->running_ns -= NS_PER_MS;
	TAKES(fake, RETURNED, hit_boundary(fake));
	assert_int_equal(watch->evidence.call_ns, 1);
	assert_int_equal(fake->process.resume_ns, 1);
	fake->running_ns -= NS_PER_MS;
	TAKES(fake, VERDICT, hit_trap(fake));
	TAKES(fake, DECIDED_PAIR, resume(fake));
	assert_int_equal(only_pair(fake)->distance_ns_sum, 701);

	/* The shortest call whose end is awaited, and the longest that is not. */
	for (int more = 0; more < 2; more++) {
		sample(fake);
		resume(fake);
		fake->running_ns += 10 * NS_PER_US - 1 + (uint64_t)more;
		hit_boundary(fake);
		assert_int_equal(watch->evidence.call_ns, 10 * NS_PER_US - 1 + (uint64_t)more);
		fake->memory[0]++;
		if (more)
			TAKES(fake, VERDICT_SETTLES, hit_trap(fake));
		else
			TAKES(fake, VERDICT, hit_trap(fake));
		resume(fake);
	}
	fake_destroy(fake);
}

/* What is compared, and with what. */
static void test_verdict(void **state)
{
	struct fake *fake = at(WATCHING);

	(void)state;
	/* The later access touched the upper half alone; the lower one has changed. */
	fake->later.operand = WORD + 4;
	fake->later.size = 16;
	fake->memory[0]++;
	TAKES(fake, VERDICT, hit_trap(fake));
	TAKES(fake, DECIDED_PAIR, resume(fake));
	assert_int_equal(only_pair(fake)->verdicts[VERDICT_REDUNDANT], 1);
	assert_int_equal(only_pair(fake)->bytes, 4);
	assert_int_equal(only_pair(fake)->same_instruction, 0);
	fake_destroy(fake);

	/* Where it cannot have been, or is unknown: the whole word; of the same instruction. */
	for (int known = 0; known < 2; known++) {
		fake = at(WATCHING);
		fake->later.operand = WORD + 8;
		fake->later.operand_known = known;
		fake->later.address = ACCESS_AT;
		TAKES(fake, VERDICT, hit_trap(fake));
		TAKES(fake, DECIDED_PAIR, resume(fake));
		assert_int_equal(only_pair(fake)->bytes, 8);
		assert_int_equal(only_pair(fake)->same_instruction, 1);
		fake_destroy(fake);
	}

	/* Another's store in between made the later one necessary; unreadable may be one. */
	for (int unreadable = 0; unreadable < 2; unreadable++) {
		fake = at(WATCHING);
		fake->memory[0] += !unreadable;
		fake->unreadable = unreadable;
		TAKES(fake, TRAP_BY_OTHERS, hit_trap_by_interpreter(fake));
		fake->memory[0] -= !unreadable;
		fake->unreadable = false;
		other_call(fake);
		TAKES(fake, VERDICT, hit_trap(fake));
		TAKES(fake, DECIDED_PAIR, resume(fake));
		assert_int_equal(only_pair(fake)->verdicts[VERDICT_NEW], 1);
		fake_destroy(fake);
	}
	/* One that put the same is none. */
	fake = at(WATCHING);
	TAKES(fake, TRAP_BY_OTHERS, hit_trap_by_interpreter(fake));
	TAKES(fake, VERDICT, hit_trap(fake));
	TAKES(fake, DECIDED_PAIR, resume(fake));
	assert_int_equal(only_pair(fake)->verdicts[VERDICT_REDUNDANT], 1);
	fake_destroy(fake);
}

static void test_every_transition_was_reached(void **state)
{
	(void)state;
	assert_int_equal(not_reached(PART_VERDICTS), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_watching),
		cmocka_unit_test(test_watching_loads),
		cmocka_unit_test(test_judged),
		cmocka_unit_test(test_settling),
		cmocka_unit_test(test_decided),
		cmocka_unit_test(test_durations),
		cmocka_unit_test(test_verdict),
		cmocka_unit_test(test_every_transition_was_reached),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

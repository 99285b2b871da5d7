/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Every transition of a watch (daemon/detect/watch_machine.h), played without a
 * kernel. TRANSITIONS lists them; the last test fails when one was not reached
 * from each of its states, and random play must find none that is not listed.
 */
#include "unit_random.h"
#include "watch_fake.h"

enum event {
	SAMPLE,
	HIT,
	RESUMED,
	TICK,
	LEND,
	RETURN,
	CANCEL,
	ENDED
};

#define IN(state) (1u << (state))
#define ANY       (IN(STATE_COUNT) - 1)
#define BUSY      (ANY & ~IN(FREE))
/* Those that may be replaced; a judged one that has its later context counts first. */
#define EVICTABLE (IN(BOUNDARY) | IN(WATCHING) | IN(DECIDED) | IN(JUDGED))
#define SAME      STATE_COUNT

#define NOTHING    0
#define LOST(loss) (1ull << (loss))
#define PAIR       (1ull << LOSS_COUNT)
#define NEVER      (2ull << LOSS_COUNT)

/* X(name, event, from, to, what is counted, one of each) */
#define TRANSITIONS(X)                                                                             \
	X(SAMPLE_FOUND, SAMPLE, IN(FREE), BOUNDARY, NOTHING)                                       \
	X(SAMPLE_BY_PROCESSOR, SAMPLE, IN(FREE), BOUNDARY, NOTHING)                                \
	X(SAMPLE_FURTHER, SAMPLE, IN(FREE), STEPPING, NOTHING)                                     \
	X(SAMPLE_NONE, SAMPLE, ANY, SAME, LOST(LOSS_NO_BOUNDARY))                                  \
	X(SAMPLE_FOUND_REFUSED, SAMPLE, IN(FREE), FREE, LOST(LOSS_NO_BREAKPOINT))                  \
	X(SAMPLE_FURTHER_REFUSED, SAMPLE, IN(FREE), FREE, LOST(LOSS_NO_BREAKPOINT))                \
	X(SAMPLE_KEPT, SAMPLE, BUSY, SAME, LOST(LOSS_WATCH_EVICTED))                               \
	X(EVICTED_FOUND, SAMPLE, EVICTABLE, BOUNDARY, LOST(LOSS_WATCH_EVICTED))                    \
	X(EVICTED_FURTHER, SAMPLE, EVICTABLE, STEPPING, LOST(LOSS_WATCH_EVICTED))                  \
	X(EVICTED_REFUSED, SAMPLE, EVICTABLE, FREE,                                                \
	  LOST(LOSS_WATCH_EVICTED) | LOST(LOSS_NO_BREAKPOINT))                                     \
	X(EVICTED_PAIR_FOUND, SAMPLE, IN(JUDGED), BOUNDARY, PAIR)                                  \
	X(EVICTED_PAIR_FURTHER, SAMPLE, IN(JUDGED), STEPPING, PAIR)                                \
	X(EVICTED_PAIR_REFUSED, SAMPLE, IN(JUDGED), FREE, PAIR | LOST(LOSS_NO_BREAKPOINT))         \
	X(STEP_FOUND, HIT, IN(STEPPING), BOUNDARY, NOTHING)                                        \
	X(STEP_FURTHER, HIT, IN(STEPPING), STEPPING, NOTHING)                                      \
	X(STEP_NO_CAPTURE, HIT, IN(STEPPING), STEPPING, NOTHING)                                   \
	X(STEP_TOO_OFTEN, HIT, IN(STEPPING), FREE, LOST(LOSS_NO_ACCESS))                           \
	X(STEP_NONE, HIT, IN(STEPPING), FREE, LOST(LOSS_NO_BOUNDARY))                              \
	X(STEP_FOUND_REFUSED, HIT, IN(STEPPING), FREE, LOST(LOSS_NO_BREAKPOINT))                   \
	X(STEP_FURTHER_REFUSED, HIT, IN(STEPPING), FREE, LOST(LOSS_NO_BREAKPOINT))                 \
	X(STEP_TIMEOUT, TICK, IN(STEPPING), FREE, LOST(LOSS_NO_ACCESS))                            \
	X(RETURNED, HIT, IN(BOUNDARY), WATCHING, NOTHING)                                          \
	X(RETURNED_DEEPER, HIT, IN(BOUNDARY) | IN(SETTLING), SAME, NOTHING)                        \
	X(RETURNED_DEEPER_TOO_OFTEN, HIT, IN(BOUNDARY), FREE, LOST(LOSS_BOUNDARY_MISSED))          \
	X(RETURNED_UNREADABLE, HIT, IN(BOUNDARY), FREE, LOST(LOSS_BOUNDARY_MISSED))                \
	X(RETURNED_REFUSED, HIT, IN(BOUNDARY), FREE, LOST(LOSS_NO_BREAKPOINT))                     \
	X(RETURNED_TIMEOUT, TICK, IN(BOUNDARY), FREE, LOST(LOSS_BOUNDARY_MISSED))                  \
	X(TRAP_BY_OTHERS, HIT, IN(WATCHING) | IN(JUDGED), SAME, NOTHING)                           \
	X(TRAP_UNDECODED, HIT, IN(WATCHING), SAME, LOST(LOSS_TRAP_UNDECODED))                      \
	X(TRAP_TOO_OFTEN, HIT, IN(WATCHING) | IN(JUDGED), FREE, LOST(LOSS_WATCH_BUDGET))           \
	X(TRAP_UNDECODED_TOO_OFTEN, HIT, IN(WATCHING), FREE,                                       \
	  LOST(LOSS_TRAP_UNDECODED) | LOST(LOSS_WATCH_BUDGET))                                     \
	X(TRAP_UNREADABLE, HIT, IN(WATCHING), FREE, LOST(LOSS_WATCH_BUDGET))                       \
	X(VERDICT, HIT, IN(WATCHING), DECIDED, NOTHING)                                            \
	X(VERDICT_SETTLES, HIT, IN(WATCHING) | IN(JUDGED), SETTLING, NOTHING)                      \
	X(VERDICT_SETTLE_REFUSED, HIT, IN(WATCHING), DECIDED, NOTHING)                             \
	X(VERDICT_FOLLOWED, HIT, IN(WATCHING), JUDGED, NOTHING)                                    \
	X(WATCH_TIMEOUT_NEVER, TICK, IN(WATCHING), FREE, NEVER)                                    \
	X(WATCH_TIMEOUT_PAIR, TICK, IN(JUDGED) | IN(SETTLING), FREE, PAIR)                         \
	X(WATCH_TIMEOUT_UNPLACED, TICK, IN(WATCHING) | IN(JUDGED) | IN(SETTLING), FREE,            \
	  LOST(LOSS_TREE_FULL))                                                                    \
	X(LATER_OTHER_CALL, HIT, IN(JUDGED), JUDGED, NOTHING)                                      \
	X(LATER_OTHER_CALL_TOO_OFTEN, HIT, IN(JUDGED), FREE, PAIR)                                 \
	X(LATER_TRAP_TOO_OFTEN, HIT, IN(JUDGED), FREE, PAIR)                                       \
	X(LATER_SETTLE_REFUSED, HIT, IN(JUDGED), FREE, PAIR)                                       \
	X(SETTLED, HIT, IN(SETTLING), FREE, PAIR)                                                  \
	X(SETTLED_UNREADABLE, HIT, IN(SETTLING), FREE, PAIR)                                       \
	X(SETTLED_DEEPER_TOO_OFTEN, HIT, IN(SETTLING), FREE, PAIR)                                 \
	X(SETTLED_UNPLACED, HIT, IN(SETTLING), FREE, LOST(LOSS_TREE_FULL))                         \
	X(CONTEXT_KNOWN, RESUMED, ANY & ~IN(DECIDED), SAME, NOTHING)                               \
	X(DECIDED_PAIR, RESUMED, IN(DECIDED), FREE, PAIR)                                          \
	X(DECIDED_UNPLACED, RESUMED, IN(DECIDED), FREE, LOST(LOSS_TREE_FULL))                      \
	X(HIT_IGNORED, HIT, IN(FREE) | IN(DECIDED) | IN(LENT), SAME, NOTHING)                      \
	X(LATE, HIT, BUSY & ~IN(DECIDED) & ~IN(LENT), FREE, LOST(LOSS_EVENT_LATE))                 \
	X(LATE_PAIR, HIT, IN(JUDGED) | IN(SETTLING), FREE, PAIR)                                   \
	X(LATE_IGNORED, HIT, IN(FREE) | IN(DECIDED), SAME, NOTHING)                                \
	X(TICK_EARLY, TICK, ANY, SAME, NOTHING)                                                    \
	X(LENT_FREE, LEND, IN(FREE), LENT, NOTHING)                                                \
	X(LENT_EVICTED, LEND, EVICTABLE, LENT, LOST(LOSS_WATCH_EVICTED))                           \
	X(LENT_EVICTED_PAIR, LEND, IN(JUDGED), LENT, PAIR)                                         \
	X(LENT_NONE, LEND, BUSY, SAME, NOTHING)                                                    \
	X(RETURNED_SLOT, RETURN, IN(LENT), FREE, NOTHING)                                          \
	X(CANCELLED, CANCEL, BUSY & ~IN(LENT), FREE, LOST(LOSS_WATCH_CANCELLED))                   \
	X(CANCELLED_PAIR, CANCEL, IN(JUDGED) | IN(SETTLING), FREE, PAIR)                           \
	X(CANCELLED_NONE, CANCEL, IN(FREE) | IN(LENT), FREE, NOTHING)                              \
	X(THREAD_ENDED, ENDED, BUSY & ~IN(LENT), FREE, LOST(LOSS_WATCH_CANCELLED))                 \
	X(THREAD_ENDED_PAIR, ENDED, IN(JUDGED) | IN(SETTLING), FREE, PAIR)                         \
	X(THREAD_ENDED_NONE, ENDED, IN(FREE) | IN(LENT), FREE, NOTHING)

enum transition {
#define X(name, event, from, to, counted) T_##name,
	TRANSITIONS(X)
#undef X
	TRANSITION_COUNT
};

static const struct {
	const char *name;
	enum event event;
	unsigned from;
	enum state to;
	uint64_t counted;
} transitions[] = {
#define X(name, event, from, to, counted) { #name, event, from, to, counted },
	TRANSITIONS(X)
#undef X
};

static unsigned reached[TRANSITION_COUNT]; /* from which states */

/* What was counted since then, at most one of each. */
static uint64_t counted_since(const struct fake *fake, const struct totals *then)
{
	struct totals now = totals_of(fake);
	uint64_t counted = NOTHING;

	for (int loss = 0; loss < LOSS_COUNT; loss++) {
		uint64_t count = now.losses.counts[loss] - then->losses.counts[loss];

		assert_true(count <= 1);
		counted |= count << loss;
	}
	assert_true(now.pairs - then->pairs <= 1 && now.never - then->never <= 1);
	return counted | (now.pairs - then->pairs) * PAIR | (now.never - then->never) * NEVER;
}

static void before(struct fake *fake)
{
	fake->before = state_of(fake);
	fake->totals = totals_of(fake);
}

static bool is_listed(const struct fake *fake, enum transition transition)
{
	enum state to = transitions[transition].to;

	return transitions[transition].from & IN(fake->before) &&
	       state_of(fake) == (to == SAME ? fake->before : to) &&
	       counted_since(fake, &fake->totals) == transitions[transition].counted;
}

static void after(struct fake *fake, enum transition transition)
{
	check_watch(fake, fake->slot);
	if (!is_listed(fake, transition))
		fail_msg("%s: from %d to %d, counted %#llx", transitions[transition].name,
			 fake->before, state_of(fake),
			 (unsigned long long)counted_since(fake, &fake->totals));
	reached[transition] |= IN(fake->before);
}

/* The action takes this transition. */
#define TAKES(fake, transition, action)                                                            \
	do {                                                                                       \
		before(fake);                                                                      \
		action;                                                                            \
		after(fake, T_##transition);                                                       \
	} while (0)

/* ---- the way to each state */

static void to_watching(struct fake *fake)
{
	sample(fake);
	resume(fake);
	fake->running_ns += CALL_NS;
	hit_boundary(fake);
}

/* second: is the later context known? */
static void to_judged(struct fake *fake, bool second)
{
	to_watching(fake);
	fake->memory[0]++;
	same_user(fake);
	hit_trap(fake);
	if (second)
		resume(fake);
}

static void to_settling(struct fake *fake, bool second)
{
	to_watching(fake);
	fake->memory[0]++;
	hit_trap(fake);
	if (second)
		resume(fake);
}

static struct fake *at(enum state state)
{
	struct fake *fake = fake_create(1);

	switch (state) {
	case STEPPING:
		fake->found.further = true;
		fake->found.run_to = RUN_TO;
		sample(fake);
		fake->found.further = false;
		break;
	case BOUNDARY:
		sample(fake);
		resume(fake);
		break;
	case WATCHING:
		to_watching(fake);
		break;
	case JUDGED:
		to_judged(fake, true);
		break;
	case SETTLING:
		to_settling(fake, true);
		break;
	case DECIDED:
		to_watching(fake);
		hit_trap(fake);
		break;
	case LENT:
		lend(fake);
		break;
	default:
		break;
	}
	assert_int_equal(state_of(fake), state);
	check_watch(fake, 0);
	return fake;
}

static void find_further(struct fake *fake)
{
	fake->found.further = true;
	fake->found.run_to = RUN_TO;
}

/* One transition and no more, in a new fake. */
#define PLAY(state, transition, ...)                                                               \
	do {                                                                                       \
		fake = at(state);                                                                  \
		TAKES(fake, transition, __VA_ARGS__);                                              \
		fake_destroy(fake);                                                                \
	} while (0)

/* ---- the tests */

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
	for (enum state from = STEPPING; from < DECIDED; from++)
		if (from == JUDGED || from == SETTLING)
			PLAY(from, LATE_PAIR, hit_late(fake));
		else
			PLAY(from, LATE, hit_late(fake));
	for (int settling = 0; settling < 2; settling++) {
		fake = fake_create(1);
		(settling ? to_settling : to_judged)(fake, false);
		TAKES(fake, LATE, hit_late(fake));
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

/* ---- random play */

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
	unsigned missing = 0;

	(void)state;
	for (int i = 0; i < TRANSITION_COUNT; i++)
		for (enum state from = FREE; from < STATE_COUNT; from++)
			if (transitions[i].from & ~reached[i] & IN(from)) {
				print_error("not reached: %s from %d\n", transitions[i].name, from);
				missing++;
			}
	assert_int_equal(missing, 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_sample),
		cmocka_unit_test(test_eviction),
		cmocka_unit_test(test_eviction_of_judged),
		cmocka_unit_test(test_stepping),
		cmocka_unit_test(test_boundary),
		cmocka_unit_test(test_watching),
		cmocka_unit_test(test_watching_loads),
		cmocka_unit_test(test_judged),
		cmocka_unit_test(test_settling),
		cmocka_unit_test(test_decided),
		cmocka_unit_test(test_any_state),
		cmocka_unit_test(test_lent),
		cmocka_unit_test(test_time_out),
		cmocka_unit_test(test_durations),
		cmocka_unit_test(test_verdict),
		cmocka_unit_test(test_slots),
		cmocka_unit_test(test_wants_capture),
		cmocka_unit_test(test_random_play),
		cmocka_unit_test(test_every_transition_was_reached),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

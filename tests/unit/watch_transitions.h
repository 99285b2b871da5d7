/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Every transition of a watch (daemon/detect/watch_machine.h), the way to each
 * state, and the check that what happened is a transition that is listed here.
 */
#ifndef PIEPROFD_TESTS_UNIT_WATCH_TRANSITIONS_H
#define PIEPROFD_TESTS_UNIT_WATCH_TRANSITIONS_H

#include "watch_fake.h"

enum event {
	SAMPLE,
	HIT,
	RESUMED,
	TICK,
	LEND,
	RETURN,
	RELIEVE,
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

/* X(name, event, from, to, what is counted, one of each); from a sample to its call's boundary: */
#define BEGINNINGS(X)                                                                              \
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
	X(RETURNED, HIT, IN(BOUNDARY), WATCHING, NOTHING)                                          \
	X(RETURNED_DEEPER, HIT, IN(BOUNDARY) | IN(SETTLING), SAME, NOTHING)                        \
	X(RETURNED_DEEPER_TOO_OFTEN, HIT, IN(BOUNDARY), FREE, LOST(LOSS_BOUNDARY_MISSED))          \
	X(RETURNED_UNREADABLE, HIT, IN(BOUNDARY), FREE, LOST(LOSS_BOUNDARY_MISSED))                \
	X(RETURNED_REFUSED, HIT, IN(BOUNDARY), FREE, LOST(LOSS_NO_BREAKPOINT))                     \
	X(LENT_FREE, LEND, IN(FREE), LENT, NOTHING)                                                \
	X(LENT_EVICTED, LEND, EVICTABLE, LENT, LOST(LOSS_WATCH_EVICTED))                           \
	X(LENT_EVICTED_PAIR, LEND, IN(JUDGED), LENT, PAIR)                                         \
	X(LENT_NONE, LEND, BUSY, SAME, NOTHING)                                                    \
	X(RETURNED_SLOT, RETURN, IN(LENT), FREE, NOTHING)

/* From there to a pair of accesses. */
#define VERDICTS(X)                                                                                \
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
	X(LATER_OTHER_CALL, HIT, IN(JUDGED), JUDGED, NOTHING)                                      \
	X(LATER_OTHER_CALL_TOO_OFTEN, HIT, IN(JUDGED), FREE, PAIR)                                 \
	X(LATER_TRAP_TOO_OFTEN, HIT, IN(JUDGED), FREE, PAIR)                                       \
	X(LATER_SETTLE_REFUSED, HIT, IN(JUDGED), FREE, PAIR)                                       \
	X(SETTLED, HIT, IN(SETTLING), FREE, PAIR)                                                  \
	X(SETTLED_UNREADABLE, HIT, IN(SETTLING), FREE, PAIR)                                       \
	X(SETTLED_DEEPER_TOO_OFTEN, HIT, IN(SETTLING), FREE, PAIR)                                 \
	X(SETTLED_UNPLACED, HIT, IN(SETTLING), FREE, LOST(LOSS_TREE_FULL))                         \
	X(DECIDED_PAIR, RESUMED, IN(DECIDED), FREE, PAIR)                                          \
	X(DECIDED_UNPLACED, RESUMED, IN(DECIDED), FREE, LOST(LOSS_TREE_FULL))

/* What may come in any phase: late events, and the end by the clock or with the thread. */
#define INTERRUPTIONS(X)                                                                           \
	X(STEP_TIMEOUT, TICK, IN(STEPPING), FREE, LOST(LOSS_NO_ACCESS))                            \
	X(RETURNED_TIMEOUT, TICK, IN(BOUNDARY), FREE, LOST(LOSS_BOUNDARY_MISSED))                  \
	X(WATCH_TIMEOUT_NEVER, TICK, IN(WATCHING), FREE, NEVER)                                    \
	X(WATCH_TIMEOUT_PAIR, TICK, IN(JUDGED) | IN(SETTLING), FREE, PAIR)                         \
	X(WATCH_TIMEOUT_UNPLACED, TICK, IN(WATCHING) | IN(JUDGED) | IN(SETTLING), FREE,            \
	  LOST(LOSS_TREE_FULL))                                                                    \
	X(CONTEXT_KNOWN, RESUMED, ANY & ~IN(DECIDED), SAME, NOTHING)                               \
	X(HIT_IGNORED, HIT, IN(FREE) | IN(DECIDED) | IN(LENT), SAME, NOTHING)                      \
	X(LATE, HIT, BUSY & ~IN(DECIDED) & ~IN(LENT), FREE, LOST(LOSS_EVENT_LATE))                 \
	X(LATE_PAIR, HIT, IN(JUDGED) | IN(SETTLING), FREE, PAIR)                                   \
	X(LATE_IGNORED, HIT, IN(FREE) | IN(DECIDED), SAME, NOTHING)                                \
	X(TICK_EARLY, TICK, ANY, SAME, NOTHING)                                                    \
	X(RELIEVED, RELIEVE, IN(WATCHING) | IN(JUDGED), FREE, LOST(LOSS_WATCH_TURNS))              \
	X(RELIEVED_PAIR, RELIEVE, IN(JUDGED), FREE, PAIR)                                          \
	X(RELIEVED_NONE, RELIEVE, ANY & ~IN(WATCHING) & ~IN(JUDGED), SAME, NOTHING)                \
	X(CANCELLED, CANCEL, BUSY & ~IN(LENT), FREE, LOST(LOSS_WATCH_CANCELLED))                   \
	X(CANCELLED_PAIR, CANCEL, IN(JUDGED) | IN(SETTLING), FREE, PAIR)                           \
	X(CANCELLED_NONE, CANCEL, IN(FREE) | IN(LENT), FREE, NOTHING)                              \
	X(THREAD_ENDED, ENDED, BUSY & ~IN(LENT), FREE, LOST(LOSS_WATCH_CANCELLED))                 \
	X(THREAD_ENDED_PAIR, ENDED, IN(JUDGED) | IN(SETTLING), FREE, PAIR)                         \
	X(THREAD_ENDED_NONE, ENDED, IN(FREE) | IN(LENT), FREE, NOTHING)

/* Each part of them has a program that plays all of it. */
enum part {
	PART_BEGINNINGS,
	PART_VERDICTS,
	PART_INTERRUPTIONS
};

#define TRANSITIONS(X)                                                                             \
	BEGINNINGS(X)                                                                              \
	VERDICTS(X)                                                                                \
	INTERRUPTIONS(X)

enum transition {
#define X(name, event, from, to, counted) T_##name,
	TRANSITIONS(X)
#undef X
	TRANSITION_COUNT
};

static const struct {
	const char *name;
	enum part part;
	enum event event;
	unsigned from;
	enum state to;
	uint64_t counted;
} transitions[] = {
#define ROW(part, name, event, from, to, counted) { #name, part, event, from, to, counted },
#define BEGINNING_ROW(...)                        ROW(PART_BEGINNINGS, __VA_ARGS__)
#define VERDICT_ROW(...)                          ROW(PART_VERDICTS, __VA_ARGS__)
#define INTERRUPTION_ROW(...)                     ROW(PART_INTERRUPTIONS, __VA_ARGS__)
	BEGINNINGS(BEGINNING_ROW) VERDICTS(VERDICT_ROW) INTERRUPTIONS(INTERRUPTION_ROW)
};

static unsigned reached[TRANSITION_COUNT]; /* from which states */

/* What was counted since then, at most one of each. */
static inline uint64_t counted_since(const struct fake *fake, const struct totals *then)
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

static inline void before(struct fake *fake)
{
	fake->before = state_of(fake);
	fake->totals = totals_of(fake);
}

static inline bool is_listed(const struct fake *fake, enum transition transition)
{
	enum state to = transitions[transition].to;

	return transitions[transition].from & IN(fake->before) &&
	       state_of(fake) == (to == SAME ? fake->before : to) &&
	       counted_since(fake, &fake->totals) == transitions[transition].counted;
}

static inline void after(struct fake *fake, enum transition transition)
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

static inline void to_watching(struct fake *fake)
{
	sample(fake);
	resume(fake);
	fake->running_ns += CALL_NS;
	hit_boundary(fake);
}

/* second: is the later context known? */
static inline void to_judged(struct fake *fake, bool second)
{
	to_watching(fake);
	fake->memory[0]++;
	same_user(fake);
	hit_trap(fake);
	if (second)
		resume(fake);
}

static inline void to_settling(struct fake *fake, bool second)
{
	to_watching(fake);
	fake->memory[0]++;
	hit_trap(fake);
	if (second)
		resume(fake);
}

static inline struct fake *at(enum state state)
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

static inline void find_further(struct fake *fake)
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

/* How many of a part were not reached from one of their states; says which. */
static inline unsigned not_reached(enum part part)
{
	unsigned missing = 0;

	for (int i = 0; i < TRANSITION_COUNT; i++)
		for (enum state from = FREE; transitions[i].part == part && from < STATE_COUNT;
		     from++)
			if (transitions[i].from & ~reached[i] & IN(from)) {
				print_error("not reached: %s from %d\n", transitions[i].name, from);
				missing++;
			}
	return missing;
}

#endif

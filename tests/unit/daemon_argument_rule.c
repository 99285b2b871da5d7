/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Verdicts on samples made by hand, of call sites in code that real interpreters
 * have compiled: each verdict, and each reason against it. Numbers are far from
 * the rule's bounds, but for where a test is about one.
 */
#include "compiled_python.h"
#include "daemon/detect/argument_rule.h"

#include <setjmp.h>
#include <stdarg.h>

#include <cmocka.h>

#define MANY 40
#define MS   1000000ull

static const char program[] =
	/*  1 */ "def loop(f, m, out, n):\n"
		 /*  2 */ "    s = 0\n"
		 /*  3 */ "    for i in range(n):\n"
		 /*  4 */ "        a = f(m)\n"
		 /*  5 */ "        f(m)\n"
		 /*  6 */ "        b = f(m)\n"
		 /*  7 */ "        b[i] = 1\n"
		 /*  8 */ "        c = f(out)\n"
		 /*  9 */ "        out[i] = a\n"
		 /* 10 */ "        e = m[i]\n"
		 /* 11 */ "        s += f(m[i])\n"
		 /* 12 */ "        g = f(m[i])\n"
		 /* 13 */ "    return s, c, e, g\n"
		 /* 14 */ "def once(f, m):\n"
		 /* 15 */ "    a = f(m)\n"
		 /* 16 */ "    return a\n"
		 /* 17 */ "def eat(m, n):\n"
		 /* 18 */ "    for i in range(n):\n"
		 /* 19 */ "        m = m[n]\n"
		 /* 20 */ "        e = m[n]\n"
		 /* 21 */ "    return e\n";

struct fixture {
	const struct live_python *python;
	const struct compiled_python *compiled;
	struct argument_log log;
	struct call_site_table table;
	struct argument_findings findings;
	uint64_t now_ns;
};

static const struct live_python *interpreter;
static struct compiled_python compiled;

static int set_up(void **state)
{
	struct fixture *fixture = calloc(1, sizeof(*fixture));

	if (!fixture)
		return -1;
	fixture->python = interpreter;
	fixture->compiled = &compiled;
	argument_log_init(&fixture->log);
	call_site_table_init(&fixture->table);
	*state = fixture;
	return 0;
}

static int tear_down(void **state)
{
	struct fixture *fixture = *state;

	argument_findings_deinit(&fixture->findings);
	call_site_table_deinit(&fixture->table);
	argument_log_deinit(&fixture->log);
	free(fixture);
	return 0;
}

/* ---- sites */

static struct argument_site *site_of(struct fixture *fixture, uint32_t id)
{
	return &fixture->log.sites[id];
}

static uint32_t site_at(struct fixture *fixture, const char *function, int line,
			const char *instruction)
{
	const struct compiled_code *code = compiled_function(fixture->compiled, function);
	int offset = compiled_offset(code, line, instruction, 0);
	struct argument_site *site;
	uint32_t id;

	assert_true(offset >= 0);
	site = argument_log_site(&fixture->log, &code->code, offset, &id);
	assert_non_null(site);
	return id;
}

/* f(x) with one operand, a list that was compared as a whole. */
static uint32_t call_at(struct fixture *fixture, const char *function, int line)
{
	uint32_t id =
		site_at(fixture, function, line, fixture->python->minor == 11 ? "PRECALL" : "CALL");
	struct argument_site *site = site_of(fixture, id);

	site->kind = OPERATION_CALL;
	site->operand_count = 2;
	site->operands[0] = (struct argument_operand){ .role = OPERAND_CALLABLE,
						       .kind = CONTENT_CALLABLE,
						       .whole = true,
						       .callable = true,
						       .hashable = true,
						       .shape = "function" };
	site->operands[1] = (struct argument_operand){
		.kind = CONTENT_LIST, .whole = true, .size = 9, .shape = "list(9)"
	};
	return id;
}

/* m[i] */
static uint32_t subscript_at(struct fixture *fixture, int line, const char *container_shape,
			     enum content_kind index_kind)
{
	uint32_t id = site_at(fixture, line < 17 ? "loop" : "eat", line,
			      fixture->python->minor >= 14 ? "BINARY_OP" : "BINARY_SUBSCR");
	struct argument_site *site = site_of(fixture, id);

	site->kind = OPERATION_SUBSCRIPT;
	site->operand_count = 2;
	site->operands[0] = (struct argument_operand){ .role = OPERAND_CONTAINER,
						       .kind = CONTENT_ARRAY,
						       .whole = true };
	snprintf(site->operands[0].shape, sizeof(site->operands[0].shape), "%s", container_shape);
	site->operands[1] = (struct argument_operand){
		.role = OPERAND_INDEX, .kind = (uint8_t)index_kind, .whole = true, .size = 2
	};
	return id;
}

/* ---- samples */

static struct argument_frame frame(uint32_t site, uint64_t contents, uint32_t round)
{
	return (struct argument_frame){ .site = site,
					.flags = ARGUMENT_JUDGED | ARGUMENT_DATA,
					.loop_count = 1,
					.operand_count = 2,
					.largest = 9,
					.contents = contents,
					.rounds = { round },
					.remaining = { ITERATOR_UNKNOWN } };
}

static void add_frames(struct fixture *fixture, const struct argument_frame *frames, size_t count)
{
	struct argument_sample sample = { .event_ns = fixture->now_ns += 10 * MS,
					  .time_ns = 10 * MS,
					  .frame_count = (uint8_t)count };

	assert_true(count <= ARGUMENT_FRAMES_MAX);
	memcpy(sample.frames, frames, count * sizeof(*frames));
	assert_int_equal(argument_log_add(&fixture->log, &sample), 0);
}

static void add(struct fixture *fixture, struct argument_frame only)
{
	add_frames(fixture, &only, 1);
}

/* The same contents in MANY rounds. */
static void add_same(struct fixture *fixture, uint32_t site)
{
	for (uint32_t i = 0; i < MANY; i++)
		add(fixture, frame(site, 7, i));
}

static void judge(struct fixture *fixture)
{
	argument_findings_deinit(&fixture->findings);
	assert_int_equal(argument_findings_make(&fixture->findings, &fixture->log, &fixture->table),
			 0);
}

/* How many samples got this verdict for this site. */
static unsigned votes(const struct fixture *fixture, enum argument_verdict verdict, uint32_t site)
{
	unsigned count = 0;

	for (size_t i = 0; i < fixture->log.sample_count; i++)
		count += fixture->findings.votes[i].verdict == verdict &&
			 fixture->findings.votes[i].site == site;
	return count;
}

/* All samples have this verdict for this site. */
static void all_are(struct fixture *fixture, enum argument_verdict verdict, uint32_t site)
{
	judge(fixture);
	if (votes(fixture, verdict, site) != fixture->log.sample_count)
		fail_msg("3.%d: verdict %d, expected %d", fixture->python->minor,
			 fixture->findings.votes[0].verdict, verdict);
}

static void forget_samples(struct fixture *fixture)
{
	fixture->log.sample_count = 0;
}

/* ---- the same arguments */

static void test_invariant(void **state)
{
	struct fixture *fixture = *state;
	uint32_t site = call_at(fixture, "loop", 4);

	add_same(fixture, site);
	all_are(fixture, ARGUMENT_INVARIANT, site);
	assert_int_equal(fixture->findings.summaries[site].judged, MANY);
	assert_int_equal(fixture->findings.summaries[site].commonest, MANY);
	assert_int_equal(fixture->findings.summaries[site].contents, 7);
	assert_int_equal(fixture->findings.summaries[site].distinct, 1);
	assert_int_equal(fixture->findings.summaries[site].trips, 0);
	assert_int_equal(fixture->findings.summaries[site].votes[ARGUMENT_INVARIANT], MANY);
	assert_int_equal(fixture->findings.summaries[site].votes_ns[ARGUMENT_INVARIANT],
			 MANY * 10 * MS);
}

/* Some samples are of other contents: these alone are needed. */
static void test_mostly_the_same(void **state)
{
	struct fixture *fixture = *state;
	uint32_t site = call_at(fixture, "loop", 4);

	for (uint32_t i = 0; i < MANY; i++)
		add(fixture, frame(site, i % 10 ? 7 : 1000 + i, i));
	judge(fixture);
	assert_int_equal(votes(fixture, ARGUMENT_INVARIANT, site), MANY - MANY / 10);
	assert_int_equal(votes(fixture, ARGUMENT_NEEDED, site), MANY / 10);
	forget_samples(fixture);
	for (uint32_t i = 0; i < MANY; i++)
		add(fixture, frame(site, i % 2 ? 7 : 1000 + i, i));
	all_are(fixture, ARGUMENT_NEEDED, site);
	forget_samples(fixture);
	for (uint32_t i = 0; i < MANY; i++)
		add(fixture, frame(site, 1000 + i, i));
	all_are(fixture, ARGUMENT_NEEDED, site);
}

static void test_one_long_call(void **state)
{
	struct fixture *fixture = *state;
	uint32_t site = call_at(fixture, "loop", 4), other = call_at(fixture, "once", 15);

	for (uint32_t i = 0; i < MANY; i++)
		add(fixture, frame(site, 7, 1));
	all_are(fixture, ARGUMENT_NEEDED, site);
	/* Of several calls it is when something else ran in between. */
	forget_samples(fixture);
	for (uint32_t i = 0; i < MANY; i++)
		add(fixture, frame(i % 8 ? site : other, i % 8 ? 7 : i, 1));
	judge(fixture);
	assert_int_equal(votes(fixture, ARGUMENT_INVARIANT, site), MANY - MANY / 8);
}

/* Where it has called itself, a site is in a sample twice: one call all the same. */
static void test_one_long_call_in_itself(void **state)
{
	struct fixture *fixture = *state;
	uint32_t site = call_at(fixture, "loop", 4);

	for (uint32_t i = 0; i < MANY; i++)
		add_frames(fixture,
			   (struct argument_frame[]){ frame(site, 7, 1), frame(site, 7, 1) }, 2);
	all_are(fixture, ARGUMENT_NEEDED, site);
}

static void test_trips(void **state)
{
	struct fixture *fixture = *state;
	uint32_t site = call_at(fixture, "loop", 4);

	for (uint32_t i = 0; i < MANY; i++) {
		struct argument_frame one = frame(site, 7, i);

		one.remaining[0] = 98 - i;
		add(fixture, one);
	}
	all_are(fixture, ARGUMENT_INVARIANT, site);
	assert_int_equal(fixture->findings.summaries[site].trips, 99);
}

static void test_own_function(void **state)
{
	struct fixture *fixture = *state;
	uint32_t site = call_at(fixture, "loop", 4), other = call_at(fixture, "loop", 12);

	site_of(fixture, site)->of_callee = true;
	add_same(fixture, site);
	all_are(fixture, ARGUMENT_INVARIANT, site);
	/* f(m[i]): that it was the same each time says nothing of the next round. */
	forget_samples(fixture);
	site_of(fixture, other)->of_callee = true;
	add_same(fixture, other);
	all_are(fixture, ARGUMENT_REPEATED, other);
}

/* Not in a loop of its own, but of who calls: with something else each time. */
static void test_called_in_a_loop(void **state)
{
	struct fixture *fixture = *state;
	uint32_t inner = call_at(fixture, "once", 15), outer = call_at(fixture, "loop", 4);

	site_of(fixture, outer)->of_callee = true;
	for (uint32_t i = 0; i < MANY; i++)
		add_frames(fixture,
			   (struct argument_frame[]){ frame(inner, 7, 0), frame(outer, i, 0) }, 2);
	judge(fixture);
	/* To tell calls apart takes a round or another site: here it is one call, for all we know.
	 */
	assert_int_equal(votes(fixture, ARGUMENT_REPEATED, inner), 0);
	/* The caller's round will do. */
	forget_samples(fixture);
	for (uint32_t i = 0; i < MANY; i++)
		add_frames(fixture,
			   (struct argument_frame[]){ frame(inner, 7, 0), frame(outer, i, i) }, 2);
	all_are(fixture, ARGUMENT_REPEATED, inner);
	forget_samples(fixture);
	for (uint32_t i = 0; i < MANY; i++)
		add_frames(fixture,
			   (struct argument_frame[]){ frame(inner, 7, i), frame(outer, i, i) }, 2);
	all_are(fixture, ARGUMENT_REPEATED, inner);
	assert_int_equal(fixture->findings.votes[0].frame, 0);
	/* The outermost that is the same is to blame. */
	forget_samples(fixture);
	for (uint32_t i = 0; i < MANY; i++)
		add_frames(fixture,
			   (struct argument_frame[]){ frame(inner, 7, i), frame(outer, 7, i) }, 2);
	all_are(fixture, ARGUMENT_INVARIANT, outer);
	assert_int_equal(fixture->findings.votes[0].frame, 1);
}

/* A call out of any loop that is in sight, told apart by what else runs in between. */
static void test_called_from_out_of_sight(void **state)
{
	struct fixture *fixture = *state;
	uint32_t inner = call_at(fixture, "once", 15), other = call_at(fixture, "loop", 4);
	struct argument_frame outside = frame(inner, 7, 0), between = frame(other, 0, 0);

	outside.loop_count = between.loop_count = 0;
	for (uint32_t i = 0; i < MANY; i++) {
		between.contents = i;
		add(fixture, i % 4 ? outside : between);
	}
	judge(fixture);
	assert_int_equal(votes(fixture, ARGUMENT_REPEATED, inner), MANY - MANY / 4);
	/* Where not all frames are known, it may have been there in between, too. */
	for (size_t i = 0; i < fixture->log.sample_count; i += 4)
		fixture->log.samples[i].cut = true;
	judge(fixture);
	assert_int_equal(votes(fixture, ARGUMENT_REPEATED, inner), 0);
}

/* What loads the operands of a call that is for nothing is for nothing, too. */
static void test_part_of_an_expression(void **state)
{
	struct fixture *fixture = *state;
	uint32_t site = call_at(fixture, "loop", 4);
	uint32_t load = site_at(fixture, "loop", 4, "LOAD_FAST");
	uint32_t elsewhere = site_at(fixture, "loop", 9, "LOAD_FAST");
	struct argument_frame part = frame(load, 0, 0), other = frame(elsewhere, 0, 0);

	part.flags = other.flags = 0;
	for (uint32_t i = 0; i < MANY; i++) {
		part.rounds[0] = other.rounds[0] = i;
		add(fixture, frame(site, 7, i));
		add(fixture, part);
		add(fixture, other);
	}
	judge(fixture);
	assert_int_equal(votes(fixture, ARGUMENT_INVARIANT, site), 2 * MANY);
	assert_int_equal(votes(fixture, ARGUMENT_UNKNOWN, elsewhere), MANY);
	/* Of a call that is the same no more than mostly, no one knows. */
	for (uint32_t i = 0; i < MANY; i++)
		fixture->log.samples[3 * i].frames[0].contents = i % 3 ? 7 : i;
	judge(fixture);
	assert_int_equal(votes(fixture, ARGUMENT_UNKNOWN, load), MANY);
}

/* Other data in each sample, and yet mostly what the call before had. */
static void test_again(void **state)
{
	struct fixture *fixture = *state;
	uint32_t site = call_at(fixture, "loop", 4);

	for (uint32_t i = 0; i < MANY; i++)
		add(fixture, frame(site, i, i));
	all_are(fixture, ARGUMENT_NEEDED, site);
	site_of(fixture, site)->compared = 12;
	site_of(fixture, site)->repeated = 9;
	all_are(fixture, ARGUMENT_INVARIANT, site);
	assert_true(argument_summary_part(&fixture->findings.summaries[site], ARGUMENT_INVARIANT) ==
		    0.75);
	site_of(fixture, site)->of_callee = true;
	all_are(fixture, ARGUMENT_INVARIANT, site);
	/* Too few, and too seldom. */
	site_of(fixture, site)->compared = site_of(fixture, site)->repeated = 5;
	all_are(fixture, ARGUMENT_NEEDED, site);
	site_of(fixture, site)->compared = 24;
	all_are(fixture, ARGUMENT_NEEDED, site);
}

/* What the function called again does is something else each time. */
static void test_again_refuted_inside(void **state)
{
	struct fixture *fixture = *state;
	uint32_t inner = call_at(fixture, "once", 15), outer = call_at(fixture, "loop", 4);

	for (uint32_t i = 0; i < MANY; i++)
		add_frames(fixture,
			   (struct argument_frame[]){ frame(inner, i, i), frame(outer, i, i) }, 2);
	site_of(fixture, outer)->of_callee = true;
	site_of(fixture, outer)->compared = site_of(fixture, outer)->repeated = 20;
	all_are(fixture, ARGUMENT_INVARIANT, outer);
	site_of(fixture, inner)->compared = 12;
	all_are(fixture, ARGUMENT_NEEDED, inner);
	site_of(fixture, inner)->repeated = 10;
	all_are(fixture, ARGUMENT_INVARIANT, outer);
}

/* x in list; a function with a faster counterpart. */
static void test_algorithms(void **state)
{
	struct fixture *fixture = *state;
	uint32_t site = call_at(fixture, "loop", 4);
	struct argument_site *known = site_of(fixture, site);

	for (uint32_t i = 0; i < MANY; i++)
		add(fixture, frame(site, i, i));
	known->kind = OPERATION_CONTAINS;
	known->operands[1].role = OPERAND_CONTAINER;
	known->operands[1].size = 1000;
	all_are(fixture, ARGUMENT_SEARCHED, site);
	known->operands[1].size = 3;
	all_are(fixture, ARGUMENT_NEEDED, site);
	known->operands[1].size = 1000;
	known->operands[1].kind = CONTENT_SET;
	all_are(fixture, ARGUMENT_NEEDED, site);
	known->kind = OPERATION_CALL;
	for (size_t i = 0; i < fixture->log.sample_count; i++)
		fixture->log.samples[i].frames[0].flags |= i % 2 ? ARGUMENT_IN_SLOW : 0;
	judge(fixture);
	assert_int_equal(votes(fixture, ARGUMENT_SLOW, site), MANY / 2);
}

/* x = x[n:], where it is shorter each time; y = x[n:] takes what it needs. */
static void test_cut(void **state)
{
	struct fixture *fixture = *state;
	uint32_t cut = subscript_at(fixture, 19, "", CONTENT_SLICE);
	uint32_t taken = subscript_at(fixture, 20, "", CONTENT_SLICE);
	uint32_t sites[] = { cut, taken };

	for (size_t k = 0; k < 2; k++) {
		struct argument_operand *container = &site_of(fixture, sites[k])->operands[0];

		container->kind = CONTENT_BYTES;
		container->size = 5000;
		for (uint32_t i = 0; i < MANY; i++) {
			struct argument_frame one = frame(sites[k], i, i);

			one.largest = 5000 - 7 * i;
			add(fixture, one);
		}
	}
	judge(fixture);
	assert_int_equal(votes(fixture, ARGUMENT_CUT, cut), MANY);
	assert_int_equal(votes(fixture, ARGUMENT_CUT, taken), 0);
	/* The same length: it is not used up. */
	for (size_t i = 0; i < fixture->log.sample_count; i++)
		fixture->log.samples[i].frames[0].largest = 5000;
	judge(fixture);
	assert_int_equal(votes(fixture, ARGUMENT_CUT, cut), 0);
}

/* A function's arguments are the same, and what it calls works on something else each time. */
static void test_refuted_inside(void **state)
{
	struct fixture *fixture = *state;
	uint32_t inner = call_at(fixture, "once", 15), outer = call_at(fixture, "loop", 4);

	site_of(fixture, outer)->of_callee = true;
	for (uint32_t i = 0; i < MANY; i++)
		add_frames(fixture,
			   (struct argument_frame[]){ frame(inner, i, i), frame(outer, 7, i) }, 2);
	all_are(fixture, ARGUMENT_NEEDED, inner);
	/* Or on what cannot be read. */
	forget_samples(fixture);
	for (uint32_t i = 0; i < MANY; i++) {
		struct argument_frame one = frame(inner, 7, i);

		one.flags |= ARGUMENT_OPAQUE | ARGUMENT_STATE;
		add_frames(fixture, (struct argument_frame[]){ one, frame(outer, 7, i) }, 2);
	}
	judge(fixture);
	assert_int_equal(votes(fixture, ARGUMENT_INVARIANT, outer), 0);
	/* An iterator is made within. */
	for (size_t i = 0; i < fixture->log.sample_count; i++)
		fixture->log.samples[i].frames[0].flags &= (uint8_t)~ARGUMENT_STATE;
	all_are(fixture, ARGUMENT_INVARIANT, outer);
	/* What happens outside of the function as often says nothing of it. */
	forget_samples(fixture);
	for (uint32_t i = 0; i < MANY; i++) {
		add_frames(fixture,
			   (struct argument_frame[]){ frame(inner, i, i), frame(outer, 7, i) }, 2);
		add(fixture, frame(inner, 500 + i, i));
	}
	judge(fixture);
	assert_int_equal(votes(fixture, ARGUMENT_INVARIANT, outer), MANY);
}

static void test_vetoes(void **state)
{
	struct fixture *fixture = *state;
	uint32_t dropped = call_at(fixture, "loop", 5), changed = call_at(fixture, "loop", 6),
		 stored = call_at(fixture, "loop", 8);

	add_same(fixture, dropped);
	all_are(fixture, ARGUMENT_NEEDED, dropped);
	forget_samples(fixture);
	add_same(fixture, changed);
	all_are(fixture, ARGUMENT_NEEDED, changed);
	/* What was compared as a whole did not change, whatever the loop stores into it. */
	forget_samples(fixture);
	add_same(fixture, stored);
	all_are(fixture, ARGUMENT_INVARIANT, stored);
	forget_samples(fixture);
	for (uint32_t i = 0; i < MANY; i++) {
		struct argument_frame one = frame(stored, 7, i);

		one.flags |= ARGUMENT_PARTIAL;
		add(fixture, one);
	}
	all_are(fixture, ARGUMENT_NEEDED, stored);
}

/* Nothing compared: nothing said, not even that the call is needed. */
static void test_unknown(void **state)
{
	struct fixture *fixture = *state;
	uint32_t site = call_at(fixture, "loop", 4);

	for (uint32_t i = 0; i < MANY; i++) {
		struct argument_frame one = frame(site, 7, i);

		one.flags = i % 2 ? 0 : ARGUMENT_JUDGED | ARGUMENT_OPAQUE;
		add(fixture, one);
	}
	all_are(fixture, ARGUMENT_UNKNOWN, site);
}

static void test_opaque(void **state)
{
	struct fixture *fixture = *state;
	uint32_t site = call_at(fixture, "loop", 4);

	for (uint32_t i = 0; i < MANY; i++) {
		struct argument_frame one = frame(site, 7, i);

		one.flags |= i % 4 ? 0 : ARGUMENT_OPAQUE;
		add(fixture, one);
	}
	all_are(fixture, ARGUMENT_NEEDED, site);
	for (uint32_t i = 0; i < MANY; i++)
		fixture->log.samples[i].frames[0].flags &= (uint8_t)~ARGUMENT_OPAQUE;
	all_are(fixture, ARGUMENT_INVARIANT, site);
}

static void test_too_little(void **state)
{
	struct fixture *fixture = *state;
	uint32_t site = call_at(fixture, "loop", 4), other = call_at(fixture, "once", 15);

	for (uint32_t i = 0; i < ARGUMENT_VOTES_MIN - 1; i++)
		add(fixture, frame(site, 7, i));
	all_are(fixture, ARGUMENT_NEEDED, site);
	/* Enough samples, and too small a part of all the time. */
	for (uint32_t i = 0; i < MANY; i++) {
		add(fixture, frame(site, 7, i));
		fixture->log.samples[fixture->log.sample_count - 1].time_ns = 1;
		add(fixture, frame(other, i, i));
	}
	for (uint32_t i = 0; i < ARGUMENT_VOTES_MIN - 1; i++)
		fixture->log.samples[i].time_ns = 1;
	judge(fixture);
	assert_int_equal(votes(fixture, ARGUMENT_INVARIANT, site), 0);
	assert_int_equal(votes(fixture, ARGUMENT_NEEDED, site), MANY + ARGUMENT_VOTES_MIN - 1);
	for (size_t i = 0; i < fixture->log.sample_count; i++)
		fixture->log.samples[i].time_ns = 10 * MS;
	judge(fixture);
	assert_int_equal(votes(fixture, ARGUMENT_INVARIANT, site), MANY + ARGUMENT_VOTES_MIN - 1);
}

/* ---- few sets */

static void add_cycle(struct fixture *fixture, uint32_t site, uint32_t count, uint32_t sets)
{
	forget_samples(fixture);
	for (uint32_t i = 0; i < count; i++)
		add(fixture, frame(site, 100 + i % sets, i));
}

static void test_few(void **state)
{
	struct fixture *fixture = *state;
	uint32_t site = call_at(fixture, "loop", 4);
	struct argument_operand *operand = &site_of(fixture, site)->operands[1];

	operand->kind = CONTENT_INT;
	operand->hashable = true;
	add_cycle(fixture, site, 2 * MANY, 4);
	all_are(fixture, ARGUMENT_FEW, site);
	assert_int_equal(fixture->findings.summaries[site].distinct, 4);
	/* A list is no key of a cache. */
	operand->hashable = false;
	all_are(fixture, ARGUMENT_NEEDED, site);
	operand->hashable = true;
	add_cycle(fixture, site, 8, 2);
	all_are(fixture, ARGUMENT_NEEDED, site);
	add_cycle(fixture, site, 2 * MANY, MANY);
	all_are(fixture, ARGUMENT_NEEDED, site);
	assert_int_equal(fixture->findings.summaries[site].distinct, ARGUMENT_DISTINCT_MAX);
	/* Not a call: a dictionary would cost as much. */
	site_of(fixture, site)->kind = OPERATION_BINARY;
	add_cycle(fixture, site, 2 * MANY, 4);
	all_are(fixture, ARGUMENT_NEEDED, site);
}

/* ---- growing */

static void test_growing(void **state)
{
	struct fixture *fixture = *state;
	uint32_t site = call_at(fixture, "loop", 4);

	for (uint32_t i = 0; i < MANY; i++) {
		struct argument_frame one = frame(site, i, i);

		one.largest = 1000 + i;
		add(fixture, one);
	}
	all_are(fixture, ARGUMENT_GROWING, site);
	/* An own function may do anything with it; where it is indexed its length does not matter.
	 */
	site_of(fixture, site)->of_callee = true;
	all_are(fixture, ARGUMENT_NEEDED, site);
	site_of(fixture, site)->of_callee = false;
	site_of(fixture, site)->kind = OPERATION_SUBSCRIPT;
	all_are(fixture, ARGUMENT_NEEDED, site);
	site_of(fixture, site)->kind = OPERATION_CALL;
	/* Up and down. */
	for (uint32_t i = 0; i < MANY; i++)
		fixture->log.samples[i].frames[0].largest = 1000 + (i % 2 ? i : 0);
	all_are(fixture, ARGUMENT_NEEDED, site);
	/* Two sizes in all. */
	for (uint32_t i = 0; i < MANY; i++)
		fixture->log.samples[i].frames[0].largest = 1000 + (i > MANY / 2);
	all_are(fixture, ARGUMENT_NEEDED, site);
}

static void test_growing_is_dropped(void **state)
{
	struct fixture *fixture = *state;
	uint32_t site = call_at(fixture, "loop", 5);

	for (uint32_t i = 0; i < MANY; i++) {
		struct argument_frame one = frame(site, i, i);

		one.largest = 1000 + i;
		add(fixture, one);
	}
	all_are(fixture, ARGUMENT_NEEDED, site);
}

/* ---- elements */

static void add_others(struct fixture *fixture, uint32_t site)
{
	for (uint32_t i = 0; i < MANY; i++)
		add(fixture, frame(site, 100 + i, i));
}

static void test_elements(void **state)
{
	struct fixture *fixture = *state;
	uint32_t site = subscript_at(fixture, 10, "float64[1000]", CONTENT_INT);

	add_others(fixture, site);
	all_are(fixture, ARGUMENT_ELEMENTS, site);
	/* x[i] of a table is a row of it, x[i, j] a number; x[a:b] is a slice. */
	subscript_at(fixture, 10, "float64[1000,300]", CONTENT_INT);
	all_are(fixture, ARGUMENT_NEEDED, site);
	/* A row so short that the call costs more than the work. */
	subscript_at(fixture, 10, "float64[1000,3]", CONTENT_INT);
	all_are(fixture, ARGUMENT_ELEMENTS, site);
	subscript_at(fixture, 10, "float64[1000,3]", CONTENT_TUPLE);
	all_are(fixture, ARGUMENT_ELEMENTS, site);
	subscript_at(fixture, 10, "float64[1000]", CONTENT_SLICE);
	all_are(fixture, ARGUMENT_NEEDED, site);
	subscript_at(fixture, 10, "float64[1000]", CONTENT_ARRAY);
	all_are(fixture, ARGUMENT_NEEDED, site);
	/* A list's elements have no array operation. */
	subscript_at(fixture, 10, "list(1000)", CONTENT_INT);
	site_of(fixture, site)->operands[0].kind = CONTENT_LIST;
	all_are(fixture, ARGUMENT_NEEDED, site);
	/* The same element over and over. */
	subscript_at(fixture, 10, "float64[1000]", CONTENT_INT);
	forget_samples(fixture);
	add_same(fixture, site);
	all_are(fixture, ARGUMENT_INVARIANT, site);
}

static uint32_t ufunc_at(struct fixture *fixture, int line)
{
	uint32_t site = call_at(fixture, "loop", line);

	snprintf(site_of(fixture, site)->operands[0].shape, FINGERPRINT_SHAPE, "numpy.ufunc");
	site_of(fixture, site)->operands[1].kind = CONTENT_SCALAR;
	return site;
}

static void test_scalars(void **state)
{
	struct fixture *fixture = *state;
	uint32_t summed = ufunc_at(fixture, 11), kept = ufunc_at(fixture, 12);

	add_others(fixture, summed);
	all_are(fixture, ARGUMENT_SCALARS, summed);
	/* Not summed up: an array is what it should work on. */
	forget_samples(fixture);
	add_others(fixture, kept);
	all_are(fixture, ARGUMENT_ELEMENTS, kept);
	/* Not a ufunc: there may be nothing that takes an array. */
	forget_samples(fixture);
	snprintf(site_of(fixture, summed)->operands[0].shape, FINGERPRINT_SHAPE, "function");
	add_others(fixture, summed);
	all_are(fixture, ARGUMENT_NEEDED, summed);
	/* Nor are arrays numbers. */
	ufunc_at(fixture, 11);
	site_of(fixture, summed)->operands[1].kind = CONTENT_ARRAY;
	all_are(fixture, ARGUMENT_NEEDED, summed);
}

/* ---- all of it */

/* Samples are logged as they come, of several threads and out of a reservoir: time orders them. */
static void test_order(void **state)
{
	struct fixture *fixture = *state;
	uint32_t growing = call_at(fixture, "loop", 4), same = call_at(fixture, "once", 15);
	struct argument_sample *samples;

	for (uint32_t i = 0; i < MANY; i++) {
		struct argument_frame one = frame(growing, i, i);

		one.largest = 1000 + i;
		add(fixture, one);
		add(fixture, frame(same, 9, 0));
	}
	samples = fixture->log.samples;
	for (size_t round = 0; round < 2; round++) {
		judge(fixture);
		assert_int_equal(votes(fixture, ARGUMENT_GROWING, growing), MANY);
		assert_int_equal(fixture->findings.summaries[same].calls, MANY);
		for (size_t i = fixture->log.sample_count; i-- > 1;) {
			size_t other = (size_t)rand() % (i + 1);
			struct argument_sample kept = samples[i];

			samples[i] = samples[other];
			samples[other] = kept;
		}
	}
	judge(fixture);
	assert_int_equal(votes(fixture, ARGUMENT_GROWING, growing), MANY);
	assert_int_equal(fixture->findings.summaries[same].calls, MANY);
}

static void test_nothing(void **state)
{
	struct fixture *fixture = *state;

	judge(fixture);
	(void)call_at(fixture, "loop", 4);
	judge(fixture);
	assert_int_equal(fixture->findings.summaries[0].judged, 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(test_invariant, set_up, tear_down),
		cmocka_unit_test_setup_teardown(test_mostly_the_same, set_up, tear_down),
		cmocka_unit_test_setup_teardown(test_one_long_call, set_up, tear_down),
		cmocka_unit_test_setup_teardown(test_one_long_call_in_itself, set_up, tear_down),
		cmocka_unit_test_setup_teardown(test_trips, set_up, tear_down),
		cmocka_unit_test_setup_teardown(test_own_function, set_up, tear_down),
		cmocka_unit_test_setup_teardown(test_called_in_a_loop, set_up, tear_down),
		cmocka_unit_test_setup_teardown(test_called_from_out_of_sight, set_up, tear_down),
		cmocka_unit_test_setup_teardown(test_part_of_an_expression, set_up, tear_down),
		cmocka_unit_test_setup_teardown(test_again, set_up, tear_down),
		cmocka_unit_test_setup_teardown(test_again_refuted_inside, set_up, tear_down),
		cmocka_unit_test_setup_teardown(test_algorithms, set_up, tear_down),
		cmocka_unit_test_setup_teardown(test_cut, set_up, tear_down),
		cmocka_unit_test_setup_teardown(test_refuted_inside, set_up, tear_down),
		cmocka_unit_test_setup_teardown(test_vetoes, set_up, tear_down),
		cmocka_unit_test_setup_teardown(test_unknown, set_up, tear_down),
		cmocka_unit_test_setup_teardown(test_opaque, set_up, tear_down),
		cmocka_unit_test_setup_teardown(test_too_little, set_up, tear_down),
		cmocka_unit_test_setup_teardown(test_few, set_up, tear_down),
		cmocka_unit_test_setup_teardown(test_growing, set_up, tear_down),
		cmocka_unit_test_setup_teardown(test_growing_is_dropped, set_up, tear_down),
		cmocka_unit_test_setup_teardown(test_elements, set_up, tear_down),
		cmocka_unit_test_setup_teardown(test_scalars, set_up, tear_down),
		cmocka_unit_test_setup_teardown(test_order, set_up, tear_down),
		cmocka_unit_test_setup_teardown(test_nothing, set_up, tear_down),
	};
	const struct live_pythons *pythons = live_pythons();
	int failed = 0, done = 0;

	if (!pythons->count) {
		print_message("skipped: no CPython 3.6 to 3.15 found\n");
		return 0;
	}
	/* One of each version: what differs is the bytecode. */
	for (size_t i = 0; i < pythons->count; i++) {
		if (done & 1 << pythons->items[i].minor)
			continue;
		done |= 1 << pythons->items[i].minor;
		interpreter = &pythons->items[i];
		compiled = compiled_python(interpreter, program);
		failed += cmocka_run_group_tests(tests, NULL, NULL);
		compiled_python_free(&compiled);
	}
	return failed != 0;
}

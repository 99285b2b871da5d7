/* SPDX-License-Identifier: Apache-2.0 */
/* When the same arguments again make a call avoidable, and each reason against it. */
#include "argument_samples.h"

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
	add_others(fixture, site, MANY);
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
		add_two(fixture, frame(site, 7, 1), frame(site, 7, 1));
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
		add_two(fixture, frame(inner, 7, 0), frame(outer, i, 0));
	judge(fixture);
	/* To tell calls apart takes a round or another site: here it is one call, for all we know.
	 */
	assert_int_equal(votes(fixture, ARGUMENT_REPEATED, inner), 0);
	/* The caller's round will do. */
	forget_samples(fixture);
	for (uint32_t i = 0; i < MANY; i++)
		add_two(fixture, frame(inner, 7, 0), frame(outer, i, i));
	all_are(fixture, ARGUMENT_REPEATED, inner);
	forget_samples(fixture);
	for (uint32_t i = 0; i < MANY; i++)
		add_two(fixture, frame(inner, 7, i), frame(outer, i, i));
	all_are(fixture, ARGUMENT_REPEATED, inner);
	assert_int_equal(fixture->findings.votes[0].frame, 0);
	/* The outermost that is the same is to blame. */
	forget_samples(fixture);
	for (uint32_t i = 0; i < MANY; i++)
		add_two(fixture, frame(inner, 7, i), frame(outer, 7, i));
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

/* ---- loops that do not turn */

/* `inner` is called MANY times, told apart by `between`, with `outer` around both. */
static void add_called(struct fixture *fixture, uint32_t inner, uint32_t between,
		       struct argument_frame outer, uint32_t node)
{
	for (uint32_t i = 0; i < MANY; i++) {
		struct argument_frame one = i % 4 ? frame(inner, 7, 0) : frame(between, 100 + i, 0);

		one.loop_count = 0;
		add_two(fixture, one, outer);
		fixture->log.samples[i].node = node;
	}
}

/* A process that was forked in a loop: its stack stays in the fork's round of that loop. */
static void test_loop_that_stands(void **state)
{
	struct fixture *fixture = *state;
	uint32_t inner = call_at(fixture, "once", 15), other = call_at(fixture, "only", 36);
	struct argument_frame outer = frame(call_at(fixture, "loop", 4), 0, 3);

	/* What it works on cannot be compared. */
	outer.flags = ARGUMENT_JUDGED | ARGUMENT_OPAQUE;
	outer.remaining[0] = 5;
	add_called(fixture, inner, other, outer, 0);
	judge(fixture);
	assert_int_equal(votes(fixture, ARGUMENT_REPEATED, inner), MANY - MANY / 4);
	/* One that turns may be what calls again, and with what is not known. */
	forget_samples(fixture);
	add_called(fixture, inner, other, outer, 0);
	fixture->log.samples[MANY / 2].frames[1].rounds[0]++;
	judge(fixture);
	assert_int_equal(votes(fixture, ARGUMENT_REPEATED, inner), 0);
	/* Nor is one whose rounds cannot be told known to stand. */
	forget_samples(fixture);
	outer.remaining[0] = ITERATOR_UNKNOWN;
	add_called(fixture, inner, other, outer, 0);
	judge(fixture);
	assert_int_equal(votes(fixture, ARGUMENT_REPEATED, inner), 0);
	/* Nor one in a loop that may be what turns. */
	forget_samples(fixture);
	outer.site = call_at(fixture, "nested", 31);
	outer.remaining[0] = 5;
	add_called(fixture, inner, other, outer, 0);
	judge(fixture);
	assert_int_equal(votes(fixture, ARGUMENT_REPEATED, inner), 0);
}

static struct frame python_frame(const struct fixture *fixture, uint32_t site)
{
	return (struct frame){ .kind = FRAME_PYTHON,
			       .python = { .code = fixture->log.sites[site].code,
					   .instruction_offset =
						   fixture->log.sites[site].offset } };
}

/* `while` has no rounds that could be told. A library's loop within it is what calls. */
static void test_loop_that_stays(void **state)
{
	struct fixture *fixture = *state;
	uint32_t inner = call_at(fixture, "once", 15), other = call_at(fixture, "only", 36);
	uint32_t library = call_at(fixture, "loop", 4), straight = call_at(fixture, "only", 35);
	uint32_t elsewhere = call_at(fixture, "nested", 32);
	struct argument_frame outer = frame(call_at(fixture, "nested", 31), 0, 0);
	struct frame path[] = { python_frame(fixture, outer.site), python_frame(fixture, library),
				python_frame(fixture, inner) };
	const struct cct_node *called, *alone;

	fixture->cct = cct_create(64);
	assert_non_null(fixture->cct);
	called = cct_insert(fixture->cct, path, 3);
	path[1] = python_frame(fixture, straight);
	alone = cct_insert(fixture->cct, path, 3);
	assert_true(called && alone);

	outer.flags = ARGUMENT_JUDGED | ARGUMENT_OPAQUE;
	outer.loop_count = 0;
	add_called(fixture, inner, other, outer, called->id);
	judge(fixture);
	assert_int_equal(votes(fixture, ARGUMENT_REPEATED, inner), MANY - MANY / 4);
	/* Without that loop it is the one around that calls, for all we know. */
	forget_samples(fixture);
	add_called(fixture, inner, other, outer, alone->id);
	judge(fixture);
	assert_int_equal(votes(fixture, ARGUMENT_REPEATED, inner), 0);
	/* It runs: the function was seen elsewhere, too. */
	forget_samples(fixture);
	add_called(fixture, inner, other, outer, called->id);
	fixture->log.samples[MANY / 2].frames[1].site = elsewhere;
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

	add_others(fixture, site, MANY);
	all_are(fixture, ARGUMENT_NEEDED, site);
	site_of(fixture, site)->compared = 12;
	site_of(fixture, site)->repeated = 9;
	all_are(fixture, ARGUMENT_INVARIANT, site);
	assert_true(argument_summary_part(&fixture->findings.summaries[site], ARGUMENT_INVARIANT)
			    .middle == 0.75);
	site_of(fixture, site)->of_callee = true;
	all_are(fixture, ARGUMENT_INVARIANT, site);
	/* Too few, and too seldom. */
	site_of(fixture, site)->compared = site_of(fixture, site)->repeated = 3;
	all_are(fixture, ARGUMENT_NEEDED, site);
	site_of(fixture, site)->compared = 24;
	all_are(fixture, ARGUMENT_NEEDED, site);
}

/* Data stays for a few samples: what was not compared from call to call is told by these. */
static void test_samples_next_to_each_other(void **state)
{
	struct fixture *fixture = *state;
	uint32_t site = call_at(fixture, "loop", 4);

	for (uint32_t i = 0; i < MANY; i++)
		add(fixture, frame(site, i / 4, i));
	all_are(fixture, ARGUMENT_INVARIANT, site);
	assert_int_equal(fixture->findings.summaries[site].distinct, MANY / 4);
	assert_true(argument_summary_part(&fixture->findings.summaries[site], ARGUMENT_INVARIANT)
			    .middle > 0.85);
	/* Comparisons of calls say otherwise. */
	site_of(fixture, site)->compared = 3;
	site_of(fixture, site)->repeated = 1;
	all_are(fixture, ARGUMENT_NEEDED, site);
	site_of(fixture, site)->repeated = 2;
	all_are(fixture, ARGUMENT_INVARIANT, site);
	/* Two in a row may be chance. */
	forget_samples(fixture);
	site_of(fixture, site)->compared = 0;
	for (uint32_t i = 0; i < MANY; i++)
		add(fixture, frame(site, i / 2, i));
	all_are(fixture, ARGUMENT_NEEDED, site);
	/* One long call is alike all the time. */
	forget_samples(fixture);
	for (uint32_t i = 0; i < MANY; i++)
		add(fixture, frame(site, i / 4, i / 4));
	all_are(fixture, ARGUMENT_NEEDED, site);
}

/* f(m[i]) is called again with the same: m[i] is then the same again, unless its own calls say no.
 */
static void test_part_of_what_is_called_again(void **state)
{
	struct fixture *fixture = *state;
	uint32_t outer = call_at(fixture, "loop", 12);
	uint32_t inner = subscript_at(fixture, 12, "float64[9]", CONTENT_LIST);

	add_others(fixture, outer, MANY);
	add_others(fixture, inner, MANY);
	site_of(fixture, outer)->compared = site_of(fixture, outer)->repeated = 12;
	judge(fixture);
	assert_int_equal(votes(fixture, ARGUMENT_INVARIANT, outer), 2 * MANY);
	site_of(fixture, inner)->compared = 3;
	site_of(fixture, inner)->repeated = 2;
	judge(fixture);
	assert_int_equal(votes(fixture, ARGUMENT_INVARIANT, outer), 2 * MANY);
	site_of(fixture, inner)->repeated = 1;
	judge(fixture);
	assert_int_equal(votes(fixture, ARGUMENT_INVARIANT, outer), MANY);
	assert_int_equal(votes(fixture, ARGUMENT_NEEDED, inner), MANY);
}

/* What the function called again does is something else each time. */
static void test_again_refuted_inside(void **state)
{
	struct fixture *fixture = *state;
	uint32_t inner = call_at(fixture, "once", 15), outer = call_at(fixture, "loop", 4);

	for (uint32_t i = 0; i < MANY; i++)
		add_two(fixture, frame(inner, i, i), frame(outer, i, i));
	site_of(fixture, outer)->of_callee = true;
	site_of(fixture, outer)->compared = site_of(fixture, outer)->repeated = 20;
	all_are(fixture, ARGUMENT_INVARIANT, outer);
	site_of(fixture, inner)->compared = 12;
	all_are(fixture, ARGUMENT_NEEDED, inner);
	site_of(fixture, inner)->repeated = 10;
	all_are(fixture, ARGUMENT_INVARIANT, outer);
}

/* source.read() may give what it likes each time; a table is what was read of it. */
static void test_method_of_a_table(void **state)
{
	struct fixture *fixture = *state;
	uint32_t site = call_at(fixture, "loop", 4);
	struct argument_site *known = site_of(fixture, site);

	known->runs_python = true;
	known->operands[1].kind = CONTENT_OBJECT;
	for (uint32_t i = 0; i < MANY; i++)
		add(fixture, frame(site, 7, i));
	judge(fixture);
	assert_int_equal(votes(fixture, ARGUMENT_INVARIANT, site), 0);
	known->operands[1].frame = true;
	judge(fixture);
	assert_int_equal(votes(fixture, ARGUMENT_INVARIANT, site), MANY);
}

/* A function's arguments are the same, and what it calls works on something else each time. */
static void test_refuted_inside(void **state)
{
	struct fixture *fixture = *state;
	uint32_t inner = call_at(fixture, "once", 15), outer = call_at(fixture, "loop", 4);

	site_of(fixture, outer)->of_callee = true;
	for (uint32_t i = 0; i < MANY; i++)
		add_two(fixture, frame(inner, i, i), frame(outer, 7, i));
	all_are(fixture, ARGUMENT_NEEDED, inner);
	/* Or on what cannot be read. */
	forget_samples(fixture);
	for (uint32_t i = 0; i < MANY; i++) {
		struct argument_frame one = frame(inner, 7, i);

		one.flags |= ARGUMENT_OPAQUE | ARGUMENT_STATE;
		add_two(fixture, one, frame(outer, 7, i));
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
		add_two(fixture, frame(inner, i, i), frame(outer, 7, i));
		add(fixture, frame(inner, 500 + i, i));
	}
	judge(fixture);
	assert_int_equal(votes(fixture, ARGUMENT_INVARIANT, outer), MANY);
	/* But for state that cannot be read: whoever else calls what uses it. */
	for (size_t i = 0; i < fixture->log.sample_count; i++)
		fixture->log.samples[i].frames[0].flags |= ARGUMENT_OPAQUE | ARGUMENT_STATE;
	judge(fixture);
	assert_int_equal(votes(fixture, ARGUMENT_INVARIANT, outer), 0);
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
	/* Where some repeat the call before, a cache saves the others, too; where most do, little
	 * more. */
	site_of(fixture, site)->compared = 20;
	site_of(fixture, site)->repeated = 8;
	all_are(fixture, ARGUMENT_FEW, site);
	site_of(fixture, site)->repeated = 16;
	all_are(fixture, ARGUMENT_INVARIANT, site);
	site_of(fixture, site)->compared = site_of(fixture, site)->repeated = 0;
	/* A list is no key of a cache. */
	operand->hashable = false;
	all_are(fixture, ARGUMENT_NEEDED, site);
	operand->hashable = true;
	add_cycle(fixture, site, 8, 2);
	all_are(fixture, ARGUMENT_NEEDED, site);
	add_cycle(fixture, site, 2 * MANY, MANY);
	all_are(fixture, ARGUMENT_NEEDED, site);
	assert_int_equal(fixture->findings.summaries[site].distinct, MANY);
	/* Of a function of the program's own, chance would not bring as many of them back. */
	site_of(fixture, site)->of_callee = true;
	all_are(fixture, ARGUMENT_FEW, site);
	assert_int_equal(fixture->findings.summaries[site].recurring, MANY);
	/* Each sample of one long call: none came back. */
	for (size_t i = 0; i < fixture->log.sample_count; i++)
		fixture->log.samples[i].frames[0].rounds[0] = 1;
	all_are(fixture, ARGUMENT_NEEDED, site);
	add_cycle(fixture, site, 2 * MANY, 2 * MANY);
	all_are(fixture, ARGUMENT_NEEDED, site);
	site_of(fixture, site)->of_callee = false;
	/* Not a call: a dictionary would cost as much. */
	site_of(fixture, site)->kind = OPERATION_BINARY;
	add_cycle(fixture, site, 2 * MANY, 4);
	all_are(fixture, ARGUMENT_NEEDED, site);
}

/* Other data a moment later: arguments come back only among calls in a row. */
static void test_few_in_rows(void **state)
{
	struct fixture *fixture = *state;
	uint32_t inner = call_at(fixture, "once", 15), outer = call_at(fixture, "loop", 4);
	struct argument_site *site = site_of(fixture, outer);

	for (uint32_t i = 0; i < MANY; i++)
		add_two(fixture, frame(inner, i, i), frame(outer, i, i));
	site->operands[1].kind = CONTENT_INT;
	site->operands[1].hashable = site->of_callee = true;
	site->rows = 4;
	site->row_pairs = 480;
	site->row_alike = 12;
	site->row_recurring = 3;
	all_are(fixture, ARGUMENT_FEW, outer);
	assert_true(fixture->findings.summaries[outer].few.middle >= 1);
	/* They come back at once, or not: from half a row on none is equal. */
	site->row_far_pairs = 144;
	site->row_calls = 64;
	site->row_hits = 16;
	all_are(fixture, ARGUMENT_FEW, outer);
	assert_true(fixture->findings.summaries[outer].few.middle < 0.3);
	site->row_far_alike = 3;
	all_are(fixture, ARGUMENT_FEW, outer);
	assert_true(fixture->findings.summaries[outer].few.middle >= 1);
	/* By chance, once. */
	site->row_recurring = 1;
	all_are(fixture, ARGUMENT_NEEDED, inner);
	site->row_recurring = 3;
	site->of_callee = false;
	all_are(fixture, ARGUMENT_NEEDED, inner);
	/* In C, and a tenth of a millisecond from one to the next. */
	site->row_gaps = 4;
	site->row_gaps_ns = 400000;
	all_are(fixture, ARGUMENT_FEW, outer);
	site->row_gaps_ns = 120000;
	all_are(fixture, ARGUMENT_NEEDED, inner);
	/* In C: to find it in a cache is work, too. */
	site->operands[1].kind = CONTENT_BYTES;
	site->operands[1].size = 2000;
	all_are(fixture, ARGUMENT_FEW, outer);
	site->of_callee = true;
	/* A random number's generator, say. */
	for (size_t i = 0; i < fixture->log.sample_count; i++)
		fixture->log.samples[i].frames[0].flags |= ARGUMENT_OPAQUE | ARGUMENT_STATE;
	all_are(fixture, ARGUMENT_NEEDED, inner);
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
		cmocka_unit_test_setup_teardown(test_loop_that_stands, set_up, tear_down),
		cmocka_unit_test_setup_teardown(test_loop_that_stays, set_up, tear_down),
		cmocka_unit_test_setup_teardown(test_called_from_out_of_sight, set_up, tear_down),
		cmocka_unit_test_setup_teardown(test_part_of_an_expression, set_up, tear_down),
		cmocka_unit_test_setup_teardown(test_again, set_up, tear_down),
		cmocka_unit_test_setup_teardown(test_samples_next_to_each_other, set_up, tear_down),
		cmocka_unit_test_setup_teardown(test_part_of_what_is_called_again, set_up,
						tear_down),
		cmocka_unit_test_setup_teardown(test_again_refuted_inside, set_up, tear_down),
		cmocka_unit_test_setup_teardown(test_method_of_a_table, set_up, tear_down),
		cmocka_unit_test_setup_teardown(test_refuted_inside, set_up, tear_down),
		cmocka_unit_test_setup_teardown(test_vetoes, set_up, tear_down),
		cmocka_unit_test_setup_teardown(test_unknown, set_up, tear_down),
		cmocka_unit_test_setup_teardown(test_opaque, set_up, tear_down),
		cmocka_unit_test_setup_teardown(test_too_little, set_up, tear_down),
		cmocka_unit_test_setup_teardown(test_few, set_up, tear_down),
		cmocka_unit_test_setup_teardown(test_few_in_rows, set_up, tear_down),
		cmocka_unit_test_setup_teardown(test_nothing, set_up, tear_down),
	};

	return run_on_interpreters(tests);
}

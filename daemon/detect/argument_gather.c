/* SPDX-License-Identifier: Apache-2.0 */
#include "daemon/detect/argument_gather.h"

#include "common/hash.h"
#include "daemon/bytecode/loop_item.h"
#include "daemon/detect/argument_common.h"
#include "daemon/detect/argument_copy.h"
#include "daemon/detect/argument_element.h"
#include "daemon/detect/argument_meets.h"
#include "daemon/detect/argument_part.h"
#include "daemon/detect/argument_relation.h"
#include "daemon/detect/argument_search.h"
#include "daemon/detect/argument_sequence.h"
#include "daemon/detect/interval.h"

#include <errno.h>
#include <stdlib.h>

/* More than so much of what was compared is the same, surely. */
#define SAME_LOW 0.5
/* In different calls: one long call is the same all the time. */
#define CALLS_MIN 3
/* Of calls that were compared with the ones before them, surely more than so many are the same. */
#define AGAIN_MIN       4
#define AGAIN_ALIKE_MIN 3 /* two may be by chance */
#define AGAIN_LOW       0.12
/* Or, where too few were: samples next to each other. */
#define PAIRS_MIN 8
#define PAIRS_LOW 0.4
/* Of calls with the same first argument; chance brings such together, too. */
#define FIRST_LOW                0.2
#define REPEATED_RATHER_THAN_FEW 0.6
/* Of a site's samples, so many may have an operand that is known by identity alone. */
#define OPAQUE_MAX 0.05
/* Of calls compared with the ones before them, so few are alike that samples are not believed. */
#define DIFFERS_COMPARED_MIN 8
#define DIFFERS_REPEATED_OF  8
/* Few sets of arguments: each was seen so often, on average, and by chance two samples are alike.
 */
#define FEW_SAMPLES_MIN 16
#define FEW_REPEATS     3.0
#define FEW_SETS_SEEN   32
#define FEW_ALIKE       (1.0 / 24)
/* Of a function of the program's own, so few that a cache holds them all: told by how often two
 * calls are alike, long before each was seen. */
#define FEW_RECURRING_MIN 6
#define FEW_SETS_MAX      400
/* Or: of calls in a row, arguments came back in more than one row, so many pairs of them. */
#define ROWS_RECURRING_MIN 2
#define ROWS_ALIKE_MIN     4
#define ROW_HELD_MIN       12 /* in one row */
/* Of a function in C; what a cache takes is a tenth of it. */
#define CACHED_CALL_NS 3000.0
/* A stop at the call takes so much of the thread's own time (docs/MEASURED.md, "Rows of calls"). */
#define TRAP_NS 30000.0
/* Of pairs of the same objects, one in so many may have other contents: what is kept of one goes
 * then. */
#define ROW_CHANGES_OF 16
/* Keys that were others than in the sample before, in one of so many; objects with other contents
 * in at most that. */
#define KEYS_CHANGE_OF  4
#define HELD_CHANGES_OF 50
/* Elements: so much of the indices differ. */
#define ELEMENTS_DISTINCT 0.3

static void count_contents(struct argument_facts *facts, uint64_t contents)
{
	struct argument_summary *summary = facts->summary;
	uint32_t i = 0;

	while (i < summary->distinct && facts->keys[i] != contents)
		i++;
	if (i == ARGUMENT_DISTINCT_MAX) {
		facts->overflow++;
		return;
	}
	if (i == summary->distinct) {
		facts->keys[i] = contents;
		summary->distinct++;
	}
	if (++facts->counts[i] > summary->commonest) {
		summary->commonest = facts->counts[i];
		summary->contents = contents;
	}
}

/* The loops that a frame is in, its own and its callers', and the rounds they are at; 0: none. */
static void find_rounds(const struct argument_sample *sample, unsigned number, uint32_t *ret_loops,
			uint32_t *ret_rounds)
{
	uint64_t loops = 0, rounds = 0;
	bool known = false;

	for (unsigned f = number; f < sample->frame_count; f++) {
		if (!sample->frames[f].loop_count)
			continue;
		known = true;
		loops = hash_combine(loops, sample->frames[f].site);
		rounds = hash_combine(rounds, sample->frames[f].rounds[0]);
	}
	*ret_loops = known ? hash_word(hash_mix(loops)) | 1 : 0;
	*ret_rounds = hash_word(hash_mix(rounds));
}

/* Its code was seen at another instruction in the meantime. */
static bool has_left(struct argument_facts *all, uint32_t site)
{
	struct argument_facts *code = &all[all[site].code_site];
	bool left = code->code_last != site + 1;

	code->code_last = site + 1;
	return left;
}

/* False if the function is recursive: two activations are on the stack. */
static bool is_alone(const struct argument_facts *all, const struct argument_sample *sample,
		     unsigned number)
{
	uint32_t code = all[sample->frames[number].site].code_site;

	for (unsigned f = 0; f < sample->frame_count; f++)
		if (f != number && all[sample->frames[f].site].code_site == code)
			return false;
	return true;
}

/* A call ends where a loop's round is another one, or where other code was seen in between. */
static void count_calls(struct argument_facts *all, const struct argument_sample *sample,
			unsigned number, uint32_t position)
{
	const struct argument_frame *frame = &sample->frames[number];
	struct argument_facts *facts = &all[frame->site];
	bool interrupted = position > facts->last_position + 1;
	uint32_t loops, rounds;

	if (is_alone(all, sample, number))
		interrupted |= has_left(all, frame->site);
	find_rounds(sample, number, &loops, &rounds);
	if (!facts->summary->calls || interrupted ||
	    (loops && loops == facts->last_loops && rounds != facts->last_rounds))
		facts->summary->calls++;
	facts->last_position = position;
	facts->last_loops = loops;
	facts->last_rounds = rounds;
	for (unsigned i = 0; i < frame->loop_count; i++)
		if (frame->remaining[i] >= 0 &&
		    (uint64_t)frame->remaining[i] + 1 > facts->loop_trips[i])
			facts->loop_trips[i] = (uint64_t)frame->remaining[i] + 1;
	facts->summary->trips = facts->loop_trips[0];
}

/*
 * Data that is worked on for a while, and then other data: samples that are next to each other
 * mostly meet the same, and so do the many calls between them.
 */
static void count_pair(struct argument_facts *facts, const struct argument_frame *frame)
{
	if (!(frame->flags & ARGUMENT_DATA) || frame->flags & ARGUMENT_OPAQUE)
		return;
	if (facts->pair_calls && facts->summary->calls <= facts->pair_calls)
		return;
	if (facts->pair_calls) {
		facts->summary->pairs++;
		facts->summary->alike += frame->contents == facts->pair_contents;
	}
	for (uint32_t i = 0; i < facts->summary->distinct; i++)
		if (facts->keys[i] == frame->contents)
			facts->summary->recurring += facts->call_counts[i]++;
	facts->pair_calls = facts->summary->calls;
	facts->pair_contents = frame->contents;
}

/* What it is given first, by itself. */
static void count_first(struct argument_facts *facts, const struct argument_site *site,
			const struct argument_frame *frame)
{
	size_t first = argument_first_given(site);

	if (!site->slow || slow_call_get(site->slow)->when != SLOW_PREPARES ||
	    first >= frame->operand_count || facts->summary->calls <= facts->first_calls)
		return;
	facts->first_pairs += facts->first_calls > 0;
	facts->first_alike += facts->first_calls && frame->operands[first] == facts->first_contents;
	facts->first_calls = facts->summary->calls;
	facts->first_contents = frame->operands[first];
}

static void count_size(struct argument_facts *facts, uint64_t size)
{
	if (size > facts->most_items)
		facts->most_items = size;
	if (!size || size == facts->last_size)
		return;
	facts->sizes++;
	facts->steps_up += size > facts->last_size;
	facts->last_size = size;
}

/* Where a function has called itself, its innermost call tells calls apart. */
static bool is_innermost(const struct argument_sample *sample, unsigned number)
{
	for (unsigned f = 0; f < number; f++)
		if (sample->frames[f].site == sample->frames[number].site)
			return false;
	return true;
}

/* Are all of them of one round of its loop? */
static void count_round(struct argument_facts *all, const struct argument_frame *frame)
{
	struct argument_facts *facts = &all[frame->site];
	uint32_t round = frame->loop_count ? frame->rounds[0] : 0;

	all[facts->code_site].code_seen++;
	facts->moves |= facts->seen > 1 && round != facts->round;
	facts->rounds_told = (facts->seen == 1 || facts->rounds_told) && frame->loop_count &&
			     frame->remaining[0] != ITERATOR_UNKNOWN;
	facts->round = round;
}

static void count_frame(struct argument_facts *all, const struct argument_log *log,
			const struct argument_sample *sample, unsigned number, uint32_t position)
{
	const struct argument_frame *frame = &sample->frames[number];
	struct argument_facts *facts = &all[frame->site];

	if (is_innermost(sample, number)) {
		facts->seen++;
		count_round(all, frame);
		count_calls(all, sample, number, position);
		argument_search_count(facts, frame);
	}
	if (!(frame->flags & ARGUMENT_JUDGED))
		return;
	facts->summary->judged++;
	facts->data += !!(frame->flags & ARGUMENT_DATA);
	facts->opaque += !!(frame->flags & ARGUMENT_OPAQUE);
	facts->partial += !!(frame->flags & ARGUMENT_PARTIAL);
	facts->state += !!(frame->flags & ARGUMENT_STATE);
	count_contents(facts, frame->contents);
	count_pair(facts, frame);
	count_first(facts, &log->sites[frame->site], frame);
	count_size(facts, frame->largest);
}

/* What functions work on, call by call of who called them. */
static void count_work(struct argument_facts *all, const struct argument_log *log,
		       const struct argument_sample *sample)
{
	for (unsigned f = 0; f + 1u < sample->frame_count; f++) {
		uint32_t caller = sample->frames[f + 1].site;

		/* What is stored into is another thing a moment later. */
		if (log->sites[sample->frames[f].site].kind == OPERATION_STORE_SUBSCRIPT)
			continue;
		argument_work_count(&all[sample->frames[f].site].work, &sample->frames[f],
				    hash_combine(hash_mix(caller), all[caller].summary->calls));
	}
}

static void judge_elements(struct argument_facts *facts, const struct argument_site *site)
{
	struct argument_summary *summary = facts->summary;
	bool differ = summary->distinct > 2 && summary->distinct + facts->overflow >
						       ELEMENTS_DISTINCT * (double)summary->judged;

	if (!facts->call.in_loop || summary->judged < 3 || !differ)
		return;
	facts->elements = argument_takes_element(site) ||
			  argument_works_on_elements(site, &facts->call, facts->on_free_item);
	facts->scalars = argument_calls_on_scalars(site);
	summary->elements = facts->scalars && !facts->elements
				    ? argument_part_of_scalars(facts->loop_trips)
				    : argument_part_of_elements(site, facts->loop_trips);
}

/* In the last sample, or in most of them; whether a copy is needed is told by all calls. */
static bool meets(const struct argument_site *site, enum slow_when when)
{
	return argument_meets(site, when) ||
	       (when != SLOW_COPY && 2 * site->slow_met > site->slow_read);
}

/* solve(a, b) with the same a as the call before, by samples or by calls watched. */
static void judge_prepared(struct argument_facts *facts, const struct argument_site *site)
{
	struct saved_part *part = &facts->summary->slow;
	struct saved_part kept;

	facts->slow = (facts->first_pairs >= PAIRS_MIN &&
		       interval_wilson(facts->first_alike, facts->first_pairs).low > FIRST_LOW) ||
		      (site->compared >= PAIRS_MIN &&
		       interval_wilson(site->first_kept, site->compared).low > FIRST_LOW);
	if (site->compared < PAIRS_MIN || !site->first_kept)
		return;
	/* The first of them prepares it in any case. */
	kept = argument_part_of_repeats((double)site->first_kept / site->compared, site->compared,
					0);
	*part = (struct saved_part){ part->middle * kept.middle, part->low * kept.low,
				     part->high * kept.high };
}

static void judge_slow(struct argument_facts *facts, const struct argument_site *site)
{
	enum slow_when when;

	if (!site->slow)
		return;
	when = slow_call_get(site->slow)->when;
	facts->summary->slow = argument_part_of_slow(site->slow);
	facts->end = (slow_call_sorts(site->slow) || when == SLOW_END) && facts->veto.takes_item &&
		     !argument_sorts_few(site);
	facts->growing |= when == SLOW_ENLARGES || argument_joins_lists(site);
	switch (when) {
	case SLOW_IN_TURN:
		/* As a sequence is that it goes over, and that it makes longer. */
		facts->growing |= facts->veto.result_replaces;
		break;
	case SLOW_AT_FRONT:
		facts->cut |= meets(site, when);
		break;
	case SLOW_SEARCH:
		facts->searched |= meets(site, when);
		break;
	case SLOW_LOOKS:
		facts->searched = true;
		break;
	case SLOW_ON_PIECES:
	case SLOW_ON_VALUE:
		facts->elements = facts->keeps_receiver && meets(site, when);
		facts->summary->elements = facts->summary->slow;
		break;
	case SLOW_PREPARES:
		judge_prepared(facts, site);
		break;
	case SLOW_PART:
		facts->slow = facts->veto.takes_part && meets(site, when);
		break;
	case SLOW_ON_ROW:
		facts->slow = facts->call.in_loop && meets(site, when);
		break;
	case SLOW_OF_OBJECT_ON_FEW:
		/* Element by element, whatever each of them costs. */
		facts->slow = !facts->elements && meets(site, when);
		break;
	case SLOW_ON_LOOP_ROW:
		facts->slow = facts->on_loop_item && meets(site, when);
		break;
	case SLOW_INVERTS:
		facts->slow = facts->veto.multiplied && meets(site, when);
		break;
	case SLOW_ELEMENT:
	case SLOW_ON_VECTOR:
		facts->slow =
			!(facts->call.in_loop && facts->call.does.elementwise) && meets(site, when);
		break;
	case SLOW_UFUNC:
		/* In a loop over elements all of them could be worked on at once. */
		facts->slow = !facts->call.in_loop && argument_meets(site, SLOW_ON_NUMBERS);
		break;
	case SLOW_IN_PIECES:
		facts->elements = facts->call.in_loop && site->counted;
		facts->summary->elements = facts->summary->slow;
		break;
	default:
		facts->slow = meets(site, when);
	}
}

/* Among all samples, as of so many sets. */
static bool comes_back(const struct argument_summary *summary)
{
	double calls = summary->pairs + 1;

	return summary->distinct >= 2 && summary->recurring >= FEW_RECURRING_MIN &&
	       (calls - 1) * calls / 2 / (double)summary->recurring <= FEW_SETS_MAX;
}

/* What could be no key was the same object in most samples, with the same contents. */
static bool is_held(const struct argument_site *site)
{
	return 2 * site->held_again > site->held_met &&
	       HELD_CHANGES_OF * site->held_changed <= site->held_again;
}

/* A call takes longer than a look into a cache, by how often it is met and seen. */
static bool takes_long(const struct argument_facts *facts, const struct argument_site *site,
		       const struct argument_log *log)
{
	double gap_ns = site->row_gaps ? (double)site->row_gaps_ns / site->row_gaps : 0;

	return (gap_ns - TRAP_NS) * facts->seen >= CACHED_CALL_NS * (double)log->sample_count;
}

static void judge_few(struct argument_facts *facts, const struct argument_site *site,
		      const struct argument_log *log)
{
	bool works = site->of_callee || site->runs_python || site->queries ||
		     argument_is_given_much(site) || takes_long(facts, site, log);
	const struct argument_summary *summary = facts->summary;
	double n = (double)summary->judged, alike = 0;

	for (size_t i = 0; i < site->operand_count; i++) {
		if (!site->operands[i].hashable && !(argument_is_known_data(&site->operands[i]) &&
						     argument_parts_are_steady(site)))
			return;
		facts->in_turn |= !site->operands[i].hashable;
	}
	/* What was made anew and is equal by chance has no place to keep a result at. */
	if (facts->in_turn) {
		facts->few_held = KEYS_CHANGE_OF * site->keys_changed > summary->judged;
		facts->few = works && ROW_CHANGES_OF * site->row_changed <= site->row_held &&
			     ((site->row_recurring >= ROWS_RECURRING_MIN &&
			       site->row_held >= ROWS_ALIKE_MIN) ||
			      site->row_held >= ROW_HELD_MIN ||
			      (facts->few_held && is_held(site) && comes_back(summary)));
		return;
	}
	if (works && comes_back(summary)) {
		facts->few = true;
		return;
	}
	/* Data that is other data a moment later does not come back among all samples. */
	if (works && site->row_recurring >= ROWS_RECURRING_MIN &&
	    site->row_alike >= ROWS_ALIKE_MIN) {
		facts->few = true;
		facts->summary->few = argument_part_of_few(site);
		return;
	}
	if ((site->kind != OPERATION_CALL && site->kind != OPERATION_CALL_UNPACKED) ||
	    summary->judged < FEW_SAMPLES_MIN || summary->distinct < 2 || facts->overflow ||
	    summary->distinct > FEW_SETS_SEEN)
		return;
	for (uint32_t i = 0; i < summary->distinct; i++)
		alike += (double)facts->counts[i] * (facts->counts[i] - 1);
	facts->few = alike / (n * (n - 1)) > FEW_ALIKE && n >= FEW_REPEATS * summary->distinct;
}

static void judge_again(struct argument_facts *facts, const struct argument_site *site,
			bool comparable)
{
	struct argument_summary *summary = facts->summary;

	/* Whatever samples see in the middle of its calls. */
	facts->again = site->compared >= AGAIN_MIN && site->repeated >= AGAIN_ALIKE_MIN &&
		       interval_wilson(site->repeated, site->compared).low > AGAIN_LOW;
	if (facts->again) {
		summary->repeated = (double)site->repeated / site->compared;
		summary->repeated_of = site->compared;
		return;
	}
	if (!comparable || facts->same || summary->pairs < PAIRS_MIN ||
	    interval_wilson(summary->alike, summary->pairs).low <= PAIRS_LOW ||
	    2 * site->repeated < site->compared)
		return;
	facts->again = facts->by_pairs = true;
	/* Between that share, were each call sampled, and all of them. */
	summary->repeated = (1 + (double)summary->alike / summary->pairs) / 2;
	summary->repeated_of = summary->pairs;
}

/* What a function has put into its parameters may be the same in the middle of all its calls. */
static bool differs_by_call(const struct argument_site *site)
{
	return site->compared >= DIFFERS_COMPARED_MIN &&
	       DIFFERS_REPEATED_OF * site->repeated < site->compared;
}

static void judge_site(struct argument_facts *facts, const struct argument_site *site,
		       const struct argument_log *log)
{
	struct argument_summary *summary = facts->summary;
	bool comparable = summary->judged >= ARGUMENT_JUDGED_MIN &&
			  facts->data > summary->judged / 2 &&
			  (double)facts->opaque < OPAQUE_MAX * (double)summary->judged;

	facts->bulk = argument_works_in_bulk(site);
	judge_elements(facts, site);
	argument_sequence_judge(facts, site);
	judge_slow(facts, site);
	argument_sequence_judge_kept(facts, site);
	/* A cursor keeps the rows that it was asked for; they may be others, where some are
	 * written. */
	if (site->asks || site->keeps ||
	    (site->queries && database_written_has(&log->written, &site->query)) ||
	    (facts->veto.dropped && !site->queries) || facts->veto.result_changes ||
	    (facts->veto.operand_changes && facts->partial) || argument_has_part_of_object(site))
		return;
	/* A copy is made for somebody to change it. */
	if (slow_call_copies(site->slow) && !facts->slow)
		return;
	facts->same = comparable && summary->calls >= CALLS_MIN && !differs_by_call(site) &&
		      interval_wilson(summary->commonest, summary->judged).low > SAME_LOW;
	judge_again(facts, site, comparable);
	if (!comparable || facts->same ||
	    (facts->again && summary->repeated > REPEATED_RATHER_THAN_FEW))
		return;
	judge_few(facts, site, log);
	/* A cache saves more than what the call before it left does. */
	facts->again &= !facts->few;
}

static int compare_times(const void *left, const void *right, void *context)
{
	const struct argument_sample *samples = context;
	uint64_t a = samples[*(const uint32_t *)left].event_ns;
	uint64_t b = samples[*(const uint32_t *)right].event_ns;

	return a < b ? -1 : a > b;
}

/* The first site of each one's code. */
static int find_codes(struct argument_facts *facts, const struct argument_log *log)
{
	struct id_table codes = { 0 };
	int error = 0;

	for (uint32_t id = 0; !error && id < log->site_count; id++) {
		uint64_t hash = hash_mix((uintptr_t)log->sites[id].code);
		size_t probe = 0;
		uint32_t first;

		while ((first = id_table_next(&codes, hash, &probe)) != ID_NONE)
			if (log->sites[first].code == log->sites[id].code)
				break;
		facts[id].code_site = first == ID_NONE ? id : first;
		if (first != ID_NONE)
			continue;
		error = id_table_reserve(&codes);
		if (!error)
			id_table_add(&codes, hash, id);
	}
	id_table_deinit(&codes);
	return error;
}

static int find_bytecode_facts(struct argument_facts *facts, const struct argument_site *site,
			       struct call_site_table *sites)
{
	const struct bytecode *bytecode;

	if (call_site_find(sites, site->code, site->offset, &facts->call))
		return -ENOMEM;
	bytecode = call_site_bytecode(sites, site->code);
	if (!bytecode)
		return -ENOMEM;
	facts->veto = argument_veto_find(bytecode, &facts->call);
	facts->extent = argument_extent_find(bytecode, site->offset);
	facts->origin = argument_extent_origin(bytecode, site->offset);
	facts->call_begin = argument_extent_call(bytecode, site->offset);
	facts->on_loop_item =
		facts->call.in_loop && loop_item_is_used(bytecode, site->offset, &facts->call.loop);
	facts->keeps_receiver = facts->call.in_loop &&
				loop_keeps_receiver(bytecode, site->offset, &facts->call.loop);
	facts->on_free_item =
		facts->on_loop_item && !loop_item_recurs(bytecode, site->offset, &facts->call.loop);
	argument_search_judge(facts, site, bytecode);
	argument_copy_judge(facts, site, bytecode);
	argument_common_judge(facts, site, bytecode);
	return 0;
}

int argument_gather(struct argument_facts *facts, const struct argument_log *log,
		    struct call_site_table *sites)
{
	uint32_t *order = calloc(log->sample_count + 1, sizeof(*order));
	uint32_t position = 1;
	int error;

	if (!order)
		return -ENOMEM;
	error = find_codes(facts, log);
	if (error) {
		free(order);
		return error;
	}
	for (uint32_t i = 0; i < log->sample_count; i++)
		order[i] = i;
	qsort_r(order, log->sample_count, sizeof(*order), compare_times, log->samples);
	for (uint32_t i = 0; i < log->sample_count; i++) {
		const struct argument_sample *sample = &log->samples[order[i]];

		/* Of one that was cut it is not known what it was not in. */
		position += !sample->cut;
		for (unsigned f = 0; f < sample->frame_count; f++)
			count_frame(facts, log, sample, f, position);
		count_work(facts, log, sample);
	}
	free(order);
	for (uint32_t id = 0; !error && id < log->site_count; id++) {
		facts[id].summary->entry = facts[id].summary->origin = ID_NONE;
		if (log->sites[id].offset == ARGUMENT_ENTRY)
			continue;
		error = find_bytecode_facts(&facts[id], &log->sites[id], sites);
		if (!error)
			judge_site(&facts[id], &log->sites[id], log);
	}
	if (!error)
		argument_relations_judge(facts, log);
	return error;
}

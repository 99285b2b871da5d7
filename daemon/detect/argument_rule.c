/* SPDX-License-Identifier: Apache-2.0 */
#include "daemon/detect/argument_rule.h"

#include "daemon/detect/argument_element.h"
#include "daemon/detect/argument_veto.h"
#include "daemon/detect/interval.h"
#include "pyintrospect/line_table.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define SAMPLES_MIN 5
/* More than so much of what was compared is the same, surely. */
#define SAME_LOW 0.5
/* In different calls: one long call is the same all the time. */
#define CALLS_MIN 3
/* Of a site's samples, so many may have an operand that is known by identity alone. */
#define OPAQUE_MAX 0.05
/* Few sets of arguments: each was seen so often, on average, and by chance two samples are alike.
 */
#define FEW_SAMPLES_MIN 16
#define FEW_REPEATS     3.0
#define FEW_ALIKE       (1.0 / 24)
/* Growing: so many sizes, of which most are larger than the one before. */
#define GROWING_SIZES_MIN 6
#define GROWING_STEPS     0.7
/* Elements: so much of the indices differ. */
#define ELEMENTS_DISTINCT 0.3
/* Of a line's element accesses, so many are calls on single numbers. */
#define SCALARS_SHARE 0.15
/* Own frames from the innermost whose lines are asked for elements. */
#define ELEMENTS_FRAMES 3

struct site_facts {
	struct argument_summary *summary;
	struct call_site call;
	struct argument_veto veto;
	uint64_t keys[ARGUMENT_DISTINCT_MAX];
	uint32_t counts[ARGUMENT_DISTINCT_MAX];
	uint32_t overflow; /* judged samples whose contents found no place in keys */
	uint64_t data, opaque, partial;
	uint32_t samples;  /* that it is in */
	uint32_t in_a_row; /* samples since another site was seen, to tell calls apart */
	uint32_t last_round;
	bool last_known;
	uint64_t last_size;
	uint32_t sizes, steps_up; /* of the largest operand, in order of time */
	uint32_t distinct_index;  /* of the element accesses */
	bool same, few, growing, elements, scalars;
	int line;
	/* Of the element accesses on this line: the site most sampled, ID_NONE: there is none. */
	uint32_t line_site;
	bool line_scalars; /* enough of them are calls on single numbers */
};

struct inside {
	uint32_t samples; /* of this inner site */
	uint32_t under;   /* of them, with the outer one around */
};

struct judgement {
	struct argument_findings *findings;
	struct site_facts *facts;
	uint32_t *order;       /* samples by time */
	struct inside *inside; /* of each site, for one outer site at a time */
};

static const struct argument_site *site_of(const struct judgement *judgement, uint32_t id)
{
	return &judgement->findings->log->sites[id];
}

/* ---- what is known of each site ---- */

static void count_contents(struct site_facts *facts, uint64_t contents)
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

/* A call ends where the loop's round is another one, or where other code was seen in between. */
static void count_calls(struct site_facts *facts, const struct argument_frame *frame,
			bool interrupted)
{
	bool known = frame->loop_count > 0;

	if (!facts->summary->calls || interrupted ||
	    (known && facts->last_known && frame->rounds[0] != facts->last_round))
		facts->summary->calls++;
	facts->last_known = known;
	facts->last_round = known ? frame->rounds[0] : 0;
	if (known && frame->remaining[0] >= 0 &&
	    (uint64_t)frame->remaining[0] + 1 > facts->summary->trips)
		facts->summary->trips = (uint64_t)frame->remaining[0] + 1;
}

static void count_size(struct site_facts *facts, uint64_t size)
{
	if (!size || size == facts->last_size)
		return;
	facts->sizes++;
	facts->steps_up += size > facts->last_size;
	facts->last_size = size;
}

static void count_frame(struct judgement *judgement, const struct argument_frame *frame,
			uint32_t position, uint32_t *last_position)
{
	struct site_facts *facts = &judgement->facts[frame->site];

	count_calls(facts, frame, position > *last_position + 1);
	*last_position = position;
	if (!(frame->flags & ARGUMENT_JUDGED))
		return;
	facts->summary->judged++;
	facts->data += !!(frame->flags & ARGUMENT_DATA);
	facts->opaque += !!(frame->flags & ARGUMENT_OPAQUE);
	facts->partial += !!(frame->flags & ARGUMENT_PARTIAL);
	count_contents(facts, frame->contents);
	count_size(facts, frame->largest);
}

static void judge_elements(struct site_facts *facts, const struct argument_site *site)
{
	struct argument_summary *summary = facts->summary;
	bool differ = summary->distinct > 2 && summary->distinct + facts->overflow >
						       ELEMENTS_DISTINCT * (double)summary->judged;

	if (!facts->call.in_loop || summary->judged < 3 || !differ)
		return;
	facts->elements =
		argument_takes_element(site) || argument_works_on_elements(site, &facts->call);
	facts->scalars = argument_calls_on_scalars(site);
}

/* Linear in the operand: not x[i], nor a dict. */
static void judge_growth(struct site_facts *facts, const struct argument_site *site)
{
	bool linear = site->kind == OPERATION_CALL || site->kind == OPERATION_BINARY ||
		      site->kind == OPERATION_CONTAINS || site->kind == OPERATION_COMPARE;

	facts->growing = linear && !site->of_callee && !facts->veto.dropped &&
			 facts->sizes >= GROWING_SIZES_MIN &&
			 facts->sizes > facts->summary->judged / 2 &&
			 facts->steps_up > GROWING_STEPS * facts->sizes;
}

static void judge_few(struct site_facts *facts, const struct argument_site *site)
{
	const struct argument_summary *summary = facts->summary;
	double n = (double)summary->judged, alike = 0;

	for (size_t i = 0; i < site->operand_count; i++)
		if (!site->operands[i].hashable)
			return;
	if ((site->kind != OPERATION_CALL && site->kind != OPERATION_CALL_UNPACKED) ||
	    summary->judged < FEW_SAMPLES_MIN || summary->distinct < 2 || facts->overflow)
		return;
	for (uint32_t i = 0; i < summary->distinct; i++)
		alike += (double)facts->counts[i] * (facts->counts[i] - 1);
	facts->few = alike / (n * (n - 1)) > FEW_ALIKE && n >= FEW_REPEATS * summary->distinct;
}

static void judge_site(struct judgement *judgement, uint32_t id)
{
	const struct argument_site *site = site_of(judgement, id);
	struct site_facts *facts = &judgement->facts[id];
	struct argument_summary *summary = facts->summary;
	bool comparable = summary->judged >= SAMPLES_MIN && facts->data > summary->judged / 2 &&
			  (double)facts->opaque < OPAQUE_MAX * (double)summary->judged;

	judge_elements(facts, site);
	judge_growth(facts, site);
	if (!comparable || facts->veto.dropped || facts->veto.result_changes ||
	    (facts->veto.operand_changes && facts->partial))
		return;
	facts->same = interval_wilson(summary->commonest, summary->judged).low > SAME_LOW &&
		      summary->calls >= CALLS_MIN;
	if (!facts->same)
		judge_few(facts, site);
}

static int compare_times(const void *left, const void *right, void *context)
{
	const struct argument_sample *samples = context;
	uint64_t a = samples[*(const uint32_t *)left].event_ns;
	uint64_t b = samples[*(const uint32_t *)right].event_ns;

	return a < b ? -1 : a > b;
}

static int gather(struct judgement *judgement, struct call_site_table *sites)
{
	const struct argument_log *log = judgement->findings->log;
	uint32_t *last = calloc(log->site_count + 1, sizeof(*last));

	if (!last)
		return -ENOMEM;
	for (uint32_t i = 0; i < log->sample_count; i++)
		judgement->order[i] = i;
	qsort_r(judgement->order, log->sample_count, sizeof(judgement->order[0]), compare_times,
		log->samples);
	for (uint32_t i = 0; i < log->sample_count; i++) {
		const struct argument_sample *sample = &log->samples[judgement->order[i]];

		for (unsigned f = 0; f < sample->frame_count; f++)
			count_frame(judgement, &sample->frames[f], i + 1,
				    &last[sample->frames[f].site]);
	}
	free(last);
	for (uint32_t id = 0; id < log->site_count; id++) {
		const struct argument_site *site = &log->sites[id];
		struct site_facts *facts = &judgement->facts[id];

		if (call_site_find(sites, site->code, site->offset, &facts->call) ||
		    argument_veto_find(&facts->veto, &facts->call))
			return -ENOMEM;
		judge_site(judgement, id);
	}
	return 0;
}

static int line_at(const struct argument_site *site)
{
	const struct python_code *code = site->code;

	return line_table_find(code->minor, code->line_table, code->line_table_size,
			       code->first_line, site->offset);
}

/* ---- lines that take elements ---- */

static int compare_lines(const void *left, const void *right, void *context)
{
	const struct judgement *judgement = context;
	uint32_t a = *(const uint32_t *)left, b = *(const uint32_t *)right;
	uint32_t code_a = site_of(judgement, a)->code->id, code_b = site_of(judgement, b)->code->id;
	int line_a = judgement->facts[a].line, line_b = judgement->facts[b].line;

	if (code_a != code_b)
		return code_a < code_b ? -1 : 1;
	if (line_a != line_b)
		return line_a < line_b ? -1 : 1;
	return a < b ? -1 : a > b;
}

/* Sites [first, end) of the order are those of one line. */
static void join_line(struct judgement *judgement, const uint32_t *order, size_t first, size_t end)
{
	uint64_t elements = 0, scalars = 0, most = 0;
	uint32_t best = ID_NONE;

	for (size_t i = first; i < end; i++) {
		const struct site_facts *facts = &judgement->facts[order[i]];
		uint64_t judged = facts->summary->judged;

		if (!facts->elements && !facts->scalars)
			continue;
		elements += facts->elements ? judged : 0;
		scalars += facts->elements ? 0 : judged;
		if (best == ID_NONE || judged > most) {
			best = order[i];
			most = judged;
		}
	}
	for (size_t i = first; i < end; i++) {
		judgement->facts[order[i]].line_site = best;
		judgement->facts[order[i]].line_scalars =
			scalars > SCALARS_SHARE * (double)(elements + scalars);
	}
}

static int join_lines(struct judgement *judgement)
{
	size_t count = judgement->findings->log->site_count, first = 0;
	uint32_t *order = calloc(count + 1, sizeof(*order));

	if (!order)
		return -ENOMEM;
	for (uint32_t i = 0; i < count; i++) {
		order[i] = i;
		judgement->facts[i].line = line_at(site_of(judgement, i));
	}
	qsort_r(order, count, sizeof(*order), compare_lines, judgement);
	for (size_t i = 1; i <= count; i++)
		if (i == count ||
		    site_of(judgement, order[i])->code != site_of(judgement, order[first])->code ||
		    judgement->facts[order[i]].line != judgement->facts[order[first]].line) {
			join_line(judgement, order, first, i);
			first = i;
		}
	free(order);
	return 0;
}

/* ---- a function of the program's own: what happens inside of it ---- */

static bool is_earlier(const struct argument_sample *sample, unsigned number)
{
	for (unsigned f = 0; f < number; f++)
		if (sample->frames[f].site == sample->frames[number].site)
			return true;
	return false;
}

static void count_inside(struct judgement *judgement, uint32_t outer)
{
	const struct argument_log *log = judgement->findings->log;

	memset(judgement->inside, 0, log->site_count * sizeof(judgement->inside[0]));
	for (size_t i = 0; i < log->sample_count; i++) {
		const struct argument_sample *sample = &log->samples[i];
		unsigned around = 0;

		for (unsigned f = 0; f < sample->frame_count; f++)
			if (sample->frames[f].site == outer)
				around = f;
		for (unsigned f = 0; f < sample->frame_count; f++) {
			struct inside *inside = &judgement->inside[sample->frames[f].site];

			if (is_earlier(sample, f))
				continue;
			inside->samples++;
			inside->under += f < around;
		}
	}
}

/*
 * Unchanged arguments do not make a function's work the same where something in
 * it works on state that cannot be read, or on other values each time.
 */
static bool is_refuted_inside(struct judgement *judgement, uint32_t outer)
{
	count_inside(judgement, outer);
	for (uint32_t inner = 0; inner < judgement->findings->log->site_count; inner++) {
		const struct site_facts *facts = &judgement->facts[inner];
		const struct inside *inside = &judgement->inside[inner];

		if (inner == outer || facts->call.in_loop || facts->summary->judged < 3 ||
		    inside->under < 0.9 * inside->samples)
			continue;
		if (facts->opaque > facts->summary->judged / 2 ||
		    (double)facts->summary->commonest < 0.7 * (double)facts->summary->judged)
			return true;
	}
	return false;
}

static void refute_inside(struct judgement *judgement)
{
	for (uint32_t id = 0; id < judgement->findings->log->site_count; id++) {
		struct site_facts *facts = &judgement->facts[id];

		if (facts->same && site_of(judgement, id)->of_callee &&
		    is_refuted_inside(judgement, id))
			facts->same = false;
	}
}

/* ---- the votes ---- */

static bool is_same(const struct site_facts *facts, const struct argument_frame *frame)
{
	return facts->same && frame->contents == facts->summary->contents;
}

/* Walks outwards to the first frame in a loop. */
static struct argument_vote vote_for_repetition(const struct judgement *judgement,
						const struct argument_sample *sample)
{
	struct argument_vote vote = { .verdict = ARGUMENT_UNKNOWN };
	bool judged = false, have_same = false, have_few = false;
	uint8_t same = 0, few = 0;

	for (unsigned f = 0; f < sample->frame_count; f++) {
		const struct argument_frame *frame = &sample->frames[f];
		const struct site_facts *facts = &judgement->facts[frame->site];
		const struct argument_site *site = site_of(judgement, frame->site);
		bool compared = frame->flags & ARGUMENT_JUDGED && frame->flags & ARGUMENT_DATA;
		bool unchanged = compared && is_same(facts, frame);

		judged = judged || compared;
		if (unchanged) {
			same = (uint8_t)f;
			have_same = true;
		} else if (compared && facts->few) {
			few = (uint8_t)f;
			have_few = true;
		}
		if (!facts->call.in_loop)
			continue;
		if (unchanged)
			return (struct argument_vote){ .site = frame->site,
						       .verdict = site->of_callee
									  ? ARGUMENT_REPEATED
									  : ARGUMENT_INVARIANT,
						       .frame = (uint8_t)f };
		if (have_same && compared)
			return (struct argument_vote){ .site = sample->frames[same].site,
						       .verdict = ARGUMENT_REPEATED,
						       .frame = same };
		break;
	}
	if (have_few)
		return (struct argument_vote){ .site = sample->frames[few].site,
					       .verdict = ARGUMENT_FEW,
					       .frame = few };
	vote.site = sample->frames[0].site;
	if (judged)
		vote.verdict = ARGUMENT_NEEDED;
	return vote;
}

static bool vote_for_growth(const struct judgement *judgement, const struct argument_sample *sample,
			    struct argument_vote *vote)
{
	for (unsigned f = 0; f < sample->frame_count && f < ELEMENTS_FRAMES; f++)
		if (judgement->facts[sample->frames[f].site].growing) {
			*vote = (struct argument_vote){ .site = sample->frames[f].site,
							.verdict = ARGUMENT_GROWING,
							.frame = (uint8_t)f };
			return true;
		}
	return false;
}

static bool vote_for_elements(const struct judgement *judgement,
			      const struct argument_sample *sample, struct argument_vote *vote)
{
	for (unsigned f = 0; f < sample->frame_count && f < ELEMENTS_FRAMES; f++) {
		const struct site_facts *facts = &judgement->facts[sample->frames[f].site];

		if (!facts->call.in_loop || facts->line_site == ID_NONE)
			continue;
		*vote = (struct argument_vote){
			.site = facts->line_site,
			.verdict = facts->line_scalars && facts->call.does.accumulates
					   ? ARGUMENT_SCALARS
					   : ARGUMENT_ELEMENTS,
			.frame = (uint8_t)f,
		};
		return true;
	}
	return false;
}

static void vote(struct judgement *judgement)
{
	const struct argument_log *log = judgement->findings->log;

	for (size_t i = 0; i < log->sample_count; i++) {
		const struct argument_sample *sample = &log->samples[i];
		struct argument_vote *voted = &judgement->findings->votes[i];
		struct argument_summary *summary;

		*voted = vote_for_repetition(judgement, sample);
		if (voted->verdict <= ARGUMENT_NEEDED && !vote_for_growth(judgement, sample, voted))
			(void)vote_for_elements(judgement, sample, voted);
		summary = &judgement->findings->summaries[voted->site];
		summary->votes[voted->verdict]++;
		summary->votes_ns[voted->verdict] += sample->time_ns;
	}
}

static bool is_compared(const struct argument_frame *frame)
{
	return frame->flags & ARGUMENT_JUDGED && frame->flags & ARGUMENT_DATA;
}

/* A few samples that look alike by chance are no finding. */
static void drop_small(struct judgement *judgement)
{
	const struct argument_log *log = judgement->findings->log;
	uint64_t all_ns = 0;

	for (size_t i = 0; i < log->sample_count; i++)
		all_ns += log->samples[i].time_ns;
	for (size_t i = 0; i < log->sample_count; i++) {
		struct argument_vote *voted = &judgement->findings->votes[i];
		const struct argument_summary *summary =
			&judgement->findings->summaries[voted->site];

		if (voted->verdict > ARGUMENT_NEEDED &&
		    (summary->votes[voted->verdict] < ARGUMENT_VOTES_MIN ||
		     (double)summary->votes_ns[voted->verdict] <
			     ARGUMENT_SHARE_MIN * (double)all_ns))
			voted->verdict = is_compared(&log->samples[i].frames[0]) ? ARGUMENT_NEEDED
										 : ARGUMENT_UNKNOWN;
	}
}

int argument_findings_make(struct argument_findings *findings, const struct argument_log *log,
			   struct call_site_table *sites)
{
	struct judgement judgement = { .findings = findings };
	int error = -ENOMEM;

	*findings = (struct argument_findings){
		.log = log,
		.votes = calloc(log->sample_count + 1, sizeof(*findings->votes)),
		.summaries = calloc(log->site_count + 1, sizeof(*findings->summaries)),
	};
	judgement.facts = calloc(log->site_count + 1, sizeof(*judgement.facts));
	judgement.order = calloc(log->sample_count + 1, sizeof(*judgement.order));
	judgement.inside = calloc(log->site_count + 1, sizeof(*judgement.inside));
	if (findings->votes && findings->summaries && judgement.facts && judgement.order &&
	    judgement.inside) {
		for (size_t i = 0; i < log->site_count; i++)
			judgement.facts[i].summary = &findings->summaries[i];
		error = gather(&judgement, sites);
	}
	if (!error)
		error = join_lines(&judgement);
	if (!error) {
		refute_inside(&judgement);
		vote(&judgement);
		drop_small(&judgement);
	}
	free(judgement.facts);
	free(judgement.order);
	free(judgement.inside);
	if (error)
		argument_findings_deinit(findings);
	return error;
}

void argument_findings_deinit(struct argument_findings *findings)
{
	free(findings->votes);
	free(findings->summaries);
	*findings = (struct argument_findings){ 0 };
}

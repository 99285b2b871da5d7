/* SPDX-License-Identifier: Apache-2.0 */
#include "daemon/detect/argument_rule.h"

#include "daemon/detect/argument_fix.h"
#include "daemon/detect/argument_inside.h"
#include "daemon/detect/argument_line.h"
#include "daemon/detect/argument_loop.h"
#include "daemon/detect/argument_row.h"
#include "daemon/detect/argument_search.h"
#include "daemon/detect/slow_call.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

/* What was not compared is taken for the same where so much is that was. */
#define MOSTLY_SAME 0.8
/* Own frames from the innermost whose lines are asked for elements. */
#define ELEMENTS_FRAMES 3
/* Of all samples. */
#define NEARLY_ALL 0.8
/* Of its calls: there may be more to save by other means. */
#define REPEATS_SELDOM   0.6
#define NEARLY_ALL_CALLS 0.85
/* So many samples say what the others are like. */
#define KNOWN_MIN 16
/* So many comparisons say that a site's calls differ. */
#define REFUTED_MIN 2

struct judgement {
	struct argument_findings *findings;
	struct argument_facts *facts;
	struct argument_inside *inside; /* of each site */
	struct argument_rows rows;
	struct call_site_table *sites;
	const struct cct *cct;
};

static const struct argument_site *site_of(const struct judgement *judgement, uint32_t id)
{
	return &judgement->findings->log->sites[id];
}

/* ---- sites within the expression of another ---- */

/* f(x).g() is called again with what f(x) has returned again, which no one can compare. */
static void inherit(struct judgement *judgement)
{
	size_t count = judgement->findings->log->site_count;

	for (uint32_t id = 0; id < count; id++) {
		struct argument_facts *facts = &judgement->facts[id];

		if (facts->origin < 0 || facts->same || facts->again || facts->veto.dropped)
			continue;
		for (uint32_t inner = 0; inner < count; inner++) {
			const struct argument_facts *origin = &judgement->facts[inner];

			if (origin->call.code != facts->call.code ||
			    origin->call.offset > facts->origin ||
			    facts->origin >= origin->extent.end || !(origin->same || origin->again))
				continue;
			facts->again = true;
			facts->summary->repeated =
				origin->again ? origin->summary->repeated
					      : (double)origin->summary->commonest /
							(double)origin->summary->judged;
		}
	}
}

/* The widest expression that does the same each time, for each site in it. */
static void find_outermost(struct judgement *judgement)
{
	size_t count = judgement->findings->log->site_count;

	for (uint32_t id = 0; id < count; id++)
		judgement->facts[id].outermost = ID_NONE;
	for (uint32_t outer = 0; outer < count; outer++) {
		const struct argument_facts *outside = &judgement->facts[outer];
		int width = outside->extent.end - outside->extent.start;

		for (uint32_t id = 0; (outside->same || outside->again) && id < count; id++) {
			struct argument_facts *facts = &judgement->facts[id];
			const struct argument_facts *known =
				facts->outermost == ID_NONE ? NULL
							    : &judgement->facts[facts->outermost];

			if (facts->call.code == outside->call.code &&
			    facts->call.offset >= outside->extent.start &&
			    facts->call.offset < outside->extent.end &&
			    (!known || width > known->extent.end - known->extent.start))
				facts->outermost = outer;
		}
	}
}

/* ---- the votes ---- */

static bool is_compared(const struct argument_frame *frame)
{
	return frame->flags & ARGUMENT_JUDGED && frame->flags & ARGUMENT_DATA;
}

/* Its contents were not read, as those of many samples were. */
static bool is_known(const struct judgement *judgement, const struct argument_frame *frame)
{
	const struct argument_facts *facts = &judgement->facts[frame->site];

	return !(frame->flags & ARGUMENT_JUDGED) && facts->summary->judged >= KNOWN_MIN &&
	       facts->data > facts->summary->judged / 2;
}

/* Its own calls were compared with the ones before, and most were others. */
static bool is_refuted(const struct judgement *judgement, uint32_t id)
{
	const struct argument_site *site = site_of(judgement, id);

	return site->compared >= REFUTED_MIN && 2 * site->repeated < site->compared;
}

/*
 * The site that does in this frame what it has done before: the frame's own, or
 * one that it is part of; ID_NONE: there is none. What a part works on may differ from
 * sample to sample and be the same from one call to the next.
 */
static uint32_t site_that_repeats(const struct judgement *judgement,
				  const struct argument_frame *frame)
{
	const struct argument_facts *facts = &judgement->facts[frame->site];
	const struct argument_summary *outer;

	if (is_compared(frame) && !facts->again && facts->same &&
	    frame->contents == facts->summary->contents)
		return facts->outermost;
	if (facts->outermost == ID_NONE)
		return ID_NONE;
	if (judgement->facts[facts->outermost].again)
		return facts->again || !is_compared(frame) || !is_refuted(judgement, frame->site)
			       ? facts->outermost
			       : ID_NONE;
	if (is_compared(frame) && !facts->again)
		return ID_NONE;
	outer = judgement->facts[facts->outermost].summary;
	return (double)outer->commonest >= MOSTLY_SAME * (double)outer->judged ? facts->outermost
									       : ID_NONE;
}

/* Its loop changes nothing that it works on: else it can be kept, but not moved. */
static bool is_invariant(const struct judgement *judgement, uint32_t site)
{
	const struct argument_facts *facts = &judgement->facts[site];

	if (!facts->call.in_loop || facts->call.does.names_constant)
		return facts->call.in_loop;
	return !site_of(judgement, site)->of_callee &&
	       (facts->same || (facts->again && facts->summary->repeated >= NEARLY_ALL_CALLS));
}

static struct argument_vote vote_for(const struct judgement *judgement, uint32_t site,
				     unsigned frame)
{
	return (struct argument_vote){
		.site = site,
		.verdict = is_invariant(judgement, site) ? ARGUMENT_INVARIANT : ARGUMENT_REPEATED,
		.frame = (uint8_t)frame,
	};
}

/* The loop that calls it again is known: its own, or one around whose arguments were compared. */
static int loop_is_known(const struct judgement *judgement, const struct argument_sample *sample,
			 unsigned number, bool *ret_known)
{
	for (unsigned f = number; f < sample->frame_count; f++) {
		bool calls;
		int error = argument_loop_calls(judgement->facts, judgement->findings->log,
						judgement->cct, judgement->sites, sample, number, f,
						&calls);

		if (error)
			return error;
		if (calls) {
			*ret_known = f == number || is_compared(&sample->frames[f]) ||
				     is_known(judgement, &sample->frames[f]);
			return 0;
		}
	}
	/* Out of sight. */
	*ret_known = true;
	return 0;
}

/* True if the site covers nearly the whole run: no finding. */
static bool is_all(const struct judgement *judgement, const struct argument_frame *frame)
{
	return (double)judgement->facts[frame->site].seen >
	       NEARLY_ALL * (double)judgement->findings->log->sample_count;
}

/* The first frame in a loop, from the innermost on. */
static unsigned innermost_loop(const struct judgement *judgement,
			       const struct argument_sample *sample)
{
	unsigned f = 0;

	while (f + 1u < sample->frame_count &&
	       !judgement->facts[sample->frames[f].site].call.in_loop)
		f++;
	return f;
}

/* The outermost frame from `first` on that is called with few sets of arguments, in turn. */
static void vote_for_few(const struct judgement *judgement, const struct argument_sample *sample,
			 unsigned first, unsigned loop, struct argument_vote *vote)
{
	for (unsigned f = first; f < sample->frame_count; f++) {
		const struct argument_frame *frame = &sample->frames[f];

		if (!judgement->facts[frame->site].few ||
		    (!is_compared(frame) && !is_known(judgement, frame)) ||
		    (f > loop && is_all(judgement, frame)))
			continue;
		*vote = (struct argument_vote){ .site = frame->site,
						.verdict = ARGUMENT_FEW,
						.frame = (uint8_t)f };
	}
}

/*
 * The outermost frame that does the same again: all that it calls is for nothing then.
 * Beyond the innermost loop it must not be nearly all of the program.
 */
static int vote_for_repetition(const struct judgement *judgement,
			       const struct argument_sample *sample, struct argument_vote *vote)
{
	unsigned loop = innermost_loop(judgement, sample);
	int error = 0;

	*vote = (struct argument_vote){ .site = sample->frames[0].site,
					.verdict = ARGUMENT_UNKNOWN };
	for (unsigned f = sample->frame_count; !error && f-- > 0;) {
		const struct argument_frame *frame = &sample->frames[f];
		uint32_t same = site_that_repeats(judgement, frame);
		bool known;

		if (same == ID_NONE || (f > loop && is_all(judgement, frame)))
			continue;
		error = loop_is_known(judgement, sample, f, &known);
		if (!error && known) {
			*vote = vote_for(judgement, same, f);
			/* A cache of what is around spares this, too. */
			vote_for_few(judgement, sample, f + 1, loop, vote);
			return 0;
		}
	}
	if (error)
		return error;
	for (unsigned f = 0; f <= loop && f < sample->frame_count; f++)
		if (is_compared(&sample->frames[f]) || is_known(judgement, &sample->frames[f]))
			vote->verdict = ARGUMENT_NEEDED;
	vote_for_few(judgement, sample, 0, loop, vote);
	return 0;
}

/*
 * A function that several places call with what it got from another a moment ago.
 * What a caller drops was called for its effect.
 */
static bool vote_for_entry(const struct judgement *judgement, const struct argument_sample *sample,
			   struct argument_vote *vote)
{
	for (unsigned f = sample->frame_count > 1 ? sample->frame_count - 1u : 0; f-- > 0;) {
		const struct argument_facts *facts = &judgement->facts[sample->frames[f].site];
		const struct argument_facts *caller = &judgement->facts[sample->frames[f + 1].site];

		if (facts->summary->entry == ID_NONE || caller->veto.dropped ||
		    judgement->facts[facts->code_site].entry_refuted)
			continue;
		*vote = (struct argument_vote){ .site = sample->frames[f].site,
						.verdict = ARGUMENT_REPEATED,
						.frame = (uint8_t)f,
						.by_entry = true };
		return true;
	}
	return false;
}

/* A call that has a faster counterpart, and runs; or a site that goes over all of a sequence. */
static bool vote_for_algorithm(const struct judgement *judgement,
			       const struct argument_sample *sample, struct argument_vote *vote)
{
	for (unsigned f = 0; f < sample->frame_count && f < ELEMENTS_FRAMES; f++) {
		const struct argument_facts *facts = &judgement->facts[sample->frames[f].site];
		const struct argument_site *site = site_of(judgement, sample->frames[f].site);
		/* A function in C has no frame, nor has one in Python on its way in and out. */
		bool slow = facts->slow &&
			    (sample->frames[f].flags & (ARGUMENT_IN_SLOW | ARGUMENT_DIRECT) ||
			     slow_call_is_builtin(site->slow));

		if (!slow && !facts->searched && !facts->cut)
			continue;
		if (slow && f && slow_call_get(site->slow)->when == SLOW_ROWS &&
		    !argument_row_is_used(judgement->findings->log, sample, f))
			continue;
		*vote = (struct argument_vote){
			.site = sample->frames[f].site,
			.verdict = facts->searched ? ARGUMENT_SEARCHED
				   : facts->cut    ? ARGUMENT_CUT
						   : ARGUMENT_SLOW,
			.frame = (uint8_t)f,
		};
		return true;
	}
	return false;
}

static bool vote_for_row(const struct judgement *judgement, const struct argument_sample *sample,
			 struct argument_vote *vote)
{
	unsigned frame;
	uint32_t site = argument_row_asked(&judgement->rows, judgement->facts,
					   judgement->findings->log, sample, &frame);

	if (site == ID_NONE)
		return false;
	*vote = (struct argument_vote){
		.site = site, .verdict = ARGUMENT_SLOW, .frame = (uint8_t)frame, .joined = true
	};
	return true;
}

static int vote_for_search(const struct judgement *judgement, const struct argument_sample *sample,
			   struct argument_vote *vote)
{
	for (unsigned f = 0; f < sample->frame_count && f < ELEMENTS_FRAMES; f++) {
		uint32_t site;
		int error = argument_search_site(judgement->facts, judgement->findings->log,
						 judgement->sites, sample, f, &site);

		if (error)
			return error;
		if (site == ID_NONE)
			continue;
		*vote = (struct argument_vote){ .site = site,
						.verdict = ARGUMENT_SEARCHED,
						.frame = (uint8_t)f,
						.joined = site != sample->frames[f].site };
		return 0;
	}
	return 0;
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
		const struct argument_facts *facts = &judgement->facts[sample->frames[f].site];

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

/*
 * A faster way of doing it saves more than not doing it again; and of a copy each is needed that
 * its owner changes.
 */
static bool repeats_seldom(const struct judgement *judgement, const struct argument_vote *vote)
{
	uint8_t slow = site_of(judgement, vote->site)->slow;

	if (vote->verdict == ARGUMENT_REPEATED && slow && slow_call_get(slow)->when == SLOW_COPY)
		return true;
	return (vote->verdict == ARGUMENT_REPEATED || vote->verdict == ARGUMENT_INVARIANT) &&
	       argument_summary_part(&judgement->findings->summaries[vote->site],
				     (enum argument_verdict)vote->verdict) < REPEATS_SELDOM;
}

/* The first rule that says something, from the surest on. */
static int vote_for_sample(const struct judgement *judgement, const struct argument_sample *sample,
			   struct argument_vote *vote)
{
	struct argument_vote other;
	int error = vote_for_repetition(judgement, sample, vote);

	if (error)
		return error;
	if ((repeats_seldom(judgement, vote) || vote->verdict == ARGUMENT_FEW) &&
	    vote_for_algorithm(judgement, sample, &other) &&
	    (vote->verdict != ARGUMENT_FEW || other.verdict == ARGUMENT_SLOW)) {
		*vote = other;
		return 0;
	}
	/* To keep the result is of use until the first change; to keep it sorted, always. */
	if (vote->verdict == ARGUMENT_REPEATED &&
	    slow_call_sorts(site_of(judgement, vote->site)->slow))
		vote->verdict = ARGUMENT_SORTED;
	if (vote->verdict > ARGUMENT_NEEDED || vote_for_entry(judgement, sample, vote) ||
	    vote_for_algorithm(judgement, sample, vote) || vote_for_row(judgement, sample, vote))
		return 0;
	error = vote_for_search(judgement, sample, vote);
	if (!error && vote->verdict <= ARGUMENT_NEEDED && !vote_for_growth(judgement, sample, vote))
		(void)vote_for_elements(judgement, sample, vote);
	return error;
}

static int vote(struct judgement *judgement)
{
	const struct argument_log *log = judgement->findings->log;

	for (size_t i = 0; i < log->sample_count; i++) {
		const struct argument_sample *sample = &log->samples[i];
		struct argument_vote *voted = &judgement->findings->votes[i];
		struct argument_summary *summary;

		int error = vote_for_sample(judgement, sample, voted);

		if (error)
			return error;
		summary = &judgement->findings->summaries[voted->site];
		argument_summary_vote(summary, voted->verdict, sample->time_ns);
		if (voted->by_entry)
			argument_summary_vote(&judgement->findings->summaries[summary->entry],
					      voted->verdict, sample->time_ns);
	}
	return 0;
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

		if (voted->by_entry)
			summary = &judgement->findings->summaries[summary->entry];
		if (voted->verdict > ARGUMENT_NEEDED &&
		    (summary->votes[voted->verdict] < ARGUMENT_VOTES_MIN ||
		     (double)summary->votes_ns[voted->verdict] <
			     ARGUMENT_SHARE_MIN * (double)all_ns))
			voted->verdict = is_compared(&log->samples[i].frames[0]) ? ARGUMENT_NEEDED
										 : ARGUMENT_UNKNOWN;
	}
}

double argument_summary_part(const struct argument_summary *summary, enum argument_verdict verdict)
{
	if (verdict != ARGUMENT_INVARIANT && verdict != ARGUMENT_REPEATED)
		return 1;
	if (summary->repeated > 0)
		return summary->repeated;
	return summary->trips ? 1 - 1 / (double)summary->trips : 1;
}

int argument_findings_make(struct argument_findings *findings, const struct argument_log *log,
			   const struct cct *cct, struct call_site_table *sites)
{
	struct judgement judgement = { .findings = findings, .sites = sites, .cct = cct };
	int error = -ENOMEM;

	*findings = (struct argument_findings){
		.log = log,
		.votes = calloc(log->sample_count + 1, sizeof(*findings->votes)),
		.summaries = calloc(log->site_count + 1, sizeof(*findings->summaries)),
	};
	judgement.facts = calloc(log->site_count + 1, sizeof(*judgement.facts));
	judgement.inside = calloc(log->site_count + 1, sizeof(*judgement.inside));
	if (findings->votes && findings->summaries && judgement.facts && judgement.inside) {
		for (size_t i = 0; i < log->site_count; i++)
			judgement.facts[i].summary = &findings->summaries[i];
		error = argument_facts_gather(judgement.facts, log, sites);
	}
	if (!error)
		error = argument_loop_judge(judgement.facts, log, sites);
	if (!error)
		error = argument_lines_join(judgement.facts, log);
	if (!error) {
		argument_refute_inside(judgement.facts, judgement.inside, log);
		inherit(&judgement);
		find_outermost(&judgement);
		argument_search_find(judgement.facts, log);
		argument_rows_find(&judgement.rows, judgement.facts, log);
		error = vote(&judgement);
	}
	if (!error) {
		argument_fixes_join(findings, judgement.facts);
		drop_small(&judgement);
	}
	free(judgement.facts);
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

/* SPDX-License-Identifier: Apache-2.0 */
#include "daemon/detect/argument_rule.h"

#include "daemon/detect/argument_common.h"
#include "daemon/detect/argument_copy.h"
#include "daemon/detect/argument_fix.h"
#include "daemon/detect/argument_gather.h"
#include "daemon/detect/argument_line.h"
#include "daemon/detect/argument_loop.h"
#include "daemon/detect/argument_repetition.h"
#include "daemon/detect/argument_routine.h"
#include "daemon/detect/argument_search.h"
#include "daemon/detect/slow_call.h"

#include <errno.h>
#include <stdlib.h>

/* Own frames from the innermost whose lines are asked for elements. */
#define ELEMENTS_FRAMES 3
/* Of its calls: there may be more to save by other means. */
#define REPEATS_SELDOM 0.6
/* Of the time of calls, what a faster way saves at the most. */
#define NEARLY_ALL_OF_IT 0.8

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

/*
 * The same, where it is two places of one function: the second can spare the call, for the first is
 * always there before.
 */
static bool vote_for_common_call(const struct judgement *judgement,
				 const struct argument_sample *sample, struct argument_vote *vote)
{
	for (unsigned f = vote->frame; f + 1 < sample->frame_count; f++) {
		uint32_t caller = sample->frames[f + 1].site, site;

		if (!argument_common_calls(judgement->facts, sample->frames[f].site))
			continue;
		if (judgement->facts[caller].is_common_first) {
			*vote = (struct argument_vote){ .site = sample->frames[0].site,
							.verdict = ARGUMENT_NEEDED };
			return true;
		}
		if (!judgement->facts[caller].is_common)
			continue;
		site = argument_common_result(judgement->facts, judgement->findings->log, caller);
		*vote = (struct argument_vote){ .site = site,
						.verdict = ARGUMENT_COMMON,
						.frame = (uint8_t)(f + 1),
						.joined = site != caller };
		return true;
	}
	return false;
}

/* The innermost frame's; where it stores a result, that of what computed it. */
static uint32_t site_of_result(const struct judgement *judgement,
			       const struct argument_sample *sample)
{
	const struct argument_facts *facts = &judgement->facts[sample->frames[0].site];

	return facts->stores == ID_NONE ? sample->frames[0].site : facts->stores;
}

/* A call that has a faster counterpart, and runs; or a site that goes over all of a sequence. */
static bool vote_for_algorithm(const struct judgement *judgement,
			       const struct argument_sample *sample, struct argument_vote *vote)
{
	for (unsigned f = 0; f < sample->frame_count && f < ELEMENTS_FRAMES; f++) {
		uint32_t result = f ? sample->frames[f].site : site_of_result(judgement, sample);
		uint32_t id = judgement->facts[result].cut ? result : sample->frames[f].site;
		const struct argument_facts *facts = &judgement->facts[id];
		const struct argument_site *site = judgement_site(judgement, id);
		/* A function in C has no frame, nor has one in Python on its way in and out. */
		bool slow = facts->slow &&
			    (sample->frames[f].flags & (ARGUMENT_IN_SLOW | ARGUMENT_DIRECT) ||
			     slow_call_is_builtin(site->slow));

		bool end = facts->end && !f;

		if (!slow && !facts->searched && !facts->cut && !end && !facts->kept)
			continue;
		if (slow && f && slow_call_get(site->slow)->when == SLOW_ROWS &&
		    !argument_row_is_used(judgement->findings->log, sample, f))
			continue;
		if (slow && f > 1 &&
		    (slow_call_get(site->slow)->when == SLOW_GROUPS ||
		     slow_call_get(site->slow)->when == SLOW_ITEMS))
			continue;
		*vote = (struct argument_vote){
			.site = id,
			.verdict = facts->searched ? ARGUMENT_SEARCHED
				   : facts->cut    ? ARGUMENT_CUT
				   : end           ? ARGUMENT_END
				   : slow          ? ARGUMENT_SLOW
						   : ARGUMENT_SORTED,
			.frame = (uint8_t)f,
			.joined = id != sample->frames[f].site,
		};
		return true;
	}
	return false;
}

/* sorted(x)[7]: neither the first nor the last of them is taken. */
static void refute_ends(struct judgement *judgement)
{
	const struct argument_log *log = judgement->findings->log;

	for (uint32_t id = 0; id < log->site_count; id++) {
		const struct argument_facts *taken = &judgement->facts[id];
		bool near = true;

		for (size_t i = 0; i < log->sites[id].operand_count; i++)
			if (log->sites[id].operands[i].role == OPERAND_INDEX &&
			    log->sites[id].operands[i].kind == CONTENT_INT)
				near = log->sites[id].operands[i].size <= 1;
		for (uint32_t inner = 0; !near && inner < log->site_count; inner++) {
			struct argument_facts *sorted = &judgement->facts[inner];

			if (sorted->end && sorted->call.code == taken->call.code &&
			    sorted->call.offset <= taken->origin &&
			    taken->origin < sorted->extent.end)
				sorted->end = false;
		}
	}
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
		*vote = (struct argument_vote){
			.site = site,
			.verdict = judgement->facts[sample->frames[f].site].search_ordered
					   ? ARGUMENT_SCANNED
					   : ARGUMENT_SEARCHED,
			.frame = (uint8_t)f,
			.joined = site != sample->frames[f].site,
		};
		return 0;
	}
	return 0;
}

static bool vote_for_copy(const struct judgement *judgement, const struct argument_sample *sample,
			  struct argument_vote *vote)
{
	uint32_t site = judgement->facts[sample->frames[0].site].copy_site;

	if (site == ID_NONE)
		return false;
	*vote = (struct argument_vote){ .site = site,
					.verdict = ARGUMENT_ELEMENTS,
					.joined = site != sample->frames[0].site };
	return true;
}

static bool vote_for_growth(const struct judgement *judgement, const struct argument_sample *sample,
			    struct argument_vote *vote)
{
	for (unsigned f = 0; f < sample->frame_count && f < ELEMENTS_FRAMES; f++) {
		uint32_t site = f ? sample->frames[f].site : site_of_result(judgement, sample);

		if (!judgement->facts[site].growing)
			continue;
		*vote = (struct argument_vote){ .site = site,
						.verdict = ARGUMENT_GROWING,
						.frame = (uint8_t)f,
						.joined = site != sample->frames[f].site };
		return true;
	}
	return false;
}

static bool vote_for_elements(const struct judgement *judgement,
			      const struct argument_sample *sample, struct argument_vote *vote)
{
	for (unsigned f = 0; f < sample->frame_count && f < ELEMENTS_FRAMES; f++) {
		const struct argument_facts *facts = &judgement->facts[sample->frames[f].site];

		if (!facts->call.in_loop || facts->line_site == ID_NONE || (!f && facts->bulk))
			continue;
		/* x[i] = f(): what the function does is its own. */
		if (f && !facts->line_loads)
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

/* The first time is enough; unless there is another way, without which neither is needed. */
static bool vote_for_common(const struct judgement *judgement, const struct argument_sample *sample,
			    struct argument_vote *vote)
{
	struct argument_vote other = *vote;

	for (unsigned f = 0; f < sample->frame_count; f++) {
		uint32_t result = f ? sample->frames[f].site : site_of_result(judgement, sample);
		uint32_t site = judgement->facts[result].common_site;

		if (site == ID_NONE)
			continue;
		if (vote_for_algorithm(judgement, sample, &other) ||
		    vote_for_growth(judgement, sample, &other) ||
		    vote_for_elements(judgement, sample, &other))
			return false;
		*vote = (struct argument_vote){ .site = site,
						.verdict = ARGUMENT_COMMON,
						.frame = (uint8_t)f,
						.joined = site != sample->frames[f].site };
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
	uint8_t slow = judgement_site(judgement, vote->site)->slow;
	bool again = vote->verdict == ARGUMENT_REPEATED || vote->verdict == ARGUMENT_INVARIANT;

	if (vote->verdict == ARGUMENT_REPEATED && slow && slow_call_get(slow)->when == SLOW_COPY)
		return true;
	if (again && slow && slow_call_get(slow)->when == SLOW_OF_STATE)
		return true;
	return again && argument_summary_part(&judgement->findings->summaries[vote->site],
					      (enum argument_verdict)vote->verdict)
					.middle < REPEATS_SELDOM;
}

/* A function that does the same in each call; what was found in it is not done again then. */
static void vote_for_work(struct judgement *judgement, const struct argument_sample *sample,
			  struct argument_vote *vote)
{
	int f = argument_routine_frame(judgement->facts, judgement->findings->log, sample);
	const struct argument_work *work;
	struct argument_summary *summary;
	uint32_t caller;

	if (f < 0 || vote->verdict == ARGUMENT_INVARIANT || vote->verdict == ARGUMENT_REPEATED ||
	    vote->frame > f)
		return;
	caller = sample->frames[f + 1].site;
	work = &judgement->facts[judgement->facts[sample->frames[f].site].code_site].work;
	summary = &judgement->findings->summaries[caller];
	summary->repeated = (double)work->alike / work->pairs;
	summary->repeated_of = work->pairs;
	summary->work_pairs = work->pairs;
	summary->work_alike = work->alike;
	summary->work_site = judgement->facts[sample->frames[f].site].code_site;
	*vote = (struct argument_vote){ .site = caller,
					.verdict = ARGUMENT_REPEATED,
					.frame = (uint8_t)(f + 1) };
}

/* In every row of calls watched: to keep results saves nearly all, however fast the other way is.
 */
static bool comes_back_always(const struct judgement *judgement, const struct argument_vote *vote)
{
	const struct argument_site *site = judgement_site(judgement, vote->site);

	return judgement_rows_recur(site) &&
	       argument_summary_part(&judgement->findings->summaries[vote->site], ARGUMENT_FEW)
			       .middle >= NEARLY_ALL_OF_IT;
}

/* What makes a copy is called for one, whatever it is given. */
static bool copies(const struct judgement *judgement, const struct argument_vote *vote)
{
	const struct slow_call *slow = slow_call_get(judgement_site(judgement, vote->site)->slow);

	return slow->when == SLOW_COPY || slow->when == SLOW_COPY_BACK;
}

/* Without the loop over elements it is not done again either. */
static bool vote_for_container(const struct judgement *judgement, struct argument_vote *vote)
{
	uint32_t element = judgement->facts[vote->site].element_of;

	if (vote->verdict != ARGUMENT_INVARIANT && vote->verdict != ARGUMENT_REPEATED)
		return false;
	if (element == ID_NONE || judgement->facts[element].line_site == ID_NONE)
		return false;
	vote->site = judgement->facts[element].line_site;
	vote->verdict = ARGUMENT_ELEMENTS;
	return true;
}

/* The first rule that says something, from the surest on. */
static int vote_for_sample(const struct judgement *judgement, const struct argument_sample *sample,
			   struct argument_vote *vote)
{
	struct argument_vote other;
	int error = argument_repetition_vote(judgement, sample, vote);

	if (error)
		return error;
	if (vote_for_container(judgement, vote))
		return 0;
	if ((repeats_seldom(judgement, vote) || vote->verdict == ARGUMENT_IN_TURN ||
	     (vote->verdict == ARGUMENT_FEW && !comes_back_always(judgement, vote))) &&
	    vote_for_algorithm(judgement, sample, &other) &&
	    (other.verdict == ARGUMENT_SLOW
		     ? vote->verdict != ARGUMENT_IN_TURN || copies(judgement, &other)
		     : vote->verdict != ARGUMENT_FEW && vote->verdict != ARGUMENT_IN_TURN)) {
		*vote = other;
		return 0;
	}
	/* To keep the result is of use until the first change; to keep it sorted, always. */
	if (vote->verdict == ARGUMENT_REPEATED &&
	    slow_call_sorts(judgement_site(judgement, vote->site)->slow))
		vote->verdict = ARGUMENT_SORTED;
	if ((vote->verdict == ARGUMENT_REPEATED || vote->verdict <= ARGUMENT_NEEDED) &&
	    vote_for_common_call(judgement, sample, vote))
		return 0;
	if (vote->verdict > ARGUMENT_NEEDED || vote_for_common(judgement, sample, vote) ||
	    vote_for_entry(judgement, sample, vote) ||
	    vote_for_algorithm(judgement, sample, vote) || vote_for_row(judgement, sample, vote) ||
	    vote_for_copy(judgement, sample, vote))
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
		vote_for_work(judgement, sample, voted);
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
			voted->verdict = judgement_is_compared(&log->samples[i].frames[0])
						 ? ARGUMENT_NEEDED
						 : ARGUMENT_UNKNOWN;
	}
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
	judgement.potential_ns = calloc(log->site_count + 1, sizeof(*judgement.potential_ns));
	if (findings->votes && findings->summaries && judgement.facts && judgement.inside &&
	    judgement.potential_ns) {
		for (size_t i = 0; i < log->site_count; i++)
			judgement.facts[i].summary = &findings->summaries[i];
		error = argument_gather(judgement.facts, log, sites);
	}
	if (!error)
		error = argument_loop_judge(judgement.facts, log, sites);
	if (!error)
		error = argument_lines_join(judgement.facts, log);
	if (!error) {
		argument_refute_inside(judgement.facts, judgement.inside, log);
		refute_ends(&judgement);
		argument_routine_judge(judgement.facts, log);
		argument_search_find(judgement.facts, log);
		argument_copy_find(judgement.facts, log);
		argument_common_find(judgement.facts, log);
		argument_rows_find(&judgement.rows, judgement.facts, log);
		argument_groups_judge(judgement.facts, log);
		error = argument_repetition_find(&judgement);
	}
	if (!error)
		error = vote(&judgement);
	if (!error) {
		argument_fixes_join(findings, judgement.facts);
		drop_small(&judgement);
	}
	free(judgement.facts);
	free(judgement.inside);
	free(judgement.potential_ns);
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

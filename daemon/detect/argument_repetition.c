/* SPDX-License-Identifier: Apache-2.0 */
#include "daemon/detect/argument_repetition.h"

#include "common/text.h"
#include "daemon/detect/argument_element.h"
#include "daemon/detect/argument_loop.h"

/* What was not compared is taken for the same where so much is that was. */
#define MOSTLY_SAME 0.8
/* Of all samples; and where calls one after the other were compared. */
#define NEARLY_ALL 0.8
#define ALL        0.97
/* Of its calls. */
#define NEARLY_ALL_CALLS 0.85
/* So many samples say what the others are like. */
#define KNOWN_MIN 16
/* So many comparisons say that a site's calls differ, and so many that they do not. */
#define REFUTED_MIN   2
#define CONFIRMED_MIN 8
/* One further in must save so much more, over all samples, to be named in place of one around it.
 */
#define SAVES_MORE 1.15
/* A repetition and a cache for each own frame. */
#define CANDIDATES_MAX (2 * ARGUMENT_FRAMES_MAX)

/* ---- sites within the expression of another ---- */

/*
 * f(x).g() is called again with what f(x) has returned again, which no one can compare; f(x)[0]
 * takes it, and where more calls of f were compared these say how often.
 */
static void inherit(struct judgement *judgement)
{
	size_t count = judgement->findings->log->site_count;

	for (uint32_t id = 0; id < count; id++) {
		struct argument_facts *facts = &judgement->facts[id];

		if (facts->origin < 0 || facts->same || facts->veto.dropped)
			continue;
		for (uint32_t inner = 0; inner < count; inner++) {
			const struct argument_facts *origin = &judgement->facts[inner];

			if (origin->call.code != facts->call.code ||
			    origin->call.offset > facts->origin ||
			    facts->origin >= origin->extent.end || !(origin->same || origin->again))
				continue;
			if (facts->again && judgement_site(judgement, id)->compared >=
						    judgement_site(judgement, inner)->compared)
				continue;
			facts->again = true;
			facts->summary->origin = inner;
			facts->summary->repeated_of = origin->again
							      ? origin->summary->repeated_of
							      : (uint32_t)origin->summary->judged;
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
	const struct argument_site *site = judgement_site(judgement, id);

	return site->compared >= REFUTED_MIN && 2 * site->repeated < site->compared;
}

/*
 * A part that works on what its loop changes, and of which no two calls were compared: that what
 * comes out of it is equal, as hours of dates are, does not make its work so.
 */
static bool is_of_loop(const struct judgement *judgement, uint32_t id)
{
	const struct argument_facts *facts = &judgement->facts[id];

	return id != facts->outermost && facts->call.in_loop && !facts->call.does.names_constant &&
	       argument_computes(judgement_site(judgement, id)) &&
	       !judgement_site(judgement, id)->repeated;
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

	if (judgement_is_compared(frame) && !facts->again && facts->same &&
	    frame->contents == facts->summary->contents)
		return facts->outermost;
	if (facts->outermost == ID_NONE)
		return ID_NONE;
	if (!facts->again && is_of_loop(judgement, frame->site))
		return ID_NONE;
	if (judgement->facts[facts->outermost].again)
		return facts->again || !judgement_is_compared(frame) ||
				       !is_refuted(judgement, frame->site)
			       ? facts->outermost
			       : ID_NONE;
	if (judgement_is_compared(frame) && !facts->again)
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
	return !judgement_site(judgement, site)->of_callee &&
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
			*ret_known = f == number || judgement_is_compared(&sample->frames[f]) ||
				     is_known(judgement, &sample->frames[f]);
			return 0;
		}
	}
	/* Out of sight. */
	*ret_known = true;
	return 0;
}

/* Not only alike in samples far from each other: in calls that follow each other. */
static bool is_confirmed(const struct argument_site *site)
{
	return judgement_rows_recur(site) ||
	       (site->compared >= CONFIRMED_MIN &&
		(double)site->repeated >= NEARLY_ALL_CALLS * (double)site->compared);
}

/* True if the site covers nearly the whole run: no finding. */
static bool is_all(const struct judgement *judgement, const struct argument_frame *frame)
{
	double all = is_confirmed(judgement_site(judgement, frame->site)) ? ALL : NEARLY_ALL;

	return (double)judgement->facts[frame->site].seen >
	       all * (double)judgement->findings->log->sample_count;
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

/* ---- candidates ---- */

/* What a sample could be a vote for, the outermost first. */
struct candidates {
	struct argument_vote items[CANDIDATES_MAX];
	size_t count;
};

static int add_repetition(const struct judgement *judgement, const struct argument_sample *sample,
			  unsigned f, struct candidates *candidates)
{
	uint32_t same = site_that_repeats(judgement, &sample->frames[f]);
	bool known;
	int error;

	if (same == ID_NONE)
		return 0;
	error = loop_is_known(judgement, sample, f, &known);
	if (!error && known)
		candidates->items[candidates->count++] = vote_for(judgement, same, f);
	return error;
}

/* Called with few sets of arguments, in turn. */
static void add_few(const struct judgement *judgement, const struct argument_sample *sample,
		    unsigned f, struct candidates *candidates)
{
	const struct argument_frame *frame = &sample->frames[f];

	if (judgement->facts[frame->site].few &&
	    (judgement_is_compared(frame) || is_known(judgement, frame)))
		candidates->items[candidates->count++] = (struct argument_vote){
			.site = frame->site,
			.verdict = judgement->facts[frame->site].few_held  ? ARGUMENT_FEW_HELD
				   : judgement->facts[frame->site].in_turn ? ARGUMENT_IN_TURN
									   : ARGUMENT_FEW,
			.frame = (uint8_t)f,
		};
}

/* Beyond the innermost loop one must not be nearly all of the program. */
static int find_candidates(const struct judgement *judgement, const struct argument_sample *sample,
			   struct candidates *candidates)
{
	unsigned loop = innermost_loop(judgement, sample);
	int error = 0;

	candidates->count = 0;
	for (unsigned f = sample->frame_count; !error && f-- > 0;) {
		if (f > loop && is_all(judgement, &sample->frames[f]))
			continue;
		error = add_repetition(judgement, sample, f, candidates);
		if (!error)
			add_few(judgement, sample, f, candidates);
	}
	return error;
}

static bool is_first_of_site(const struct candidates *candidates, size_t index)
{
	for (size_t i = 0; i < index; i++)
		if (candidates->items[i].site == candidates->items[index].site)
			return false;
	return true;
}

static int measure_potentials(struct judgement *judgement)
{
	const struct argument_log *log = judgement->findings->log;
	struct candidates candidates;

	for (size_t i = 0; i < log->sample_count; i++) {
		int error = find_candidates(judgement, &log->samples[i], &candidates);

		if (error)
			return error;
		for (size_t c = 0; c < candidates.count; c++) {
			const struct argument_vote *vote = &candidates.items[c];

			struct saved_part part =
				argument_summary_part(&judgement->findings->summaries[vote->site],
						      (enum argument_verdict)vote->verdict);

			if (is_first_of_site(&candidates, c))
				judgement->potential_ns[vote->site] +=
					(double)log->samples[i].time_ns * part.middle;
		}
	}
	return 0;
}

/* x > limit: such arrays are equal by chance, as where nothing is above. */
static bool has_flags(const struct argument_site *site)
{
	for (size_t i = 0; i < site->operand_count; i++)
		if (text_starts_with(site->operands[i].shape, "bool["))
			return true;
	return false;
}

/*
 * What an array or a list holds can be known to be the same only by who keeps it. One that the
 * expression itself computes, of other data each time, nobody keeps.
 */
static void refute_computed(struct judgement *judgement)
{
	size_t count = judgement->findings->log->site_count;

	for (uint32_t id = 0; id < count; id++) {
		struct argument_facts *facts = &judgement->facts[id];
		const struct argument_site *site = judgement_site(judgement, id);
		bool keys = true;

		for (size_t i = 0; i < site->operand_count; i++)
			keys &= site->operands[i].hashable;
		for (uint32_t inner = 0; facts->again && !keys && inner < count; inner++)
			if (inner != id && judgement_site(judgement, inner)->code == site->code &&
			    argument_computes(judgement_site(judgement, inner)) &&
			    judgement->facts[inner].extent.start >= facts->extent.start &&
			    judgement_site(judgement, inner)->offset < site->offset &&
			    (is_refuted(judgement, inner) ||
			     (has_flags(site) && !judgement->facts[inner].again &&
			      !judgement->facts[inner].same)))
				facts->again = false;
	}
}

/* What it calls has more to it than can be seen, as a generator of random numbers. */
static bool is_of_state(const struct judgement *judgement, uint32_t id)
{
	const struct argument_facts *facts = &judgement->facts[id];

	return judgement_site(judgement, id)->kind == OPERATION_CALL && facts->summary->judged &&
	       2 * facts->state > facts->summary->judged;
}

static bool is_of_numbers(const struct argument_site *site)
{
	for (size_t i = 0; i < site->operand_count; i++)
		if (!site->operands[i].callable && !argument_is_number(site->operands[i].kind))
			return false;
	return !site->of_callee;
}

/* int(draw()) % 8 is the same by chance: its numbers do not say that what drew them did the same.
 */
static void refute_drawn(struct judgement *judgement)
{
	size_t count = judgement->findings->log->site_count;

	for (uint32_t id = 0; id < count; id++) {
		struct argument_facts *facts = &judgement->facts[id];
		const struct argument_site *site = judgement_site(judgement, id);

		if (!(facts->again || facts->same) || !is_of_numbers(site))
			continue;
		for (uint32_t inner = 0; inner < count; inner++)
			if (inner != id && judgement_site(judgement, inner)->code == site->code &&
			    judgement->facts[inner].extent.start >= facts->extent.start &&
			    judgement_site(judgement, inner)->offset < site->offset &&
			    is_of_state(judgement, inner))
				facts->again = facts->same = false;
	}
}

int argument_repetition_find(struct judgement *judgement)
{
	refute_computed(judgement);
	refute_drawn(judgement);
	inherit(judgement);
	find_outermost(judgement);
	return measure_potentials(judgement);
}

/* f(x).g() works on what f(x) gave, which was made of other data each time. */
static bool is_of_others(const struct judgement *judgement, uint32_t id)
{
	const struct argument_facts *facts = &judgement->facts[id];

	for (uint32_t inner = 0; facts->origin >= 0 && inner < judgement->findings->log->site_count;
	     inner++) {
		const struct argument_facts *origin = &judgement->facts[inner];

		if (origin->call.code == facts->call.code && origin->call.offset <= facts->origin &&
		    facts->origin < origin->extent.end && origin->summary->judged >= KNOWN_MIN &&
		    origin->data > origin->summary->judged / 2)
			return !origin->same && !origin->again;
	}
	return false;
}

int argument_repetition_vote(const struct judgement *judgement,
			     const struct argument_sample *sample, struct argument_vote *vote)
{
	unsigned loop = innermost_loop(judgement, sample);
	struct candidates candidates;
	int error = find_candidates(judgement, sample, &candidates);

	*vote = (struct argument_vote){ .site = sample->frames[0].site,
					.verdict = ARGUMENT_UNKNOWN };
	if (error)
		return error;
	for (size_t c = 0; c < candidates.count; c++)
		if (!c || judgement->potential_ns[candidates.items[c].site] >
				  SAVES_MORE * judgement->potential_ns[vote->site])
			*vote = candidates.items[c];
	for (unsigned f = 0; !candidates.count && f <= loop && f < sample->frame_count; f++)
		if (judgement_is_compared(&sample->frames[f]) ||
		    is_known(judgement, &sample->frames[f]) ||
		    is_of_others(judgement, sample->frames[f].site))
			vote->verdict = ARGUMENT_NEEDED;
	return 0;
}

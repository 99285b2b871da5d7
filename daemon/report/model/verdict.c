/* SPDX-License-Identifier: Apache-2.0 */
#include "daemon/report/model/verdict.h"

#include "daemon/detect/interval.h"
#include "daemon/report/encode/figure.h"
#include "daemon/report/model/argument_evidence.h"
#include "daemon/report/model/own_line.h"
#include "daemon/report/model/verdict_parts.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

/* A line from which less than this share of the time could be saved is no finding. */
#define FINDING_SHARE_MIN 0.05
/* Nor is one of whose accesses hardly any were found redundant. */
#define FINDING_REDUNDANT_MIN 3
/* Below this many redundant accesses a finding is called possible, whatever its interval. */
#define LIKELY_REDUNDANT_MIN 10

static uint64_t redundant_exactly(const struct profile_line *line)
{
	return line->accesses[PAIR_LOAD].redundant + line->accesses[PAIR_STORE].redundant;
}

/* Approximate ones included, as avoidable time counts them. */
static uint64_t redundant_at_all(const struct profile_line *line)
{
	return redundant_exactly(line) + line->accesses[PAIR_LOAD].approximate +
	       line->accesses[PAIR_STORE].approximate;
}

/* What the same calls wrote again and left as it had been. */
static uint64_t same_again(const struct profile_line *line)
{
	return line->evidence.again_redundant + line->evidence.again_loads_redundant;
}

static uint64_t found(const struct profile_line *line)
{
	return redundant_at_all(line) > same_again(line) ? redundant_at_all(line)
							 : same_again(line);
}

/* What the line's finding is; ARGUMENT_UNKNOWN: its avoidable time is not of a finding. */
static enum argument_verdict verdict_finding(const struct profile_line *line)
{
	enum argument_verdict finding =
		line->finding
			? argument_evidence_verdict(&line->evidence.arguments, line->charged_ns)
			: ARGUMENT_UNKNOWN;

	return finding == ARGUMENT_NEEDED ? ARGUMENT_UNKNOWN : finding;
}

bool profile_line_has_evidence(const struct profile_line *line)
{
	return found(line) || verdict_finding(line);
}

/* Samples that speak for the finding, or else accesses. */
static uint64_t support(const struct profile_line *line)
{
	uint64_t votes = 0;

	if (!verdict_finding(line))
		return found(line);
	for (unsigned v = ARGUMENT_NEEDED + 1; v < ARGUMENT_VERDICT_COUNT; v++)
		votes += line->evidence.arguments.samples[v];
	return votes;
}

bool profile_line_is_supported(const struct profile_line *line)
{
	return support(line) >= FINDING_REDUNDANT_MIN;
}

static uint64_t sampled(const struct access_counts accesses[PAIR_KIND_COUNT])
{
	return accesses[PAIR_LOAD].sampled + accesses[PAIR_STORE].sampled;
}

/* Ties keep the profile's own order: the lines are elements of one array. */
static int by_position(const struct profile_line *a, const struct profile_line *b)
{
	return a < b ? -1 : a > b;
}

int profile_line_by_self(const void *left, const void *right)
{
	const struct profile_line *a = *(const struct profile_line *const *)left;
	const struct profile_line *b = *(const struct profile_line *const *)right;
	uint64_t a_ns = time_sum(a->self_ns), b_ns = time_sum(b->self_ns);

	if (a_ns != b_ns)
		return a_ns > b_ns ? -1 : 1;
	return by_position(a, b);
}

int profile_line_by_avoidable(const void *left, const void *right)
{
	const struct profile_line *a = *(const struct profile_line *const *)left;
	const struct profile_line *b = *(const struct profile_line *const *)right;

	/* An estimate without evidence of its own comes after all others. */
	if (profile_line_has_evidence(a) != profile_line_has_evidence(b))
		return profile_line_has_evidence(a) ? -1 : 1;
	if (a->avoidable_ns != b->avoidable_ns)
		return a->avoidable_ns > b->avoidable_ns ? -1 : 1;
	if (redundant_exactly(a) != redundant_exactly(b))
		return redundant_exactly(a) > redundant_exactly(b) ? -1 : 1;
	return by_position(a, b);
}

static int by_waiting(const void *left, const void *right)
{
	const struct profile_line *a = *(const struct profile_line *const *)left;
	const struct profile_line *b = *(const struct profile_line *const *)right;
	uint64_t a_ns = side_time_waiting_ns(&a->side), b_ns = side_time_waiting_ns(&b->side);

	if (a_ns != b_ns)
		return a_ns > b_ns ? -1 : 1;
	return by_position(a, b);
}

const struct profile_line **profile_lines_by_waiting(const struct profile *profile,
						     size_t *ret_count)
{
	const struct profile_line **lines = calloc(profile->line_count + 1, sizeof(*lines));
	size_t count = 0;

	for (size_t i = 0; lines && i < profile->line_count; i++)
		if (side_time_waiting_ns(&profile->lines[i].side))
			lines[count++] = &profile->lines[i];
	if (lines)
		qsort(lines, count, sizeof(*lines), by_waiting);
	*ret_count = count;
	return lines;
}

static bool is_worth(uint64_t saved_ns, uint64_t total_ns)
{
	return total_ns > 0 && (double)saved_ns >= FINDING_SHARE_MIN * (double)total_ns;
}

static bool is_finding(const struct profile_line *line, uint64_t total_ns)
{
	return profile_line_is_supported(line) && is_worth(line->avoidable_ns, total_ns);
}

/* By how sure the figures are; not whether the other way to write it would be faster. */
enum certainty {
	CERTAINTY_POSSIBLE,
	CERTAINTY_PROBABLE,
	CERTAINTY_SURE,
	CERTAINTY_COUNT
};

static enum certainty certainty(const struct profile_line *line, uint64_t total_ns)
{
	if (support(line) < LIKELY_REDUNDANT_MIN)
		return CERTAINTY_POSSIBLE;
	if ((double)line->avoidable_low_ns < FINDING_SHARE_MIN * (double)total_ns)
		return CERTAINTY_PROBABLE;
	return CERTAINTY_SURE;
}

static const char *const headline_accesses[CERTAINTY_COUNT] = {
	"one line may repeat memory accesses needlessly, on little evidence",
	"one line probably repeats memory accesses needlessly",
	"one line repeats memory accesses needlessly",
};
static const char *const headline_again[CERTAINTY_COUNT] = {
	"one expression may do the same work again, on little evidence",
	"one expression probably does the same work again",
	"one expression does the same work again",
};
static const char *const headline_elements[CERTAINTY_COUNT] = {
	"an array may be taken element by element, on little evidence",
	"an array is probably taken element by element",
	"an array is taken element by element",
};
static const char *const headline_growing[CERTAINTY_COUNT] = {
	"one expression may work on a sequence that grows, on little evidence",
	"one expression probably works on a sequence that grows",
	"one expression works on a sequence that grows",
};

static const char *const headline_counterpart[CERTAINTY_COUNT] = {
	"one expression may have a much faster counterpart, on little evidence",
	"one expression probably has a much faster counterpart",
	"one expression has a much faster counterpart",
};

static const char *headline(const struct profile_line *line, uint64_t total_ns)
{
	enum certainty sure = certainty(line, total_ns);

	switch (verdict_finding(line)) {
	case ARGUMENT_INVARIANT:
	case ARGUMENT_REPEATED:
	case ARGUMENT_FEW:
		return headline_again[sure];
	case ARGUMENT_GROWING:
		return headline_growing[sure];
	case ARGUMENT_ELEMENTS:
	case ARGUMENT_SCALARS:
		return headline_elements[sure];
	case ARGUMENT_SEARCHED:
	case ARGUMENT_CUT:
	case ARGUMENT_SLOW:
	case ARGUMENT_SORTED:
		return headline_counterpart[sure];
	case ARGUMENT_UNKNOWN:
	case ARGUMENT_NEEDED:
	case ARGUMENT_VERDICT_COUNT:
		break;
	}
	return headline_accesses[sure];
}

void verdict_say(struct verdict *verdict, const char *format, ...)
{
	va_list arguments;

	if (verdict->sentence_count == VERDICT_SENTENCES_MAX)
		return;
	va_start(arguments, format);
	vsnprintf(verdict->sentences[verdict->sentence_count++], VERDICT_SENTENCE_BYTES, format,
		  arguments);
	va_end(arguments);
}

void verdict_show(struct verdict *verdict, const struct profile_line *line)
{
	if (line && verdict->place_count < VERDICT_PLACES_MAX)
		verdict->places[verdict->place_count++] =
			(struct verdict_place){ *line, verdict->sentence_count };
}

static struct figure share_figure(const struct verdict *verdict, double share)
{
	return figure_sampled((uint64_t)(share * 1e6), 1000000, verdict->samples);
}

/* Of the watched accesses, those of the kind with more redundant ones. */
static void say_accesses(struct verdict *verdict, const struct profile_line *line,
			 uint64_t total_ns)
{
	enum pair_kind kind =
		line->accesses[PAIR_STORE].redundant > line->accesses[PAIR_LOAD].redundant
			? PAIR_STORE
			: PAIR_LOAD;
	const struct access_counts *counts = &line->accesses[kind];
	struct interval share = interval_wilson(counts->redundant, counts->sampled);
	const char *accesses = kind == PAIR_LOAD ? "loads" : "stores";
	const char *again = kind == PAIR_LOAD ? "were read again" : "were written again";

	/* Whole calls done again: the single access says little then. */
	if (same_again(line) > redundant_at_all(line))
		verdict_say(verdict,
			    "It takes %s of the CPU time; its calls left %" PRIu64 " of %" PRIu64
			    " words that they wrote again as they had been.",
			    figure_sampled(line->total_ns, total_ns, verdict->samples).text,
			    same_again(line), line->evidence.again + line->evidence.again_loads);
	else if (verdict_finding(line) && !counts->redundant)
		verdict_say(verdict, "It takes %s of the CPU time.",
			    figure_sampled(line->total_ns, total_ns, verdict->samples).text);
	else if (verdict_finding(line))
		verdict_say(verdict,
			    "It takes %s of the CPU time; %" PRIu64 " of %" PRIu64
			    " %s watched there %s with the same value.",
			    figure_sampled(line->total_ns, total_ns, verdict->samples).text,
			    counts->redundant, counts->sampled, accesses, again);
	else
		verdict_say(
			verdict,
			"It takes %s of the CPU time; %" PRIu64 " of %" PRIu64
			" %s watched there %s by a later native call with "
			"the same value: %s (95%% interval %s to %s).",
			figure_sampled(line->total_ns, total_ns, verdict->samples).text,
			counts->redundant, counts->sampled, accesses, again,
			figure_sampled(counts->redundant, counts->sampled, verdict->samples).text,
			share_figure(verdict, share.low).text,
			share_figure(verdict, share.high).text);
}

static void say_saving(struct verdict *verdict, const struct profile_line *line, uint64_t total_ns)
{
	double low = 100 * (double)line->avoidable_low_ns / (double)total_ns;
	double high = 100 * (double)line->avoidable_high_ns / (double)total_ns;

	if (!verdict_finding(line))
		verdict_say(verdict,
			    "About %s (%s) could be saved, between %s and %s as far as sampling "
			    "can tell.",
			    figure_ns(line->avoidable_ns).text,
			    figure_sampled(line->avoidable_ns, total_ns, verdict->samples).text,
			    figure_ns(line->avoidable_low_ns).text,
			    figure_ns(line->avoidable_high_ns).text);
	else if (low < 0.5)
		verdict_say(verdict, "Could save up to %.0f%% of the CPU time.", high);
	else
		verdict_say(verdict, "Could save %.0f to %.0f%% of the CPU time.", low, high);
}

static void say_finding(struct verdict *verdict, const struct profile_line *line, uint64_t total_ns)
{
	bool little = certainty(line, total_ns) == CERTAINTY_POSSIBLE;

	verdict->line = line;
	verdict_show(verdict, line);
	if (verdict_finding(line)) {
		verdict_say(verdict, "%s.", line->finding);
		say_saving(verdict, line, total_ns);
		say_accesses(verdict, line, total_ns);
	} else {
		say_accesses(verdict, line, total_ns);
		say_saving(verdict, line, total_ns);
	}
	if (little)
		verdict_say(verdict, "That rests on %" PRIu64 " %s: profile longer to be sure.",
			    support(line),
			    verdict_finding(line) ? "samples" : "redundant accesses");
	if (line->category != CATEGORY_UNCLEAR)
		verdict_say(verdict, "%s %s: %s", little ? "Perhaps" : "Likely",
			    category_name(line->category), category_advice(line->category));
}

/* The hottest lines of many programs are a library's: then also what called it, or most. */
static void say_own_line(struct verdict *verdict, const struct profile *profile,
			 const struct profile_line *through)
{
	struct own_line own;

	if (!own_line_is_foreign(verdict->line) || !own_line_find(profile, through, &own))
		return;
	if (through)
		verdict_say(verdict,
			    "In %s of its time it is called by this line of the program itself:",
			    figure_sampled(own.time_ns, own.of_ns, verdict->samples).text);
	else
		verdict_say(
			verdict,
			"Of the program's own lines, this one and the libraries that it calls take "
			"most, "
			"%s:",
			figure_sampled(own.time_ns, own.of_ns, verdict->samples).text);
	verdict->own_line = own.line;
	verdict_show(verdict, own.line);
}

/* Why there was little to watch. */
static void say_class(struct verdict *verdict, const uint64_t time_ns[TIME_CLASS_COUNT],
		      uint64_t total_ns)
{
	if (time_ns[TIME_SYSTEM] * 2 > total_ns)
		verdict_say(verdict,
			    "%s of the CPU time was the kernel's: system calls, and page faults.",
			    figure_sampled(time_ns[TIME_SYSTEM], total_ns, verdict->samples).text);
	else if (time_ns[TIME_PYTHON] * 2 > total_ns)
		verdict_say(
			verdict,
			"%s of the CPU time was the interpreter's, with all that is built into it; "
			"only the accesses of other libraries are watched.",
			figure_sampled(time_ns[TIME_PYTHON], total_ns, verdict->samples).text);
}

/* The first in an order of those that are wanted, of all where wanted is NULL. NULL: none. */
static const struct profile_line *first_line(const struct profile *profile,
					     int (*compare)(const void *, const void *),
					     bool (*wanted)(const struct profile_line *, uint64_t))
{
	uint64_t total_ns = time_sum(profile->time_ns);
	const struct profile_line *first = NULL;

	for (size_t i = 0; i < profile->line_count; i++) {
		const struct profile_line *line = &profile->lines[i];

		if ((!wanted || wanted(line, total_ns)) && (!first || compare(&line, &first) < 0))
			first = line;
	}
	return first;
}

/* As much as a finding's, but hardly anything speaks for it. */
static bool is_unsupported(const struct profile_line *line, uint64_t total_ns)
{
	return !profile_line_is_supported(line) && is_worth(line->avoidable_ns, total_ns);
}

static int by_high(const void *left, const void *right)
{
	const struct profile_line *a = *(const struct profile_line *const *)left;
	const struct profile_line *b = *(const struct profile_line *const *)right;

	if (a->avoidable_high_ns != b->avoidable_high_ns)
		return a->avoidable_high_ns > b->avoidable_high_ns ? -1 : 1;
	return by_position(a, b);
}

static void say_hottest(struct verdict *verdict, const struct profile *profile)
{
	const struct profile_line *top_self = first_line(profile, profile_line_by_self, NULL);
	uint64_t total_ns = time_sum(profile->time_ns);

	if (!top_self || time_sum(top_self->self_ns) == 0)
		return;
	verdict_say(verdict, "The hottest line has %s of the CPU time:",
		    figure_sampled(time_sum(top_self->self_ns), total_ns, verdict->samples).text);
	verdict->line = top_self;
	verdict_show(verdict, top_self);
	say_own_line(verdict, profile, NULL);
}

/* A line that could save much or nothing: what the tables list of it is not denied here. */
static void say_unsupported(struct verdict *verdict, const struct profile *profile,
			    const struct profile_line *line)
{
	uint64_t total_ns = time_sum(profile->time_ns);
	char watched[96];

	verdict->kind = VERDICT_TOO_FEW;
	verdict->headline = "too few accesses to tell whether work is repeated";
	verdict->line = line;
	verdict_show(verdict, line);
	if (sampled(line->accesses))
		snprintf(watched, sizeof(watched),
			 "of %" PRIu64 " memory %s watched there %" PRIu64 " %s redundant",
			 sampled(line->accesses),
			 sampled(line->accesses) == 1 ? "access" : "accesses",
			 redundant_at_all(line), redundant_at_all(line) == 1 ? "was" : "were");
	else
		snprintf(watched, sizeof(watched), "no memory access was watched there");
	verdict_say(verdict,
		    "This line could save up to %s (%s of the CPU time), or nothing: %s. Profile "
		    "longer, or with a higher --rate, to tell.",
		    figure_ns(line->avoidable_high_ns).text,
		    figure_sampled(line->avoidable_high_ns, total_ns, verdict->samples).text,
		    watched);
	say_own_line(verdict, profile, line);
}

/* Lines of which each could save less than a finding. */
static void say_small_ones(struct verdict *verdict, const struct profile *profile)
{
	const struct profile_line *most = first_line(profile, by_high, NULL);
	uint64_t total_ns = time_sum(profile->time_ns), sum_ns = 0;

	for (size_t i = 0; i < profile->line_count; i++)
		if (profile_line_has_evidence(&profile->lines[i]))
			sum_ns += profile->lines[i].avoidable_ns;
	if (most && is_worth(most->avoidable_high_ns, total_ns))
		verdict_say(
			verdict,
			"%" PRIu64
			" memory accesses were watched; it is not likely that a single line could "
			"save %.0f%% of the CPU time by avoiding repeated ones, but as far as "
			"sampling can tell the most is %s.",
			sampled(profile->accesses), FINDING_SHARE_MIN * 100,
			figure_sampled(most->avoidable_high_ns, total_ns, verdict->samples).text);
	else
		verdict_say(verdict,
			    "%" PRIu64
			    " memory accesses were watched; no single line could save %.0f%% "
			    "of the CPU time by avoiding repeated ones.",
			    sampled(profile->accesses), FINDING_SHARE_MIN * 100);
	if (is_worth(sum_ns, total_ns))
		verdict_say(verdict,
			    "The lines under COULD SAVE together could save about %s (%s).",
			    figure_ns(sum_ns).text,
			    figure_sampled(sum_ns, total_ns, verdict->samples).text);
}

static void say_no_samples(struct verdict *verdict)
{
	verdict->kind = VERDICT_UNSAMPLED;
	verdict->headline = "nothing was sampled";
	verdict_say(verdict,
		    "The target used next to no CPU time in Python threads while it was watched, "
		    "or all samples were lost: see DATA QUALITY.");
}

static void find(const struct profile *profile, struct verdict *verdict)
{
	const struct profile_line *finding =
		first_line(profile, profile_line_by_avoidable, is_finding);
	const struct profile_line *unsupported =
		first_line(profile, profile_line_by_avoidable, is_unsupported);
	uint64_t total_ns = time_sum(profile->time_ns);
	uint64_t watched = sampled(profile->accesses);

	if (profile->facts.samples == 0) {
		say_no_samples(verdict);
		return;
	}
	if (finding) {
		verdict->kind = VERDICT_FINDING;
		verdict->headline = headline(finding, total_ns);
		say_finding(verdict, finding, total_ns);
		say_own_line(verdict, profile, finding);
		return;
	}
	if (unsupported) {
		say_unsupported(verdict, profile, unsupported);
		return;
	}
	if (watched == 0) {
		verdict->kind = VERDICT_TIME_ONLY;
		verdict->headline = "time only: no memory access was watched";
		say_class(verdict, profile->time_ns, total_ns);
	} else if (interval_wilson(0, watched).high >= FINDING_SHARE_MIN) {
		/* Were none of so many redundant, a finding could still have been missed. */
		verdict->kind = VERDICT_TOO_FEW;
		verdict->headline = "too few accesses to tell whether work is repeated";
		verdict_say(verdict,
			    "%" PRIu64 " memory %s watched. Profile longer, or with a higher "
			    "--rate, to tell.",
			    watched, watched == 1 ? "access was" : "accesses were");
		say_class(verdict, profile->time_ns, total_ns);
	} else {
		verdict->kind = VERDICT_NOTHING;
		verdict->headline = "no redundant line stands out";
		say_small_ones(verdict, profile);
	}
	say_hottest(verdict, profile);
}

const char *verdict_kind_name(enum verdict_kind kind)
{
	static const char *const names[VERDICT_KIND_COUNT] = {
		[VERDICT_FINDING] = "finding",
		[VERDICT_TOO_FEW] = "too-few-accesses",
		[VERDICT_NOTHING] = "nothing",
		[VERDICT_TIME_ONLY] = "time-only",
		[VERDICT_DEADLOCK] = "deadlock",
		[VERDICT_WAITING] = "waiting",
		[VERDICT_IDLE] = "idle",
		[VERDICT_STARVED] = "no-cpu",
		[VERDICT_UNSAMPLED] = "no-samples",
	};

	return names[kind];
}

void verdict_add_finding(const struct profile *profile, struct verdict *verdict)
{
	const struct profile_line *finding =
		first_line(profile, profile_line_by_avoidable, is_finding);
	const struct profile_line *line = verdict->line;
	uint64_t total_ns = time_sum(profile->time_ns);

	if (!finding)
		return;
	verdict_say(verdict, "And of its CPU time: %s.", headline(finding, total_ns));
	say_finding(verdict, finding, total_ns);
	verdict->line = line;
}

void verdict_find(const struct profile *profile, struct verdict *ret_verdict)
{
	*ret_verdict = (struct verdict){ .samples = profile->facts.samples };
	if (verdict_find_waiting(profile, ret_verdict))
		return;
	find(profile, ret_verdict);
	verdict_add_waiting(profile, ret_verdict);
}

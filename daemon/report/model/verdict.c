/* SPDX-License-Identifier: Apache-2.0 */
#include "daemon/report/model/verdict.h"

#include "daemon/detect/interval.h"
#include "daemon/report/encode/figure.h"
#include "daemon/report/model/unexplained.h"
#include "daemon/report/model/verdict_parts.h"

#include <errno.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

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

/* "73% of the CPU time is under this line", and what it does there and what to do, if it is known.
 */
static void say_under(struct verdict *verdict, uint64_t time_ns, uint64_t total_ns,
		      const struct slow_pattern *pattern)
{
	struct figure share = figure_sampled(time_ns, total_ns, verdict->samples);

	if (pattern)
		verdict_say(verdict, "%s of the CPU time is under this line, which %s: %s.",
			    share.text, pattern->way->does, pattern->way->instead);
	else
		verdict_say(verdict, "%s of the CPU time is under this line.", share.text);
}

/* The hottest lines of many programs are a library's: they come behind the program's own. */
static void say_library_line(struct verdict *verdict, const struct own_line *own)
{
	verdict_say(
		verdict,
		"It goes to this line of a library, which is called from there for %s of its time:",
		figure_sampled(own->time_ns, own->of_ns, verdict->samples).text);
	verdict_show(verdict, verdict->line);
}

static void say_advice(struct verdict *verdict, const struct finding *finding)
{
	if (finding->advice[0])
		verdict_say(verdict, "%s: %s",
			    finding->certainty == FINDING_POSSIBLE ? "Perhaps" : "Likely",
			    finding->advice);
}

/* Where to change it and what to do, what that could save, then what speaks for it. */
static void say_finding(struct verdict *verdict, const struct finding *finding, uint64_t total_ns)
{
	const struct profile_line *place = finding_place(finding);

	verdict->line = finding->line;
	verdict->own_line = finding->own.line;
	verdict_show(verdict, place);
	/* The arguments tell more of the expression than the pattern does. */
	if (finding->pattern && !finding->by_arguments)
		say_under(verdict, finding->pattern_ns, total_ns, finding->pattern);
	else if (finding->own.line)
		say_under(verdict, place->total_ns, total_ns, NULL);
	if (finding->by_arguments)
		verdict_say(verdict, "%s", finding->what);
	else if (!finding->pattern)
		say_advice(verdict, finding);
	if (finding->saving_ns)
		verdict_say(verdict, "%s", finding->gain);
	if (finding->example)
		verdict_say(verdict, "For example: %s", finding->example);
	if (finding->saving_ns)
		verdict_say(verdict, "%s", finding->evidence);
	if (finding->caution[0])
		verdict_say(verdict, "%s", finding->caution);
	if (finding->own.line)
		say_library_line(verdict, &finding->own);
}

/* Behind another verdict, which stays what it is about. */
static void add_finding(struct verdict *verdict, const struct finding *finding, uint64_t total_ns)
{
	const struct profile_line *line = verdict->line, *own = verdict->own_line;

	verdict_say(verdict, "And of its CPU time: %s.", finding->headline);
	say_finding(verdict, finding, total_ns);
	verdict->line = line;
	verdict->own_line = own;
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
	return !profile_line_is_supported(line) && finding_is_worth(line->avoidable_ns, total_ns);
}

static int by_high(const void *left, const void *right)
{
	const struct profile_line *a = *(const struct profile_line *const *)left;
	const struct profile_line *b = *(const struct profile_line *const *)right;

	if (a->avoidable_high_ns != b->avoidable_high_ns)
		return a->avoidable_high_ns > b->avoidable_high_ns ? -1 : 1;
	return by_position(a, b);
}

/* Little was found in it, which says nothing of ways to do it that no rule knows. */
static void say_unexplained(struct verdict *verdict, const struct profile *profile)
{
	const struct unexplained unexplained = unexplained_find(profile);

	if (unexplained.line &&
	    (unexplained.line == verdict->line || unexplained.line == verdict->own_line))
		verdict_say(
			verdict,
			"What a better way to write the program's line could save is not known: "
			"nothing, or up to %s (%s of the CPU time).",
			figure_ns(unexplained.time_ns).text,
			figure_sampled(unexplained.time_ns, time_sum(profile->time_ns),
				       verdict->samples)
				.text);
}

static void say_hottest(struct verdict *verdict, const struct profile *profile)
{
	const struct profile_line *top_self = first_line(profile, profile_line_by_self, NULL);
	uint64_t total_ns = time_sum(profile->time_ns);
	struct own_line own;

	if (!top_self || time_sum(top_self->self_ns) == 0)
		return;
	verdict->line = top_self;
	if (own_line_is_foreign(top_self) && own_line_find(profile, NULL, &own)) {
		verdict->own_line = own.line;
		verdict_show(verdict, own.line);
		verdict_say(
			verdict,
			"Of the program's own lines, this one and the libraries that it calls "
			"take most: %s of the CPU time. The hottest line, with %s, is a library's:",
			figure_sampled(own.time_ns, own.of_ns, verdict->samples).text,
			figure_sampled(time_sum(top_self->self_ns), total_ns, verdict->samples)
				.text);
		verdict_show(verdict, top_self);
		say_unexplained(verdict, profile);
		return;
	}
	verdict_show(verdict, top_self);
	verdict_say(verdict, "It is the hottest line: %s of the CPU time.",
		    figure_sampled(time_sum(top_self->self_ns), total_ns, verdict->samples).text);
	say_unexplained(verdict, profile);
}

/* A line that could save much or nothing: what the tables list of it is not denied here. */
static void say_unsupported(struct verdict *verdict, const struct profile *profile,
			    const struct profile_line *line)
{
	uint64_t total_ns = time_sum(profile->time_ns);
	struct own_line own = { 0 };
	char watched[96];

	verdict->kind = VERDICT_TOO_FEW;
	verdict->headline = "too little was seen to tell whether this line repeats work";
	verdict->line = line;
	if (own_line_is_foreign(line) && own_line_find(profile, line, &own)) {
		verdict->own_line = own.line;
		verdict_show(verdict, own.line);
		say_under(verdict, own.line->total_ns, total_ns, NULL);
		say_library_line(verdict, &own);
	} else {
		verdict_show(verdict, line);
		say_under(verdict, line->total_ns, total_ns, NULL);
	}
	if (sampled(line->accesses))
		snprintf(watched, sizeof(watched),
			 "of %" PRIu64 " memory %s watched there %" PRIu64 " %s redundant",
			 sampled(line->accesses),
			 sampled(line->accesses) == 1 ? "access" : "accesses",
			 profile_line_redundant(line),
			 profile_line_redundant(line) == 1 ? "was" : "were");
	else
		snprintf(watched, sizeof(watched), "no memory access was watched there");
	verdict_say(verdict,
		    "This line could save up to %s (%s of the CPU time), or nothing: %s. Profile "
		    "longer, or with a higher --rate, to tell.",
		    figure_ns(line->avoidable_high_ns).text,
		    figure_sampled(line->avoidable_high_ns, total_ns, verdict->samples).text,
		    watched);
}

/* Lines of which each could save less than a finding. */
static void say_small_ones(struct verdict *verdict, const struct profile *profile)
{
	const struct profile_line *most = first_line(profile, by_high, NULL);
	uint64_t total_ns = time_sum(profile->time_ns), sum_ns = 0;

	for (size_t i = 0; i < profile->line_count; i++)
		if (profile_line_has_evidence(&profile->lines[i]))
			sum_ns += profile->lines[i].avoidable_ns;
	if (most && finding_is_worth(most->avoidable_high_ns, total_ns))
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
	if (finding_is_worth(sum_ns, total_ns))
		verdict_say(
			verdict,
			"The lines that --details has under COULD SAVE together could save about "
			"%s (%s).",
			figure_ns(sum_ns).text,
			figure_sampled(sum_ns, total_ns, verdict->samples).text);
}

static void say_no_samples(struct verdict *verdict)
{
	verdict->kind = VERDICT_UNSAMPLED;
	verdict->headline = "nothing was sampled";
	verdict_say(verdict,
		    "The target used next to no CPU time in Python threads while it was watched, "
		    "or all samples were lost: --details shows that under DATA QUALITY.");
}

/* A few accesses, of which nobody can say what to do about them, are no reason to go there. */
static bool is_little(const struct finding *finding)
{
	return finding->certainty == FINDING_POSSIBLE && !finding->by_arguments &&
	       !finding->pattern && !finding->advice[0];
}

/* A saving that samples show leads, unless a pattern takes more than twice as much. */
#define PATTERN_LEADS 2

/* The first, and behind a pattern what could be saved elsewhere. false: there is none. */
static bool say_findings(struct verdict *verdict, const struct profile *profile)
{
	struct findings findings;
	int error = findings_of(profile, &findings);
	size_t count = findings.count, patterns = 0;
	uint64_t total_ns = time_sum(profile->time_ns);
	const struct finding *first = findings.items;

	if (error)
		verdict->error = error;
	while (patterns < count && findings.items[patterns].saving_ns)
		patterns++;
	if (patterns && patterns < count &&
	    (double)findings.items[patterns].pattern_ns > PATTERN_LEADS * (double)first->saving_ns)
		first = &findings.items[patterns];
	if (count && is_little(first)) {
		say_unsupported(verdict, profile, first->line);
	} else if (count) {
		verdict->kind = first->saving_ns ? VERDICT_FINDING : VERDICT_PATTERN;
		verdict->headline = first->headline;
		say_finding(verdict, first, total_ns);
	}
	if (count && first != findings.items)
		add_finding(verdict, findings.items, total_ns);
	findings_deinit(&findings);
	return count > 0;
}

static void find(const struct profile *profile, struct verdict *verdict)
{
	const struct profile_line *unsupported =
		first_line(profile, profile_line_by_avoidable, is_unsupported);
	uint64_t total_ns = time_sum(profile->time_ns);
	uint64_t watched = sampled(profile->accesses);

	if (profile->facts.samples == 0) {
		say_no_samples(verdict);
		return;
	}
	if (say_findings(verdict, profile))
		return;
	if (unsupported) {
		say_unsupported(verdict, profile, unsupported);
		return;
	}
	if (watched == 0) {
		verdict->kind = VERDICT_TIME_ONLY;
		say_hottest(verdict, profile);
		verdict->headline =
			verdict->line ? "the hottest line; whether it repeats work was not seen"
				      : "whether work is repeated was not seen";
		say_class(verdict, profile->time_ns, total_ns);
	} else if (interval_wilson(0, watched).high >= FINDING_SHARE_MIN) {
		/* Were none of so many redundant, a finding could still have been missed. */
		verdict->kind = VERDICT_TOO_FEW;
		say_hottest(verdict, profile);
		verdict->headline = verdict->line ? "the hottest line; too little was seen "
						    "to tell whether it repeats work"
						  : "too little was seen to tell whether work is "
						    "repeated";
		verdict_say(verdict,
			    "%" PRIu64 " memory %s watched. Profile longer, or with a higher "
			    "--rate, to tell.",
			    watched, watched == 1 ? "access was" : "accesses were");
		say_class(verdict, profile->time_ns, total_ns);
	} else {
		verdict->kind = VERDICT_NOTHING;
		say_hottest(verdict, profile);
		verdict->headline = verdict->line ? "the hottest line; none that repeats work "
						    "stands out"
						  : "no line that repeats work stands out";
		say_small_ones(verdict, profile);
	}
}

const char *verdict_kind_name(enum verdict_kind kind)
{
	static const char *const names[VERDICT_KIND_COUNT] = {
		[VERDICT_FINDING] = "finding",          [VERDICT_PATTERN] = "slow-pattern",
		[VERDICT_TOO_FEW] = "too-few-accesses", [VERDICT_NOTHING] = "nothing",
		[VERDICT_TIME_ONLY] = "time-only",      [VERDICT_DEADLOCK] = "deadlock",
		[VERDICT_WAITING] = "waiting",          [VERDICT_IDLE] = "idle",
		[VERDICT_STARVED] = "no-cpu",           [VERDICT_UNSAMPLED] = "no-samples",
	};

	return names[kind];
}

void verdict_add_finding(const struct profile *profile, struct verdict *verdict)
{
	struct findings findings;
	int error = findings_of(profile, &findings);

	if (error)
		verdict->error = error;
	if (findings.count)
		add_finding(verdict, findings.items, time_sum(profile->time_ns));
	findings_deinit(&findings);
}

int verdict_find(const struct profile *profile, struct verdict *ret_verdict)
{
	*ret_verdict = (struct verdict){ .samples = profile->facts.samples };
	if (!verdict_find_waiting(profile, ret_verdict)) {
		find(profile, ret_verdict);
		verdict_add_waiting(profile, ret_verdict);
	}
	return ret_verdict->error;
}

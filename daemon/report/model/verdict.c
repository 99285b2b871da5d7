/* SPDX-License-Identifier: Apache-2.0 */
#include "daemon/report/model/verdict.h"

#include "daemon/detect/interval.h"
#include "daemon/report/encode/figure.h"
#include "daemon/report/model/own_line.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>

/* A line from which less than this share of the time could be saved is no finding. */
#define FINDING_SHARE_MIN 0.05
/* Nor is one of whose accesses hardly any were found redundant. */
#define FINDING_REDUNDANT_MIN 3
/* Below this many redundant accesses a finding is called possible, whatever its interval. */
#define LIKELY_REDUNDANT_MIN 10
/* Of the time watched, at least a second: threads without a CPU, and a process that slept. */
#define QUEUED_SHARE_MIN 0.1
#define ASLEEP_SHARE_MAX 0.25
#define DURATION_MIN_NS  1e9

uint64_t profile_time_sum(const uint64_t times[TIME_CLASS_COUNT])
{
	uint64_t total = 0;

	for (size_t i = 0; i < TIME_CLASS_COUNT; i++)
		total += times[i];
	return total;
}

uint64_t profile_line_redundant(const struct profile_line *line)
{
	return line->accesses[PAIR_LOAD].redundant + line->accesses[PAIR_STORE].redundant;
}

/* Approximate ones included, as avoidable time counts them. */
static uint64_t redundant_at_all(const struct profile_line *line)
{
	return profile_line_redundant(line) + line->accesses[PAIR_LOAD].approximate +
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
	uint64_t a_ns = profile_time_sum(a->self_ns), b_ns = profile_time_sum(b->self_ns);

	if (a_ns != b_ns)
		return a_ns > b_ns ? -1 : 1;
	return by_position(a, b);
}

int profile_line_by_avoidable(const void *left, const void *right)
{
	const struct profile_line *a = *(const struct profile_line *const *)left;
	const struct profile_line *b = *(const struct profile_line *const *)right;

	/* An estimate without evidence of its own comes after all others. */
	if (!found(a) != !found(b))
		return found(a) ? -1 : 1;
	if (a->avoidable_ns != b->avoidable_ns)
		return a->avoidable_ns > b->avoidable_ns ? -1 : 1;
	if (profile_line_redundant(a) != profile_line_redundant(b))
		return profile_line_redundant(a) > profile_line_redundant(b) ? -1 : 1;
	return by_position(a, b);
}

static bool is_finding(const struct profile_line *line, uint64_t total_ns)
{
	return total_ns > 0 && found(line) >= FINDING_REDUNDANT_MIN &&
	       (double)line->avoidable_ns >= FINDING_SHARE_MIN * (double)total_ns;
}

/* How sure the figures are; not whether the other way to write it would be faster. */
static const char *certainty(const struct profile_line *line, uint64_t total_ns)
{
	if (found(line) < LIKELY_REDUNDANT_MIN)
		return "one line may repeat memory accesses needlessly, on little evidence";
	if ((double)line->avoidable_low_ns < FINDING_SHARE_MIN * (double)total_ns)
		return "one line probably repeats memory accesses needlessly";
	return "one line repeats memory accesses needlessly";
}

__attribute__((format(printf, 2, 3))) static void verdict_say(struct verdict *verdict,
							      const char *format, ...)
{
	va_list arguments;

	if (verdict->sentence_count == VERDICT_SENTENCES_MAX)
		return;
	va_start(arguments, format);
	vsnprintf(verdict->sentences[verdict->sentence_count++], VERDICT_SENTENCE_BYTES, format,
		  arguments);
	va_end(arguments);
}

static void say_finding(struct verdict *verdict, const struct profile_line *line, uint64_t total_ns)
{
	enum pair_kind kind =
		line->accesses[PAIR_STORE].redundant > line->accesses[PAIR_LOAD].redundant
			? PAIR_STORE
			: PAIR_LOAD;
	const struct access_counts *counts = &line->accesses[kind];
	struct interval share = interval_wilson(counts->redundant, counts->sampled);

	verdict->line = line;
	/* Whole calls done again: the single access says little then. */
	if (same_again(line) > redundant_at_all(line))
		verdict_say(verdict,
			    "It takes %s of the CPU time; its calls left %" PRIu64 " of %" PRIu64
			    " words that they wrote again as they had been.",
			    figure_part(line->total_ns, total_ns).text, same_again(line),
			    line->evidence.again + line->evidence.again_loads);
	else
		verdict_say(verdict,
			    "It takes %s of the CPU time; %" PRIu64 " of %" PRIu64
			    " %s watched there %s by a later native call with "
			    "the same value: %s (95%% interval %s to %s).",
			    figure_part(line->total_ns, total_ns).text, counts->redundant,
			    counts->sampled, kind == PAIR_LOAD ? "loads" : "stores",
			    kind == PAIR_LOAD ? "were read again" : "were written again",
			    figure_part(counts->redundant, counts->sampled).text,
			    figure_share(share.low).text, figure_share(share.high).text);
	verdict_say(
		verdict,
		"About %s (%s) could be avoided, between %s and %s as far as sampling can tell.",
		figure_ns(line->avoidable_ns).text, figure_part(line->avoidable_ns, total_ns).text,
		figure_ns(line->avoidable_low_ns).text, figure_ns(line->avoidable_high_ns).text);
	if (found(line) < LIKELY_REDUNDANT_MIN)
		verdict_say(verdict,
			    "That rests on %" PRIu64
			    " redundant accesses: profile longer to be sure.",
			    found(line));
	if (line->category != CATEGORY_UNCLEAR)
		verdict_say(verdict, "%s %s: %s",
			    found(line) < LIKELY_REDUNDANT_MIN ? "Perhaps" : "Likely",
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
			    figure_part(own.time_ns, own.of_ns).text);
	else
		verdict_say(
			verdict,
			"Of the program's own lines, this one and the libraries that it calls take "
			"most, "
			"%s:",
			figure_part(own.time_ns, own.of_ns).text);
	verdict->own_line = own.line;
	verdict->own_line_position = verdict->sentence_count;
}

/* What a slow program waits for is not in its CPU time. */
static void say_off_cpu(struct verdict *verdict, const struct profile_facts *facts)
{
	double duration_ns = (double)facts->duration_ns, queued_ns = (double)facts->queued_ns;

	if (!facts->queued_known || facts->target_exited || duration_ns < DURATION_MIN_NS)
		return;
	if (queued_ns >= QUEUED_SHARE_MIN * duration_ns && facts->queued_ns * 2 >= facts->cpu_ns)
		verdict_say(
			verdict,
			"Its threads were also ready to run for %s without a CPU: the machine is "
			"busy, or the control group has used up its share.",
			figure_ns(facts->queued_ns).text);
	else if ((double)facts->cpu_ns + queued_ns < ASLEEP_SHARE_MAX * duration_ns &&
		 !facts->waits)
		verdict_say(
			verdict,
			"It used a CPU for %s of the time and slept otherwise: --mode time --idle "
			"shows "
			"what for, and pieprofd dump shows where it is now.",
			figure_part(facts->cpu_ns, facts->duration_ns).text);
}

/* Why there was nothing to watch. */
static void say_class(struct verdict *verdict, const uint64_t time_ns[TIME_CLASS_COUNT],
		      uint64_t total_ns)
{
	if (time_ns[TIME_SYSTEM] * 2 > total_ns)
		verdict_say(verdict,
			    "%s of the CPU time was the kernel's: system calls, and page faults.",
			    figure_part(time_ns[TIME_SYSTEM], total_ns).text);
	else if (time_ns[TIME_PYTHON] * 2 > total_ns)
		verdict_say(
			verdict,
			"%s of the CPU time was the interpreter's, with all that is built into it; "
			"only "
			"the accesses of other libraries are watched.",
			figure_part(time_ns[TIME_PYTHON], total_ns).text);
}

static void find(const struct profile *profile, const struct profile_line *top_self,
		 const struct profile_line *top_avoidable, struct verdict *verdict)
{
	uint64_t total_ns = profile_time_sum(profile->time_ns);
	uint64_t watched = sampled(profile->accesses);

	if (profile->facts.samples == 0) {
		if (side_time_waiting_ns(&profile->side)) {
			verdict->headline = "the target slept: see WAITING";
			return;
		}
		verdict->headline = "nothing was sampled";
		verdict_say(verdict, "The target used next to no CPU time in Python threads while "
				     "it was watched, "
				     "or all samples were lost: see DATA QUALITY.");
		return;
	}
	if (top_avoidable && is_finding(top_avoidable, total_ns)) {
		verdict->headline = certainty(top_avoidable, total_ns);
		say_finding(verdict, top_avoidable, total_ns);
		say_own_line(verdict, profile, top_avoidable);
		return;
	}
	if (watched == 0) {
		verdict->headline = "time only: no memory access was watched";
		say_class(verdict, profile->time_ns, total_ns);
	} else {
		verdict->headline = "no redundant line stands out";
		verdict_say(verdict,
			    "%" PRIu64
			    " memory accesses were watched; no single line could save %.0f%% "
			    "of the CPU time by avoiding repeated ones.",
			    watched, FINDING_SHARE_MIN * 100);
	}
	if (top_self && profile_time_sum(top_self->self_ns) > 0) {
		verdict_say(verdict, "The hottest line has %s of the CPU time:",
			    figure_part(profile_time_sum(top_self->self_ns), total_ns).text);
		verdict->line = top_self;
		verdict->line_position = verdict->sentence_count;
		say_own_line(verdict, profile, NULL);
	}
}

void verdict_find(const struct profile *profile, const struct profile_line *top_self,
		  const struct profile_line *top_avoidable, struct verdict *ret_verdict)
{
	ret_verdict->line = ret_verdict->own_line = NULL;
	ret_verdict->line_position = ret_verdict->own_line_position = 0;
	ret_verdict->sentence_count = 0;
	find(profile, top_self, top_avoidable, ret_verdict);
	say_off_cpu(ret_verdict, &profile->facts);
}

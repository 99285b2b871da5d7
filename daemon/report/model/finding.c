/* SPDX-License-Identifier: Apache-2.0 */
#include "daemon/report/model/finding.h"

#include "daemon/detect/interval.h"
#include "daemon/report/encode/figure.h"
#include "daemon/report/model/argument_evidence.h"

#include <ctype.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Nor is one of whose accesses hardly any were found redundant. */
#define FINDING_REDUNDANT_MIN 3
/* Below this many redundant accesses a finding is called possible, whatever its interval. */
#define LIKELY_REDUNDANT_MIN 10

static uint64_t redundant_exactly(const struct profile_line *line)
{
	return line->accesses[PAIR_LOAD].redundant + line->accesses[PAIR_STORE].redundant;
}

uint64_t profile_line_redundant(const struct profile_line *line)
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
	return profile_line_redundant(line) > same_again(line) ? profile_line_redundant(line)
							       : same_again(line);
}

/* What the line's finding is; ARGUMENT_UNKNOWN: its avoidable time is not of a finding. */
static enum argument_verdict argument_finding(const struct profile_line *line)
{
	enum argument_verdict finding =
		line->finding
			? argument_evidence_verdict(&line->evidence.arguments, line->charged_ns)
			: ARGUMENT_UNKNOWN;

	return finding == ARGUMENT_NEEDED ? ARGUMENT_UNKNOWN : finding;
}

bool profile_line_has_evidence(const struct profile_line *line)
{
	return found(line) || argument_finding(line);
}

/* Samples that speak for the finding, or else accesses. */
static uint64_t support(const struct profile_line *line)
{
	uint64_t votes = 0;

	if (!argument_finding(line))
		return found(line);
	for (unsigned v = ARGUMENT_NEEDED + 1; v < ARGUMENT_VERDICT_COUNT; v++)
		votes += line->evidence.arguments.samples[v];
	return votes;
}

bool profile_line_is_supported(const struct profile_line *line)
{
	return support(line) >= FINDING_REDUNDANT_MIN;
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
	return a < b ? -1 : a > b;
}

bool finding_is_worth(uint64_t saved_ns, uint64_t total_ns)
{
	return total_ns > 0 && (double)saved_ns >= FINDING_SHARE_MIN * (double)total_ns;
}

static bool is_finding(const struct profile_line *line, uint64_t total_ns)
{
	return profile_line_is_supported(line) && finding_is_worth(line->avoidable_ns, total_ns);
}

static enum finding_certainty certainty(const struct profile_line *line, uint64_t total_ns)
{
	if (support(line) < LIKELY_REDUNDANT_MIN)
		return FINDING_POSSIBLE;
	if ((double)line->avoidable_low_ns < FINDING_SHARE_MIN * (double)total_ns)
		return FINDING_PROBABLE;
	return FINDING_SURE;
}

static const char *const headline_accesses[FINDING_CERTAINTY_COUNT] = {
	"one line may repeat memory accesses needlessly, on little evidence",
	"one line probably repeats memory accesses needlessly",
	"one line repeats memory accesses needlessly",
};
static const char *const headline_again[FINDING_CERTAINTY_COUNT] = {
	"one expression may do the same work again, on little evidence",
	"one expression probably does the same work again",
	"one expression does the same work again",
};
static const char *const headline_elements[FINDING_CERTAINTY_COUNT] = {
	"an array may be taken element by element, on little evidence",
	"an array is probably taken element by element",
	"an array is taken element by element",
};
static const char *const headline_growing[FINDING_CERTAINTY_COUNT] = {
	"one expression may work on a sequence that grows, on little evidence",
	"one expression probably works on a sequence that grows",
	"one expression works on a sequence that grows",
};

static const char *const headline_counterpart[FINDING_CERTAINTY_COUNT] = {
	"one expression may have a much faster counterpart, on little evidence",
	"one expression probably has a much faster counterpart",
	"one expression has a much faster counterpart",
};

static const char *headline(const struct profile_line *line, uint64_t total_ns)
{
	enum finding_certainty sure = certainty(line, total_ns);

	switch (argument_finding(line)) {
	case ARGUMENT_INVARIANT:
	case ARGUMENT_REPEATED:
	case ARGUMENT_FEW:
	case ARGUMENT_FEW_HELD:
	case ARGUMENT_IN_TURN:
	case ARGUMENT_COMMON:
		return headline_again[sure];
	case ARGUMENT_GROWING:
		return headline_growing[sure];
	case ARGUMENT_ELEMENTS:
	case ARGUMENT_SCALARS:
		return headline_elements[sure];
	case ARGUMENT_SEARCHED:
	case ARGUMENT_SCANNED:
	case ARGUMENT_CUT:
	case ARGUMENT_SLOW:
	case ARGUMENT_SORTED:
	case ARGUMENT_END:
		return headline_counterpart[sure];
	case ARGUMENT_UNKNOWN:
	case ARGUMENT_NEEDED:
	case ARGUMENT_VERDICT_COUNT:
		break;
	}
	return headline_accesses[sure];
}

static struct figure share_figure(const struct finding *finding, double share)
{
	return figure_sampled((uint64_t)(share * 1e6), 1000000, finding->samples);
}

/* Of the watched accesses, those of the kind with more redundant ones. */
static void write_evidence(struct finding *finding, uint64_t total_ns)
{
	const struct profile_line *line = finding->line;
	enum pair_kind kind =
		line->accesses[PAIR_STORE].redundant > line->accesses[PAIR_LOAD].redundant
			? PAIR_STORE
			: PAIR_LOAD;
	const struct access_counts *counts = &line->accesses[kind];
	struct interval share = interval_wilson(counts->redundant, counts->sampled);
	const char *accesses = kind == PAIR_LOAD ? "loads" : "stores";
	const char *again = kind == PAIR_LOAD ? "were read again" : "were written again";

	/* Whole calls done again: the single access says little then. */
	if (same_again(line) > profile_line_redundant(line))
		snprintf(finding->evidence, FINDING_BYTES,
			 "It takes %s of the CPU time; its calls left %" PRIu64 " of %" PRIu64
			 " words that they wrote again as they had been.",
			 figure_sampled(line->total_ns, total_ns, finding->samples).text,
			 same_again(line), line->evidence.again + line->evidence.again_loads);
	else if (argument_finding(line) && line->avoidable_low_ns > line->total_ns)
		snprintf(finding->evidence, FINDING_BYTES,
			 "It takes %s of the CPU time, and more of its loop goes with it.",
			 figure_sampled(line->total_ns, total_ns, finding->samples).text);
	else if (argument_finding(line) && !counts->redundant)
		snprintf(finding->evidence, FINDING_BYTES, "It takes %s of the CPU time.",
			 figure_sampled(line->total_ns, total_ns, finding->samples).text);
	else if (argument_finding(line))
		snprintf(finding->evidence, FINDING_BYTES,
			 "It takes %s of the CPU time; %" PRIu64 " of %" PRIu64
			 " %s watched there %s with the same value.",
			 figure_sampled(line->total_ns, total_ns, finding->samples).text,
			 counts->redundant, counts->sampled, accesses, again);
	else
		snprintf(finding->evidence, FINDING_BYTES,
			 "It takes %s of the CPU time; %" PRIu64 " of %" PRIu64
			 " %s watched there %s by a later native call with "
			 "the same value: %s (95%% interval %s to %s).",
			 figure_sampled(line->total_ns, total_ns, finding->samples).text,
			 counts->redundant, counts->sampled, accesses, again,
			 figure_sampled(counts->redundant, counts->sampled, finding->samples).text,
			 share_figure(finding, share.low).text,
			 share_figure(finding, share.high).text);
}

static void write_gain(struct finding *finding, uint64_t total_ns)
{
	const struct profile_line *line = finding->line;
	double low = 100 * (double)line->avoidable_low_ns / (double)total_ns;
	double high = 100 * (double)line->avoidable_high_ns / (double)total_ns;

	/* The interval's end may lie beyond the samples that there were. */
	if (high > 100)
		high = 100;
	if (!argument_finding(line))
		snprintf(finding->gain, FINDING_BYTES,
			 "Could save about %s (%s), between %s and %s as far as sampling "
			 "can tell.",
			 figure_ns(line->avoidable_ns).text,
			 figure_sampled(line->avoidable_ns, total_ns, finding->samples).text,
			 figure_ns(line->avoidable_low_ns).text,
			 figure_ns(line->avoidable_high_ns).text);
	else if (low < 0.5)
		snprintf(finding->gain, FINDING_BYTES, "Could save up to %.0f%% of the CPU time.",
			 high);
	else
		snprintf(finding->gain, FINDING_BYTES, "Could save %.0f to %.0f%% of the CPU time.",
			 low, high);
}

static const char *expression_of(const struct profile_line *line)
{
	if (line->finding && line->expression)
		return line->expression;
	return line->source && *line->source ? line->source : NULL;
}

static void finding_fill(const struct profile *profile, const struct profile_line *line,
			 struct finding *ret_finding)
{
	uint64_t total_ns = time_sum(profile->time_ns);
	struct finding *finding = ret_finding;

	*finding = (struct finding){
		.line = line,
		.category = line->category,
		.certainty = certainty(line, total_ns),
		.samples = profile->facts.samples,
		.share = (double)line->total_ns / (double)total_ns,
		.saving = (double)line->avoidable_ns / (double)total_ns,
		.saving_low = (double)line->avoidable_low_ns / (double)total_ns,
		.saving_high = (double)line->avoidable_high_ns / (double)total_ns,
		.saving_ns = line->avoidable_ns,
		.saving_low_ns = line->avoidable_low_ns,
		.saving_high_ns = line->avoidable_high_ns,
		.support = support(line),
		.by_arguments = argument_finding(line) != ARGUMENT_UNKNOWN,
		.expression = expression_of(line),
		.headline = headline(line, total_ns),
	};
	if (!own_line_is_foreign(line) || !own_line_find(profile, line, &finding->own))
		finding->own = (struct own_line){ 0 };
	if (finding->by_arguments)
		snprintf(finding->what, sizeof(finding->what), "%s.", line->finding);
	write_evidence(finding, total_ns);
	write_gain(finding, total_ns);
	if (finding->certainty == FINDING_POSSIBLE)
		snprintf(finding->caution, sizeof(finding->caution),
			 "That rests on %" PRIu64 " %s: profile longer to be sure.",
			 finding->support,
			 finding->by_arguments ? "samples" : "redundant accesses");
	/* What was seen of the arguments says more, and may contradict it. */
	if (finding->category != CATEGORY_UNCLEAR && !finding->by_arguments)
		snprintf(finding->advice, sizeof(finding->advice), "%s",
			 category_advice(finding->category));
	finding->example = finding->by_arguments ? line->example : category_example(line->category);
}

/* Into the sorted lines, if there is room or it goes before the last. */
static size_t insert_line(const struct profile_line **lines, size_t count, size_t max,
			  const struct profile_line *line)
{
	size_t at = count;

	while (at > 0 && profile_line_by_avoidable(&line, &lines[at - 1]) < 0)
		at--;
	if (at == max)
		return count;
	if (count == max)
		count--;
	memmove(&lines[at + 1], &lines[at], (count - at) * sizeof(lines[0]));
	lines[at] = line;
	return count + 1;
}

static void take_way(struct finding *finding, const struct slow_way *way)
{
	snprintf(finding->advice, sizeof(finding->advice), "%c%s.", toupper(way->instead[0]),
		 way->instead + 1);
	finding->example = way->example;
}

/* Time, not a saving: no sample shows what another way to write it would take. */
static void pattern_fill(const struct profile *profile, const struct slow_pattern_hit *hit,
			 struct finding *finding)
{
	uint64_t total_ns = time_sum(profile->time_ns);

	*finding = (struct finding){
		.line = hit->line,
		.pattern = hit->pattern,
		.pattern_ns = hit->time_ns,
		.category = hit->pattern->category,
		.certainty = FINDING_POSSIBLE,
		.samples = profile->facts.samples,
		.share = (double)hit->line->total_ns / (double)total_ns,
		.expression = expression_of(hit->line),
		.headline = hit->pattern->headline,
		.caution = "That is the time it takes; what another way to write it would take was "
			   "not measured.",
	};
	take_way(finding, hit->pattern->way);
	snprintf(finding->what, sizeof(finding->what), "It %s.", hit->pattern->way->does);
	snprintf(finding->evidence, sizeof(finding->evidence),
		 "%s of the CPU time is under this line.",
		 figure_sampled(hit->time_ns, total_ns, finding->samples).text);
}

static bool take_pattern(struct finding *findings, size_t count, const struct slow_pattern_hit *hit)
{
	for (size_t i = 0; i < count; i++)
		if (finding_place(&findings[i]) == hit->line || findings[i].line == hit->line) {
			if (findings[i].pattern)
				return true;
			findings[i].pattern = hit->pattern;
			findings[i].pattern_ns = hit->time_ns;
			/* The arguments tell more of the expression than the pattern does. */
			if (!findings[i].by_arguments)
				take_way(&findings[i], hit->pattern->way);
			return true;
		}
	return false;
}

static int add_patterns(const struct profile *profile, struct finding *findings, size_t count,
			size_t max)
{
	struct slow_pattern_hit hits[FINDINGS_MAX];
	int hit_count = slow_patterns_find(profile, hits, FINDINGS_MAX);

	if (hit_count < 0)
		return hit_count;
	for (int i = 0; i < hit_count; i++)
		if (!take_pattern(findings, count, &hits[i]) && count < max)
			pattern_fill(profile, &hits[i], &findings[count++]);
	return (int)count;
}

int findings_find(const struct profile *profile, struct finding *findings, size_t max)
{
	const struct profile_line *lines[FINDINGS_MAX];
	uint64_t total_ns = time_sum(profile->time_ns);
	size_t count = 0;

	if (max > FINDINGS_MAX)
		max = FINDINGS_MAX;
	for (size_t i = 0; i < profile->line_count; i++)
		if (is_finding(&profile->lines[i], total_ns))
			count = insert_line(lines, count, max, &profile->lines[i]);
	for (size_t i = 0; i < count; i++)
		finding_fill(profile, lines[i], &findings[i]);
	return add_patterns(profile, findings, count, max);
}

int findings_make(struct profile *profile, struct arena *arena)
{
	struct finding *made = calloc(FINDINGS_MAX, sizeof(*made)), *kept = NULL;
	int count = made ? findings_find(profile, made, FINDINGS_MAX) : -ENOMEM;

	if (count >= 0)
		kept = arena_array(arena, (size_t)count + 1, sizeof(*kept));
	if (kept) {
		memcpy(kept, made, (size_t)count * sizeof(*kept));
		profile->findings = kept;
		profile->finding_count = (size_t)count;
	}
	free(made);
	return kept ? 0 : -ENOMEM;
}

int findings_of(const struct profile *profile, struct findings *ret_findings)
{
	struct finding *own;
	int count;

	*ret_findings = (struct findings){ profile->findings, profile->finding_count, NULL };
	if (profile->findings)
		return 0;
	own = calloc(FINDINGS_MAX, sizeof(*own));
	count = own ? findings_find(profile, own, FINDINGS_MAX) : -ENOMEM;
	*ret_findings = (struct findings){ own, count < 0 ? 0 : (size_t)count, own };
	return count < 0 ? count : 0;
}

void findings_deinit(struct findings *findings)
{
	free(findings->own);
	*findings = (struct findings){ 0 };
}

const struct profile_line *finding_place(const struct finding *finding)
{
	return finding->own.line ? finding->own.line : finding->line;
}

struct message {
	char *text;
	size_t size, used;
};

/* A sentence more; what there is no room for is cut. */
__attribute__((format(printf, 2, 3))) static void message_add(struct message *message,
							      const char *format, ...)
{
	va_list arguments;
	int length;

	if (message->used + 1 >= message->size)
		return;
	if (message->used)
		message->text[message->used++] = ' ';
	va_start(arguments, format);
	length = vsnprintf(message->text + message->used, message->size - message->used, format,
			   arguments);
	va_end(arguments);
	message->used = length < 0 || (size_t)length >= message->size - message->used
				? message->size - 1
				: message->used + (size_t)length;
}

void finding_message(const struct finding *finding, char *text, size_t size)
{
	struct message message = { text, size, 0 };

	*text = '\0';
	if (finding->what[0])
		message_add(&message, "%s", finding->what);
	if (finding->gain[0])
		message_add(&message, "%s", finding->gain);
	message_add(&message, "%s", finding->evidence);
	if (finding->caution[0])
		message_add(&message, "%s", finding->caution);
	if (finding->own.line && finding->line->line)
		message_add(&message, "The time is spent in %s:%d.", finding->line->file,
			    finding->line->line);
	else if (finding->own.line)
		message_add(&message, "The time is spent in %s (%s).", finding->line->function,
			    finding->line->file);
	if (finding->advice[0])
		message_add(&message, "%s", finding->advice);
	if (finding->example)
		message_add(&message, "For example: %s", finding->example);
}

const char *finding_rule(const struct finding *finding)
{
	return finding->pattern && !finding->saving_ns ? finding->pattern->name
						       : category_name(finding->category);
}

const char *finding_certainty_name(enum finding_certainty certainty)
{
	static const char *const names[FINDING_CERTAINTY_COUNT] = {
		[FINDING_POSSIBLE] = "possible",
		[FINDING_PROBABLE] = "probable",
		[FINDING_SURE] = "sure",
	};

	return names[certainty];
}

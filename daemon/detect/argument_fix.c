/* SPDX-License-Identifier: Apache-2.0 */
#include "daemon/detect/argument_fix.h"

#define FIXES_MAX 64
/* Samples of the loop that are no votes, for each that is one: with more, it has other work to do.
 */
#define ALONG_MAX 0.7

enum fix_kind {
	FIX_LOOP,  /* elements that are taken in one loop */
	FIX_ENTRY, /* a function, whatever the loop */
	FIX_CACHE, /* of a function, or with what it works on, whoever calls it */
	FIX_PASS,  /* what several lines of one loop do in the same wrong way */
};

struct fix {
	enum fix_kind kind;
	uint8_t verdict; /* of FIX_PASS and FIX_CACHE */
	const struct python_code *code;
	struct loop loop;
	uint32_t leader; /* its site with most votes */
	uint64_t votes, along;
};

struct joining {
	struct argument_findings *findings;
	const struct argument_facts *facts;
	struct fix fixes[FIXES_MAX];
	size_t count;
};

static bool is_for_elements(const struct argument_vote *vote)
{
	return vote->verdict == ARGUMENT_ELEMENTS || vote->verdict == ARGUMENT_SCALARS;
}

/* The function of the program's own that a cache would be of; NULL: it is called in C. */
static const struct python_code *cached_code(const struct joining *joining, size_t i)
{
	const struct argument_log *log = joining->findings->log;
	const struct argument_vote *vote = &joining->findings->votes[i];

	return vote->frame && log->sites[vote->site].of_callee
		       ? log->sites[log->samples[i].frames[vote->frame - 1].site].code
		       : NULL;
}

/* A running sum and a running maximum are one pass over what grows. */
static bool is_for_pass(const struct joining *joining, const struct argument_vote *vote)
{
	return vote->verdict == ARGUMENT_GROWING && joining->facts[vote->site].call.in_loop;
}

/* What a vote is for, as a fix without votes; code NULL: it is for itself. */
static struct fix fix_of_vote(const struct joining *joining, size_t i)
{
	const struct argument_vote *vote = &joining->findings->votes[i];
	struct fix fix = { .code = joining->findings->log->sites[vote->site].code,
			   .loop = joining->facts[vote->site].call.loop,
			   .leader = vote->site };

	if (vote->by_entry)
		fix.kind = FIX_ENTRY;
	else if (vote->verdict == ARGUMENT_FEW || vote->verdict == ARGUMENT_FEW_HELD ||
		 vote->verdict == ARGUMENT_IN_TURN)
		fix = (struct fix){ .kind = FIX_CACHE,
				    .code = cached_code(joining, i),
				    .leader = vote->site };
	else if (is_for_pass(joining, vote))
		fix.kind = FIX_PASS;
	else if (!is_for_elements(vote))
		fix.code = NULL;
	fix.verdict = fix.kind == FIX_PASS || fix.kind == FIX_CACHE ? vote->verdict : 0;
	return fix;
}

/* The fix that a vote is for; NULL: none, or there are too many. */
static struct fix *fix_voted_for(struct joining *joining, size_t vote)
{
	struct fix wanted = fix_of_vote(joining, vote);

	if (!wanted.code)
		return NULL;
	for (size_t i = 0; i < joining->count; i++) {
		struct fix *fix = &joining->fixes[i];

		if (fix->kind == wanted.kind && fix->code == wanted.code &&
		    fix->verdict == wanted.verdict &&
		    (fix->kind == FIX_ENTRY || fix->kind == FIX_CACHE ||
		     fix->loop.start == wanted.loop.start))
			return fix;
	}
	if (joining->count == FIXES_MAX)
		return NULL;
	joining->fixes[joining->count] = wanted;
	return &joining->fixes[joining->count++];
}

/* x = [*x, y]: on the same line the list becomes a tuple, and what x was is freed. */
static bool is_rest_of_copy(const struct joining *joining, const struct fix *fix, uint32_t id)
{
	const struct argument_site *site = &joining->findings->log->sites[id];
	const struct argument_site *leader = &joining->findings->log->sites[fix->leader];

	return fix->kind == FIX_PASS && fix->code == site->code &&
	       leader->kind == OPERATION_EXTEND && site->offset > leader->offset &&
	       (site->kind == OPERATION_BUILD || site->kind == OPERATION_OTHER) &&
	       joining->facts[id].line == joining->facts[fix->leader].line;
}

/* The fix whose loop, or copy, a sample that nothing was found in is in; NULL: none. */
static struct fix *fix_around(struct joining *joining, size_t i)
{
	const struct argument_sample *sample = &joining->findings->log->samples[i];
	const struct argument_site *site = &joining->findings->log->sites[sample->frames[0].site];

	if (joining->findings->votes[i].verdict > ARGUMENT_NEEDED)
		return NULL;
	for (size_t k = 0; k < joining->count; k++) {
		struct fix *fix = &joining->fixes[k];

		if ((fix->kind == FIX_LOOP && fix->code == site->code &&
		     site->offset >= fix->loop.start && site->offset < fix->loop.end) ||
		    is_rest_of_copy(joining, fix, sample->frames[0].site))
			return fix;
	}
	return NULL;
}

static void find_fixes(struct joining *joining)
{
	const struct argument_findings *findings = joining->findings;

	for (size_t i = 0; i < findings->log->sample_count; i++) {
		const struct argument_vote *vote = &findings->votes[i];
		struct fix *fix = fix_voted_for(joining, i);

		if (!fix)
			continue;
		fix->votes++;
		if (findings->summaries[vote->site].votes[vote->verdict] >
		    findings->summaries[fix->leader].votes[vote->verdict])
			fix->leader = vote->site;
	}
	for (size_t i = 0; i < findings->log->sample_count; i++) {
		struct fix *fix = fix_around(joining, i);

		if (fix && fix->kind == FIX_LOOP)
			fix->along++;
	}
}

static void join_vote(struct joining *joining, const struct fix *fix, size_t i)
{
	const struct argument_sample *sample = &joining->findings->log->samples[i];
	struct argument_vote *vote = &joining->findings->votes[i];

	/* One of the loop's own operations on whole arrays stays as it is. */
	if (vote->verdict <= ARGUMENT_NEEDED && joining->facts[sample->frames[0].site].bulk)
		return;
	if (vote->verdict <= ARGUMENT_NEEDED) {
		vote->frame = 0;
		vote->verdict = fix->kind == FIX_PASS ? fix->verdict : ARGUMENT_ELEMENTS;
	} else if (vote->site == fix->leader) {
		return;
	}
	vote->site = fix->leader;
	vote->joined = true;
	argument_summary_vote(&joining->findings->summaries[fix->leader], vote->verdict,
			      sample->time_ns);
}

void argument_fixes_join(struct argument_findings *findings, const struct argument_facts *facts)
{
	struct joining joining = { .findings = findings, .facts = facts };
	size_t found;

	find_fixes(&joining);
	found = joining.count;
	for (size_t i = 0; i < findings->log->sample_count; i++) {
		struct fix *fix = fix_around(&joining, i);

		if (fix && (double)fix->along > ALONG_MAX * (double)fix->votes)
			continue;
		if (!fix)
			fix = fix_voted_for(&joining, i);
		/* One that there was no room for has no votes. */
		if (fix && (size_t)(fix - joining.fixes) < found)
			join_vote(&joining, fix, i);
	}
}

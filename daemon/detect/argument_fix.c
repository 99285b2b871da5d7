/* SPDX-License-Identifier: Apache-2.0 */
#include "daemon/detect/argument_fix.h"

#define FIXES_MAX 64
/* Samples of the loop that are no votes, for each that is one: with more, it has other work to do.
 */
#define ALONG_MAX 0.7

struct fix {
	const struct python_code *code;
	struct loop loop;
	bool by_entry;   /* the whole function, whatever the loop */
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

/* The fix that a vote is for; NULL: none, or there are too many. */
static struct fix *fix_voted_for(struct joining *joining, const struct argument_vote *vote)
{
	const struct argument_site *site = &joining->findings->log->sites[vote->site];
	const struct loop *loop = &joining->facts[vote->site].call.loop;

	if (!vote->by_entry && !is_for_elements(vote))
		return NULL;
	for (size_t i = 0; i < joining->count; i++) {
		struct fix *fix = &joining->fixes[i];

		if (fix->code == site->code && fix->by_entry == vote->by_entry &&
		    (fix->by_entry || fix->loop.start == loop->start))
			return fix;
	}
	if (joining->count == FIXES_MAX)
		return NULL;
	joining->fixes[joining->count] =
		(struct fix){ site->code, *loop, vote->by_entry, vote->site, 0, 0 };
	return &joining->fixes[joining->count++];
}

/* The fix whose loop a sample that nothing was found in is in; NULL: none. */
static struct fix *fix_around(struct joining *joining, size_t i)
{
	const struct argument_sample *sample = &joining->findings->log->samples[i];
	const struct argument_site *site = &joining->findings->log->sites[sample->frames[0].site];

	if (joining->findings->votes[i].verdict > ARGUMENT_NEEDED)
		return NULL;
	for (size_t k = 0; k < joining->count; k++) {
		struct fix *fix = &joining->fixes[k];

		if (!fix->by_entry && fix->code == site->code && site->offset >= fix->loop.start &&
		    site->offset < fix->loop.end)
			return fix;
	}
	return NULL;
}

static void find_fixes(struct joining *joining)
{
	const struct argument_findings *findings = joining->findings;

	for (size_t i = 0; i < findings->log->sample_count; i++) {
		const struct argument_vote *vote = &findings->votes[i];
		struct fix *fix = fix_voted_for(joining, vote);

		if (!fix)
			continue;
		fix->votes++;
		if (findings->summaries[vote->site].votes[vote->verdict] >
		    findings->summaries[fix->leader].votes[vote->verdict])
			fix->leader = vote->site;
	}
	for (size_t i = 0; i < findings->log->sample_count; i++) {
		struct fix *fix = fix_around(joining, i);

		if (fix)
			fix->along++;
	}
}

static void join_vote(struct joining *joining, const struct fix *fix, size_t i)
{
	const struct argument_sample *sample = &joining->findings->log->samples[i];
	struct argument_vote *vote = &joining->findings->votes[i];

	if (vote->verdict <= ARGUMENT_NEEDED) {
		vote->frame = 0;
		vote->verdict = ARGUMENT_ELEMENTS;
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
			fix = fix_voted_for(&joining, &findings->votes[i]);
		/* One that there was no room for has no votes. */
		if (fix && (size_t)(fix - joining.fixes) < found)
			join_vote(&joining, fix, i);
	}
}

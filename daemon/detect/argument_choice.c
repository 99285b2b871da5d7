/* SPDX-License-Identifier: Apache-2.0 */
#include "daemon/detect/argument_choice.h"

#include "daemon/detect/argument_element.h"
#include "pyintrospect/code_entry.h"

/* Of a site's watches: what each should come to, and how dear one is that does not. */
#define COMPARISONS_A_WATCH 2
#define COST_OF_NONE        2
/* A function counts as so many of the sites in it: what is known of its calls goes for all of them.
 */
#define SITES_OF_AN_ENTRY 4
#define PROMISING_MAX     8 /* comparisons */
/* Calls in a row are watched of sites that are often met; as long as nothing comes back, so often.
 */
#define ROW_SAMPLES_MIN 8
#define ROWS_IN_VAIN    4
/* After so many of these the next ones are longer: arguments may come in turn, twenty of them. */
#define ROWS_USUAL 2
/* Samples of a site for each comparison of its calls that it should have come to. */
#define BEHIND_SAMPLES 3
#define ROW_KNOWN      24 /* comparisons */
#define ROW_REPEATED   0.9
/* A function in C that takes so much of the time may be worth a cache, however little it is given.
 */
#define ROW_SHARE_OF 16

/*
 * Effort spent on a site: comparisons, and watches that came to none. A site whose calls
 * repeat so far comes first: a few more comparisons tell.
 */
static uint32_t watched_so_far(const struct argument_site *site)
{
	uint32_t hoped = COMPARISONS_A_WATCH * site->watched;

	if (site->compared < PROMISING_MAX && 2 * site->repeated > site->compared)
		return 0;
	return 1 + site->compared +
	       (hoped > site->compared ? COST_OF_NONE * (hoped - site->compared) : 0);
}

/*
 * Its arguments could be the keys of a cache, or come back with who holds them. A row says as much
 * of repetition as several shorter watches do, too.
 */
static bool is_worth_a_row(const struct argument_log *log, const struct argument_site *site)
{
	bool works = site->of_callee || site->runs_python || argument_is_given_much(site) ||
		     (site->kind == OPERATION_CALL && ROW_SHARE_OF * site->samples >= log->seen);

	/* What is nearly always the same needs no more of it. */
	if (site->compared >= ROW_KNOWN &&
	    (double)site->repeated >= ROW_REPEATED * (double)site->compared)
		return false;
	if (!works || !site->comparable || site->samples < ROW_SAMPLES_MIN ||
	    site->rows >= (site->row_alike ? ARGUMENT_ROWS : ROWS_IN_VAIN))
		return false;
	for (size_t i = 0; i < site->operand_count; i++)
		if (!site->operands[i].hashable && !argument_is_known_data(&site->operands[i]))
			return false;
	return true;
}

static unsigned row_length(const struct argument_log *log, const struct argument_site *site)
{
	if (!is_worth_a_row(log, site))
		return 0;
	return site->rows >= ROWS_USUAL && !site->row_alike ? ARGUMENT_ROW_MAX : ARGUMENT_ROW;
}

/* Of the function that frame f of the sample runs; ID_NONE: none that needs to be known. */
static uint32_t entry_to_watch(struct argument_log *log, const struct argument_sample *sample,
			       const size_t *own, const struct python_frame *frames, unsigned f)
{
	struct argument_site *entry;
	uint32_t id;

	/* Its caller is an own frame, too. */
	if (f + 1u >= sample->frame_count || own[f + 1] != own[f] + 1)
		return ID_NONE;
	entry = argument_log_site(log, frames[own[f]].code, ARGUMENT_ENTRY, &id);
	if (!entry)
		return ID_NONE;
	entry->several_callers |= entry->caller && entry->caller != sample->frames[f + 1].site + 1;
	entry->caller = sample->frames[f + 1].site + 1;
	return entry->several_callers ? id : ID_NONE;
}

/* A function that does not read all of what it is given is watched where it begins: what it does
 * not read is no matter. */
static bool begins_below(const struct argument_site *site, const struct python_frame *frames,
			 size_t watched, unsigned f)
{
	return site->of_part && f && watched && code_entry(frames[watched - 1].code) >= 0;
}

bool argument_is_behind(const struct argument_log *log, const struct argument_sample *sample)
{
	const struct argument_site *site = &log->sites[sample->frames[0].site];

	return sample->frame_count && site->comparable && site->samples >= ROW_SAMPLES_MIN &&
	       BEHIND_SAMPLES * (uint64_t)watched_so_far(site) < site->samples;
}

/* What is known of a site, for the samples that it has. */
struct effort {
	uint32_t known;
	uint64_t samples;
};

/* Where the time is, more is to be known. */
static bool is_less(struct effort a, struct effort b)
{
	return a.known < ARGUMENT_COMPARISONS &&
	       (double)a.known * (double)b.samples < (double)b.known * (double)a.samples;
}

struct argument_choice argument_choose(struct argument_log *log,
				       const struct argument_sample *sample, const size_t *own,
				       const struct python_frame *frames, uint32_t busy)
{
	struct argument_choice choice = { 0 };
	struct effort least = { ARGUMENT_COMPARISONS, 1 };

	for (unsigned f = 0; f < sample->frame_count; f++) {
		uint32_t entry = entry_to_watch(log, sample, own, frames, f);
		const struct argument_site *site = &log->sites[sample->frames[f].site];
		size_t watched = own[f];
		unsigned row = row_length(log, site);
		struct effort effort = { row ? 1 + site->rows : watched_so_far(site),
					 site->samples };
		bool possible = site->comparable && sample->frames[f].site != busy;

		/* What is awaited is called by another instruction: it is watched where it begins.
		 */
		if (site->awaits)
			possible &= row && watched && frames[watched - 1].code->coroutine;
		/* Watches of rare sites, and of unreadable operands, come to nothing. */
		if (possible && is_less(effort, least)) {
			bool at_entry = site->awaits || begins_below(site, frames, watched, f);

			least = effort;
			choice = (struct argument_choice){ &frames[watched - at_entry],
							   sample->frames[f].site, row, at_entry };
		}
		if (entry == ID_NONE || entry == busy)
			continue;
		/* One of its callers has them; each of its own sites has a part. */
		effort.known = watched_so_far(&log->sites[entry]) / SITES_OF_AN_ENTRY;
		effort.samples = log->sites[sample->frames[f + 1].site].samples;
		if (is_less(effort, least)) {
			least = effort;
			choice = (struct argument_choice){ &frames[own[f]], entry, 0, true };
		}
	}
	if (choice.frame && choice.row)
		log->sites[choice.site].rows++;
	else if (choice.frame)
		log->sites[choice.site].watched++;
	return choice;
}

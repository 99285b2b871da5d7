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
static bool is_worth_a_row(const struct argument_site *site)
{
	if (!(site->of_callee || site->runs_python || argument_is_given_much(site)) ||
	    !site->comparable || site->samples < ROW_SAMPLES_MIN ||
	    site->rows >= (site->row_alike ? ARGUMENT_ROWS : ROWS_IN_VAIN))
		return false;
	for (size_t i = 0; i < site->operand_count; i++)
		if (!site->operands[i].hashable && !argument_is_known_data(&site->operands[i]))
			return false;
	return true;
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

struct argument_choice argument_choose(struct argument_log *log,
				       const struct argument_sample *sample, const size_t *own,
				       const struct python_frame *frames)
{
	struct argument_choice choice = { 0 };
	uint32_t least = ARGUMENT_COMPARISONS;

	for (unsigned f = 0; f < sample->frame_count; f++) {
		uint32_t entry = entry_to_watch(log, sample, own, frames, f);
		const struct argument_site *site = &log->sites[sample->frames[f].site];
		size_t watched = own[f];
		bool row = is_worth_a_row(site);
		uint32_t known = row ? 1 + site->rows : watched_so_far(site);
		bool possible = site->comparable;

		/* What is awaited is called by another instruction: it is watched where it begins.
		 */
		if (site->awaits)
			possible &= row && watched && frames[watched - 1].code->coroutine;
		/* Watches of rare sites, and of unreadable operands, come to nothing. */
		if (possible && known < least) {
			bool at_entry = site->awaits || begins_below(site, frames, watched, f);

			least = known;
			choice = (struct argument_choice){ &frames[watched - at_entry],
							   sample->frames[f].site, row, at_entry };
		}
		known = entry == ID_NONE ? least
					 : watched_so_far(&log->sites[entry]) / SITES_OF_AN_ENTRY;
		if (known < least) {
			least = known;
			choice = (struct argument_choice){ &frames[own[f]], entry, false, true };
		}
	}
	if (choice.frame && choice.in_row)
		log->sites[choice.site].rows++;
	else if (choice.frame)
		log->sites[choice.site].watched++;
	return choice;
}

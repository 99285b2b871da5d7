/* SPDX-License-Identifier: Apache-2.0 */
#include "daemon/detect/argument_inside.h"

#include <string.h>

/* What a function does when it is called again must be the same, too: for so much of the calls. */
#define INSIDE_MIN  6
#define INSIDE_PART 0.5
/* Of the samples in a function, with state among their operands: then its arguments are not all. */
#define STATE_PART 0.2
/* And so many of them, for one that calls it. */
#define STATE_SAMPLES_MIN 2

struct refuting {
	const struct argument_log *log;
	struct argument_facts *facts;
	struct argument_inside *inside;
};

static const struct argument_site *site_of(const struct refuting *refuting, uint32_t id)
{
	return &refuting->log->sites[id];
}

static bool is_earlier(const struct argument_sample *sample, unsigned number)
{
	for (unsigned f = 0; f < number; f++)
		if (sample->frames[f].site == sample->frames[number].site)
			return true;
	return false;
}

/* The outermost frame at the site, or for an entry in its function; 0: none further out. */
static unsigned frame_around(const struct refuting *refuting, const struct argument_sample *sample,
			     uint32_t outer)
{
	bool entry = site_of(refuting, outer)->offset == ARGUMENT_ENTRY;
	unsigned around = 0;

	for (unsigned f = 0; f < sample->frame_count; f++) {
		uint32_t site = sample->frames[f].site;

		if (entry ? site_of(refuting, site)->code == site_of(refuting, outer)->code
			  : site == outer)
			around = f + entry;
	}
	return around;
}

/* Is frame f, with the outer one around it, called there in a loop, or by a library's code? */
static bool is_looped(const struct refuting *refuting, const struct argument_sample *sample,
		      unsigned f, unsigned around)
{
	for (; f < around; f++) {
		if (f + 1 < around && refuting->facts[sample->frames[f + 1].site].call.in_loop)
			return true;
		if (sample->frames[f].flags & ARGUMENT_APART && f + 1 < sample->frame_count)
			return true;
	}
	return false;
}

static void count_inside(struct refuting *refuting, uint32_t outer)
{
	const struct argument_log *log = refuting->log;

	memset(refuting->inside, 0, log->site_count * sizeof(refuting->inside[0]));
	for (size_t i = 0; i < log->sample_count; i++) {
		const struct argument_sample *sample = &log->samples[i];
		unsigned around = frame_around(refuting, sample, outer);

		for (unsigned f = 0; f < sample->frame_count; f++) {
			struct argument_inside *inside = &refuting->inside[sample->frames[f].site];

			if (is_earlier(sample, f))
				continue;
			inside->samples++;
			inside->under += f < around;
			inside->looped += f < around && is_looped(refuting, sample, f, around);
		}
	}
}

/* source.read(): the receiver's state may be unreadable: evidence from the callee is required.
 * A table is data, all of which was read. */
static bool has_only_self(const struct argument_site *site)
{
	size_t count = 0;

	for (size_t i = 0; i < site->operand_count; i++)
		if (!site->operands[i].callable) {
			if (site->operands[i].kind != CONTENT_OBJECT || site->operands[i].frame)
				return false;
			count++;
		}
	return count == 1;
}

/*
 * sha256(data).digest() works on what was just made of data: that cannot be read, but nothing else
 * has changed it.
 */
static bool is_made_of_data(const struct refuting *refuting, uint32_t id)
{
	const struct argument_facts *facts = &refuting->facts[id];

	for (uint32_t made = 0; facts->origin >= 0 && made < refuting->log->site_count; made++) {
		const struct argument_facts *origin = &refuting->facts[made];

		if (origin->call.code == facts->call.code && origin->call.offset <= facts->origin &&
		    facts->origin < origin->extent.end)
			return origin->summary->judged &&
			       2 * origin->data > origin->summary->judged;
	}
	return false;
}

/* Most of its samples work on state that cannot be read. */
static bool works_on_state(const struct refuting *refuting, uint32_t id)
{
	const struct argument_facts *facts = &refuting->facts[id];

	return facts->state > facts->summary->judged / 2 && !is_made_of_data(refuting, id);
}

/*
 * Unchanged arguments do not make a function's work the same where something in
 * it works on state that cannot be read, or on other values each time.
 */
static bool is_refuted_inside(struct refuting *refuting, uint32_t outer)
{
	const struct argument_facts *around = &refuting->facts[outer];
	bool supported = !has_only_self(site_of(refuting, outer));

	count_inside(refuting, outer);
	for (uint32_t inner = 0; inner < refuting->log->site_count; inner++) {
		const struct argument_facts *facts = &refuting->facts[inner];
		const struct argument_site *site = site_of(refuting, inner);
		const struct argument_inside *inside = &refuting->inside[inner];

		if (inner == outer || facts->summary->judged < 3)
			continue;
		/* Whoever else calls it. */
		if (inside->under >= STATE_SAMPLES_MIN && !facts->call.in_loop &&
		    2 * inside->looped <= inside->under && works_on_state(refuting, inner))
			return true;
		if (inside->under < 0.9 * inside->samples)
			continue;
		/* library.pop(handle) in a loop: what it gives is not in its arguments. */
		if (site->foreign)
			return true;
		if (facts->call.in_loop || 2 * inside->looped > inside->under)
			continue;
		supported |= facts->same || facts->again;
		if (around->again
			    ? site->compared >= INSIDE_MIN &&
				      site->repeated < INSIDE_PART * around->summary->repeated *
							       site->compared
			    : !facts->again && (double)facts->summary->commonest <
						       0.7 * (double)facts->summary->judged)
			return true;
	}
	return !supported;
}

/* A function that works on state which cannot be read gives other results for the same arguments.
 */
static bool has_state_inside(struct refuting *refuting, uint32_t outer)
{
	count_inside(refuting, outer);
	for (uint32_t inner = 0; inner < refuting->log->site_count; inner++) {
		const struct argument_facts *facts = &refuting->facts[inner];

		if (inner != outer && facts->summary->judged && refuting->inside[inner].under &&
		    works_on_state(refuting, inner))
			return true;
	}
	return false;
}

/* What its calls work on again is state that cannot be read, or other data each time. */
static bool is_entry_refuted(struct refuting *refuting, uint32_t entry)
{
	const struct argument_site *calls = site_of(refuting, entry);
	double repeated = (double)calls->repeated / calls->compared;
	uint64_t judged = 0, state = 0;

	count_inside(refuting, entry);
	for (uint32_t inner = 0; inner < refuting->log->site_count; inner++) {
		const struct argument_facts *facts = &refuting->facts[inner];
		const struct argument_site *site = site_of(refuting, inner);
		const struct argument_inside *inside = &refuting->inside[inner];

		if (!facts->summary->judged || inside->under < 0.9 * inside->samples)
			continue;
		judged += facts->summary->judged;
		state += is_made_of_data(refuting, inner) ? 0 : facts->state;
		if (!facts->call.in_loop && 2 * inside->looped <= inside->under &&
		    site->compared >= INSIDE_MIN &&
		    site->repeated < INSIDE_PART * repeated * site->compared)
			return true;
	}
	return (double)state > STATE_PART * (double)judged;
}

static void refute_entries(struct refuting *refuting)
{
	for (uint32_t id = 0; id < refuting->log->site_count; id++)
		if (refuting->facts[id].summary->entry == id)
			refuting->facts[refuting->facts[id].code_site].entry_refuted =
				is_entry_refuted(refuting, id);
}

void argument_refute_inside(struct argument_facts *facts, struct argument_inside *inside,
			    const struct argument_log *log)
{
	struct refuting refuting = { log, facts, inside };

	refute_entries(&refuting);
	for (uint32_t id = 0; id < log->site_count; id++) {
		if (facts[id].few && has_state_inside(&refuting, id))
			facts[id].few = false;
		/* What of_callee says is of the last sample. */
		if ((facts[id].same || facts[id].again) &&
		    (log->sites[id].of_callee || log->sites[id].runs_python) &&
		    is_refuted_inside(&refuting, id))
			facts[id].same = facts[id].again = false;
	}
}

/* SPDX-License-Identifier: Apache-2.0 */
#include "daemon/detect/argument_row.h"

#include "daemon/detect/argument_element.h"

/* The loop itself, and a function that it calls with the row. */
#define ASKING_FRAMES 2
/* Of the samples of a call for each group, so many may be in work of the function's own. */
#define OWN_WORK_MOST 0.3
/* Samples in a function for each item, and how many of them work on numbers. */
#define RECKONING_MIN  5
#define RECKONING_PART 0.7

void argument_rows_find(struct argument_rows *rows, const struct argument_facts *facts,
			const struct argument_log *log)
{
	rows->count = 0;
	for (uint32_t id = 0; id < log->site_count && rows->count < ARGUMENT_ROW_SITES_MAX; id++) {
		enum slow_when when =
			facts[id].slow ? slow_call_get(log->sites[id].slow)->when : SLOW_ALWAYS;

		if ((when == SLOW_ROWS && facts[id].call.in_loop) || when == SLOW_ROW)
			rows->sites[rows->count++] = id;
	}
}

static bool is_in_loop_of(const struct argument_facts *facts, const struct argument_log *log,
			  uint32_t maker, uint32_t site)
{
	if (log->sites[maker].code != log->sites[site].code)
		return false;
	/* One row is asked behind where it was looked up. */
	if (!facts[maker].call.in_loop)
		return log->sites[site].offset > log->sites[maker].offset;
	return log->sites[site].offset >= facts[maker].call.loop.start &&
	       log->sites[site].offset < facts[maker].call.loop.end;
}

uint32_t argument_row_asked(const struct argument_rows *rows, const struct argument_facts *facts,
			    const struct argument_log *log, const struct argument_sample *sample,
			    unsigned *ret_frame)
{
	if (!rows->count || !argument_asks_row(&log->sites[sample->frames[0].site]))
		return ID_NONE;
	for (unsigned f = 0; f < sample->frame_count && f < ASKING_FRAMES; f++)
		for (size_t i = 0; i < rows->count; i++)
			if (is_in_loop_of(facts, log, rows->sites[i], sample->frames[f].site)) {
				*ret_frame = f;
				return rows->sites[i];
			}
	return ID_NONE;
}

bool argument_row_is_used(const struct argument_log *log, const struct argument_sample *sample,
			  unsigned number)
{
	uint8_t kind = log->sites[sample->frames[0].site].kind;

	return number == 1 && kind != OPERATION_CALL && kind != OPERATION_CALL_UNPACKED;
}

static bool works_itself(const struct argument_facts *facts, const struct argument_log *log,
			 uint32_t maker)
{
	uint64_t seen = 0, own = 0;

	for (size_t i = 0; i < log->sample_count; i++) {
		const struct argument_sample *sample = &log->samples[i];

		for (unsigned f = 0; f < sample->frame_count; f++) {
			if (sample->frames[f].site != maker)
				continue;
			seen++;
			own += f > 1 || (f && facts[sample->frames[0].site].call.in_loop);
			break;
		}
	}
	return (double)own > OWN_WORK_MOST * (double)seen;
}

/* As far as its operands are known: a text may be what comes of it. */
static bool is_reckoning(const struct argument_site *site)
{
	for (size_t i = 0; i < site->operand_count; i++)
		if (!argument_is_number(site->operands[i].kind))
			return false;
	return site->kind == OPERATION_BINARY || site->kind == OPERATION_COMPARE ||
	       site->kind == OPERATION_UNARY;
}

/* What the function for each item does is seen often enough, and is done with numbers. */
static bool reckons(const struct argument_log *log, uint32_t maker)
{
	uint64_t seen = 0, numbers = 0;

	for (size_t i = 0; i < log->sample_count; i++) {
		const struct argument_sample *sample = &log->samples[i];
		const struct argument_site *inner = &log->sites[sample->frames[0].site];

		if (sample->frame_count < 2 || sample->frames[1].site != maker ||
		    inner->kind == OPERATION_OTHER)
			continue;
		seen++;
		numbers += is_reckoning(inner);
	}
	return seen >= RECKONING_MIN && (double)numbers > RECKONING_PART * (double)seen;
}

void argument_groups_judge(struct argument_facts *facts, const struct argument_log *log)
{
	for (uint32_t id = 0; id < log->site_count; id++) {
		enum slow_when when =
			facts[id].slow ? slow_call_get(log->sites[id].slow)->when : SLOW_ALWAYS;

		if ((when == SLOW_GROUPS || when == SLOW_ITEMS) && works_itself(facts, log, id))
			facts[id].slow = false;
		if (when == SLOW_ITEMS && !reckons(log, id))
			facts[id].slow = false;
	}
}

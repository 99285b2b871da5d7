/* SPDX-License-Identifier: Apache-2.0 */
#include "daemon/window_fields.h"

#include "daemon/cct/pair_table.h"
#include "daemon/report/profile.h"

#include <string.h>

#define FIELD(type, member, rule)                                                                  \
	{                                                                                          \
#member, offsetof(struct type, member), sizeof(((struct type *)0)->member), rule   \
	}

static const struct window_field pair[] = {
	FIELD(pair, kind, WINDOW_SAME),
	FIELD(pair, first, WINDOW_SAME),
	FIELD(pair, second, WINDOW_SAME),
	FIELD(pair, verdicts, WINDOW_SUBTRACT),
	FIELD(pair, same_instruction, WINDOW_SUBTRACT),
	FIELD(pair, distance_ns_sum, WINDOW_SUBTRACT),
	FIELD(pair, bytes, WINDOW_SUBTRACT),
	FIELD(pair, settled, WINDOW_SUBTRACT),
	FIELD(pair, settled_same, WINDOW_SUBTRACT),
};

static const struct window_field origin[] = {
	FIELD(pair_origin, kind, WINDOW_SAME),
	FIELD(pair_origin, node, WINDOW_SAME),
	FIELD(pair_origin, sampled, WINDOW_BY_HAND), /* what its pairs and `never` have */
	FIELD(pair_origin, never, WINDOW_SUBTRACT),
	FIELD(pair_origin, verdicts, WINDOW_BY_HAND), /* what its pairs have */
	FIELD(pair_origin, by_memory, WINDOW_SUBTRACT),
	FIELD(pair_origin, redundant_by_memory, WINDOW_SUBTRACT),
	FIELD(pair_origin, call_count, WINDOW_SUBTRACT),
	FIELD(pair_origin, call_ns_sum, WINDOW_SUBTRACT),
	FIELD(pair_origin, call_ns, WINDOW_SAME),         /* of the whole run */
	FIELD(pair_origin, call_ns_kept, WINDOW_BY_HAND), /* none without calls in the window */
};

static const struct window_field side[] = {
	FIELD(side_time, waiting_ns, WINDOW_SUBTRACT),
	FIELD(side_time, collecting_ns, WINDOW_SUBTRACT),
	FIELD(side_time, contending_ns, WINDOW_SUBTRACT),
};

static const struct window_field thread[] = {
	FIELD(profile_thread, pid, WINDOW_SAME),
	FIELD(profile_thread, tid, WINDOW_SAME),
	FIELD(profile_thread, name, WINDOW_SAME),
	FIELD(profile_thread, time_ns, WINDOW_SUBTRACT),
	FIELD(profile_thread, side, WINDOW_SUBTRACT),
	FIELD(profile_thread, gil_ns, WINDOW_SUBTRACT),
	FIELD(profile_thread, gil_asleep_ns, WINDOW_SUBTRACT),
};

static const struct window_field facts[] = {
	FIELD(profile_facts, target, WINDOW_SAME),
	FIELD(profile_facts, version, WINDOW_SAME),
	FIELD(profile_facts, sampler, WINDOW_SAME),
	FIELD(profile_facts, sampler_limits, WINDOW_SAME),
	FIELD(profile_facts, period_ns, WINDOW_SAME),
	FIELD(profile_facts, started_unix_ns, WINDOW_BY_HAND), /* the mark's moment */
	FIELD(profile_facts, process_started_unix_ns, WINDOW_SAME),
	FIELD(profile_facts, duration_ns, WINDOW_SUBTRACT),
	FIELD(profile_facts, samples, WINDOW_SUBTRACT),
	FIELD(profile_facts, losses, WINDOW_BY_HAND), /* some are states, which do not only grow */
	FIELD(profile_facts, stops, WINDOW_BY_HAND),  /* of the histograms of the window */
	FIELD(profile_facts, sample_stops, WINDOW_BY_HAND),
	FIELD(profile_facts, breakpoint_stops, WINDOW_BY_HAND),
	FIELD(profile_facts, stop_histograms, WINDOW_SAME), /* their place; the contents by hand */
	FIELD(profile_facts, lost_ns, WINDOW_SUBTRACT),
	FIELD(profile_facts, cpu_ns, WINDOW_SUBTRACT),
	FIELD(profile_facts, queued_ns, WINDOW_SUBTRACT),
	FIELD(profile_facts, overhead, WINDOW_BY_HAND), /* of the above */
	FIELD(profile_facts, overhead_limit, WINDOW_SAME),
	FIELD(profile_facts, target_exited, WINDOW_SAME),
	FIELD(profile_facts, unfinished, WINDOW_BY_HAND), /* a window has an end of its own */
	FIELD(profile_facts, other_root, WINDOW_SAME),
	FIELD(profile_facts, waits, WINDOW_SAME),
	FIELD(profile_facts, gil_known, WINDOW_SAME),
	FIELD(profile_facts, queued_known, WINDOW_SAME),
	FIELD(profile_facts, kernel_time_refused, WINDOW_SAME),
	FIELD(profile_facts, all_pairs, WINDOW_SAME),
	FIELD(profile_facts, patterns, WINDOW_SAME),
	FIELD(profile_facts, line_info, WINDOW_SAME),
	FIELD(profile_facts, threads, WINDOW_SAME), /* their place; the contents by their table */
	FIELD(profile_facts, thread_count, WINDOW_SAME),
	FIELD(profile_facts, thread_timeline, WINDOW_SAME), /* none in a window */
	FIELD(profile_facts, node_timeline, WINDOW_SAME),   /* likewise */
	FIELD(profile_facts, open_source, WINDOW_SAME),
	FIELD(profile_facts, open_source_context, WINDOW_SAME),
};

#define TABLE(type, fields)                                                                        \
	{                                                                                          \
#type, sizeof(struct type), fields, sizeof(fields) / sizeof((fields)[0])           \
	}

static const struct window_table tables[WINDOW_TABLE_COUNT] = {
	[WINDOW_PAIR] = TABLE(pair, pair),
	[WINDOW_ORIGIN] = TABLE(pair_origin, origin),
	[WINDOW_SIDE_TIME] = TABLE(side_time, side),
	[WINDOW_THREAD] = TABLE(profile_thread, thread),
	[WINDOW_FACTS] = TABLE(profile_facts, facts),
};

const struct window_table *window_table(enum window_table_id id)
{
	return &tables[id];
}

static void subtract_words(const struct window_field *field, void *now, const void *before)
{
	for (size_t at = 0; at + sizeof(uint64_t) <= field->size; at += sizeof(uint64_t)) {
		uint64_t a, b;

		memcpy(&a, (char *)now + field->offset + at, sizeof(a));
		memcpy(&b, (const char *)before + field->offset + at, sizeof(b));
		a = a > b ? a - b : 0;
		memcpy((char *)now + field->offset + at, &a, sizeof(a));
	}
}

void window_subtract(enum window_table_id id, void *now, const void *before)
{
	for (size_t i = 0; i < tables[id].count; i++)
		if (tables[id].fields[i].rule == WINDOW_SUBTRACT)
			subtract_words(&tables[id].fields[i], now, before);
}

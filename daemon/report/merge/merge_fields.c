/* SPDX-License-Identifier: Apache-2.0 */
#include "daemon/report/merge/merge_fields.h"

#include <string.h>

#define FIELD(type, member, rule)                                                                  \
	{                                                                                          \
#member, offsetof(struct type, member), sizeof(((struct type *)0)->member), rule   \
	}

static const struct merge_field line[] = {
	FIELD(profile_line, file, MERGE_KEY),
	FIELD(profile_line, line, MERGE_KEY),
	FIELD(profile_line, function, MERGE_BY_HAND), /* the plainest name */
	FIELD(profile_line, source, MERGE_BY_HAND),
	FIELD(profile_line, indent, MERGE_BY_HAND),
	FIELD(profile_line, self_ns, MERGE_SUM),
	FIELD(profile_line, side, MERGE_SUM),
	FIELD(profile_line, total_ns, MERGE_SUM),
	FIELD(profile_line, charged_ns, MERGE_DERIVED),
	FIELD(profile_line, accesses, MERGE_SUM),
	FIELD(profile_line, avoidable_ns, MERGE_DERIVED),
	FIELD(profile_line, avoidable_low_ns, MERGE_DERIVED),
	FIELD(profile_line, avoidable_high_ns, MERGE_DERIVED),
	FIELD(profile_line, call_ns, MERGE_DERIVED),
	FIELD(profile_line, evidence, MERGE_SUM),
	FIELD(profile_line, category, MERGE_DERIVED),
	FIELD(profile_line, reasons, MERGE_DERIVED),
	FIELD(profile_line, reason_count, MERGE_DERIVED),
	/* Of the process with most to say. */
	FIELD(profile_line, finding, MERGE_BY_HAND),
	FIELD(profile_line, finding_ns, MERGE_BY_HAND),
	FIELD(profile_line, expression, MERGE_BY_HAND),
	FIELD(profile_line, example, MERGE_BY_HAND),
	FIELD(profile_line, column, MERGE_BY_HAND),
	FIELD(profile_line, end_column, MERGE_BY_HAND),
	FIELD(profile_line, end_line, MERGE_BY_HAND),
};

static const struct merge_field function[] = {
	FIELD(profile_function, file, MERGE_KEY),
	FIELD(profile_function, function, MERGE_KEY),
	FIELD(profile_function, line, MERGE_BY_HAND), /* the first */
	FIELD(profile_function, self_ns, MERGE_SUM),
	FIELD(profile_function, side, MERGE_SUM),
	FIELD(profile_function, total_ns, MERGE_SUM),
	FIELD(profile_function, accesses, MERGE_SUM),
	FIELD(profile_function, avoidable_ns, MERGE_DERIVED),
};

static const struct merge_field pair[] = {
	FIELD(profile_pair, kind, MERGE_KEY),
	FIELD(profile_pair, watched, MERGE_SUM),
	FIELD(profile_pair, sampled, MERGE_SUM),
	FIELD(profile_pair, redundant, MERGE_SUM),
	FIELD(profile_pair, approximate, MERGE_SUM),
	FIELD(profile_pair, share, MERGE_DERIVED),
	FIELD(profile_pair, share_low, MERGE_DERIVED),
	FIELD(profile_pair, share_high, MERGE_DERIVED),
	FIELD(profile_pair, avoidable_ns, MERGE_DERIVED),
	FIELD(profile_pair, support, MERGE_SUM),
	FIELD(profile_pair, category, MERGE_DERIVED),
	FIELD(profile_pair, advice, MERGE_DERIVED),
	FIELD(profile_pair, first, MERGE_BY_HAND), /* of those alike, the first in order */
	FIELD(profile_pair, first_count, MERGE_BY_HAND),
	FIELD(profile_pair, second, MERGE_BY_HAND),
	FIELD(profile_pair, second_count, MERGE_BY_HAND),
	FIELD(profile_pair, line, MERGE_BY_HAND),
};

static const struct merge_field frame[] = {
	FIELD(profile_frame, kind, MERGE_KEY),
	FIELD(profile_frame, flags, MERGE_KEY),
	FIELD(profile_frame, function, MERGE_KEY),
	FIELD(profile_frame, file, MERGE_KEY),
	FIELD(profile_frame, line, MERGE_KEY),
	FIELD(profile_frame, native_file, MERGE_KEY),
	FIELD(profile_frame, inlined, MERGE_KEY),
	FIELD(profile_frame, opcode, MERGE_KEY),
	FIELD(profile_frame, source, MERGE_KEY),
	FIELD(profile_frame, address, MERGE_KEY),
	FIELD(profile_frame, function_address, MERGE_KEY),
	FIELD(profile_frame, build_id, MERGE_KEY),
};

static const struct merge_field node[] = {
	FIELD(profile_node, parent, MERGE_KEY),
	FIELD(profile_node, frame, MERGE_KEY),
	FIELD(profile_node, depth, MERGE_KEY),
	FIELD(profile_node, flags, MERGE_BY_HAND), /* those in both */
	FIELD(profile_node, samples, MERGE_SUM),
	FIELD(profile_node, time_ns, MERGE_SUM),
	FIELD(profile_node, side, MERGE_SUM),
};

static const struct merge_field tree[] = {
	FIELD(profile_tree, frames, MERGE_BY_HAND),
	FIELD(profile_tree, frame_count, MERGE_BY_HAND),
	FIELD(profile_tree, nodes, MERGE_BY_HAND),
	FIELD(profile_tree, node_count, MERGE_BY_HAND),
	FIELD(profile_tree, nodes_folded, MERGE_BY_HAND),
};

static const struct merge_field thread[] = {
	FIELD(profile_thread, pid, MERGE_KEY),
	FIELD(profile_thread, tid, MERGE_KEY),
	FIELD(profile_thread, name, MERGE_KEY),
	FIELD(profile_thread, time_ns, MERGE_SUM),
	FIELD(profile_thread, side, MERGE_SUM),
	FIELD(profile_thread, gil_ns, MERGE_SUM),
	FIELD(profile_thread, gil_asleep_ns, MERGE_SUM),
	FIELD(profile_thread, unstopped_ns, MERGE_SUM),
};

static const struct merge_field stack[] = {
	FIELD(profile_stack, thread, MERGE_KEY),     FIELD(profile_stack, node, MERGE_KEY),
	FIELD(profile_stack, samples, MERGE_SUM),    FIELD(profile_stack, time_ns, MERGE_SUM),
	FIELD(profile_stack, waiting_ns, MERGE_SUM),
};

/* Processes stay apart; those for which there is no room are added up. */
static const struct merge_field process[] = {
	FIELD(profile_process, pid, MERGE_KEY),
	FIELD(profile_process, parent, MERGE_KEY),
	FIELD(profile_process, end, MERGE_KEY),
	FIELD(profile_process, end_status, MERGE_KEY),
	FIELD(profile_process, command, MERGE_KEY),
	FIELD(profile_process, container, MERGE_KEY),
	FIELD(profile_process, labels, MERGE_KEY),
	FIELD(profile_process, started_unix_ns, MERGE_KEY),
	FIELD(profile_process, samples, MERGE_SUM),
	FIELD(profile_process, time_ns, MERGE_SUM),
};

static const struct merge_field histogram[] = {
	FIELD(stop_histogram, counts, MERGE_SUM),
	FIELD(stop_histogram, count, MERGE_SUM),
	FIELD(stop_histogram, sum_ns, MERGE_SUM),
	FIELD(stop_histogram, max_ns, MERGE_MAX),
};

static const struct merge_field facts[] = {
	FIELD(profile_facts, target, MERGE_BY_HAND), /* the process that was there first */
	FIELD(profile_facts, version, MERGE_BY_HAND),
	FIELD(profile_facts, sampler, MERGE_BY_HAND),
	FIELD(profile_facts, sampler_limits, MERGE_BY_HAND), /* of any that has some */
	FIELD(profile_facts, deadlock, MERGE_BY_HAND),       /* likewise */
	FIELD(profile_facts, period_ns, MERGE_MAX),
	FIELD(profile_facts, wanted_period_ns, MERGE_MAX),
	FIELD(profile_facts, started_unix_ns, MERGE_BY_HAND), /* from the first's begin ... */
	FIELD(profile_facts, duration_ns, MERGE_BY_HAND),     /* ... to the last's end */
	FIELD(profile_facts, samples, MERGE_SUM),
	FIELD(profile_facts, losses, MERGE_SUM),
	FIELD(profile_facts, stops, MERGE_DERIVED),
	FIELD(profile_facts, sample_stops, MERGE_DERIVED),
	FIELD(profile_facts, breakpoint_stops, MERGE_DERIVED),
	FIELD(profile_facts, stop_histograms, MERGE_BY_HAND),
	FIELD(profile_facts, lost_ns, MERGE_SUM),
	FIELD(profile_facts, cpu_ns, MERGE_SUM),
	FIELD(profile_facts, queued_ns, MERGE_SUM),
	FIELD(profile_facts, throttled_ns, MERGE_MAX), /* they may be of one group */
	FIELD(profile_facts, machine_idle_ns, MERGE_SUM),
	FIELD(profile_facts, machine_ns, MERGE_SUM),
	FIELD(profile_facts, peeks, MERGE_SUM),
	FIELD(profile_facts, peeks_seen, MERGE_SUM),
	FIELD(profile_facts, peeks_waited, MERGE_SUM),
	FIELD(profile_facts, overhead, MERGE_DERIVED),
	FIELD(profile_facts, overhead_limit, MERGE_BY_HAND), /* the greatest */
	FIELD(profile_facts, target_exited, MERGE_BOTH),
	FIELD(profile_facts, kernel_time_refused, MERGE_EITHER),
	FIELD(profile_facts, unfinished, MERGE_EITHER),
	FIELD(profile_facts, other_root, MERGE_EITHER),
	FIELD(profile_facts, waits, MERGE_EITHER),
	FIELD(profile_facts, memory, MERGE_EITHER),
	FIELD(profile_facts, copies, MERGE_EITHER),
	FIELD(profile_facts, allocations, MERGE_EITHER),
	FIELD(profile_facts, malloc_unseen, MERGE_EITHER),
	FIELD(profile_facts, small_objects, MERGE_MAX),
	FIELD(profile_facts, allocation_counts, MERGE_SUM),
	FIELD(profile_facts, resident, MERGE_BY_HAND), /* merge_resident.h */
	FIELD(profile_facts, gil_known, MERGE_BOTH),
	FIELD(profile_facts, native_unknown, MERGE_EITHER),
	FIELD(profile_facts, queued_known, MERGE_BOTH),
	FIELD(profile_facts, process_started_unix_ns, MERGE_BY_HAND), /* the target's */
	/* By the time of day: merge_timeline.h. */
	FIELD(profile_facts, thread_timeline, MERGE_BY_HAND),
	FIELD(profile_facts, node_timeline, MERGE_BY_HAND),
	FIELD(profile_facts, stack_timeline, MERGE_BY_HAND),
	FIELD(profile_facts, stacks, MERGE_BY_HAND), /* by their threads and nodes */
	FIELD(profile_facts, stack_count, MERGE_BY_HAND),
	FIELD(profile_facts, all_pairs, MERGE_BY_HAND),
	/* Of use only while a profile is made. */
	FIELD(profile_facts, patterns, MERGE_BY_HAND),
	FIELD(profile_facts, line_info, MERGE_BY_HAND),
	FIELD(profile_facts, arguments, MERGE_BY_HAND),
	FIELD(profile_facts, threads, MERGE_BY_HAND),
	FIELD(profile_facts, thread_count, MERGE_BY_HAND),
	FIELD(profile_facts, start_frames, MERGE_BY_HAND),
	FIELD(profile_facts, open_source, MERGE_BY_HAND),
	FIELD(profile_facts, open_source_context, MERGE_BY_HAND),
	FIELD(profile_facts, source_memory, MERGE_BY_HAND),
};

static const struct merge_field profile[] = {
	FIELD(profile, facts, MERGE_BY_HAND), /* by its table */
	FIELD(profile, lines, MERGE_BY_HAND),
	FIELD(profile, line_count, MERGE_BY_HAND),
	FIELD(profile, functions, MERGE_BY_HAND),
	FIELD(profile, function_count, MERGE_BY_HAND),
	FIELD(profile, pairs, MERGE_BY_HAND),
	FIELD(profile, pair_count, MERGE_BY_HAND),
	FIELD(profile, pairs_omitted, MERGE_BY_HAND),
	FIELD(profile, tree, MERGE_BY_HAND),
	FIELD(profile, processes, MERGE_BY_HAND),
	FIELD(profile, process_count, MERGE_BY_HAND),
	FIELD(profile, time_ns, MERGE_SUM),
	FIELD(profile, accesses, MERGE_SUM),
	FIELD(profile, side, MERGE_SUM),
	FIELD(profile, gil_ns, MERGE_SUM),
	FIELD(profile, sources, MERGE_BY_HAND),
	FIELD(profile, source_count, MERGE_BY_HAND),
	FIELD(profile, findings, MERGE_DERIVED),
	FIELD(profile, finding_count, MERGE_DERIVED),
};

#define TABLE(type, fields)                                                                        \
	{                                                                                          \
#type, sizeof(struct type), fields, sizeof(fields) / sizeof((fields)[0])           \
	}

static const struct merge_table tables[MERGE_TABLE_COUNT] = {
	[MERGE_LINE] = TABLE(profile_line, line),
	[MERGE_FUNCTION] = TABLE(profile_function, function),
	[MERGE_PAIR] = TABLE(profile_pair, pair),
	[MERGE_FRAME] = TABLE(profile_frame, frame),
	[MERGE_NODE] = TABLE(profile_node, node),
	[MERGE_TREE] = TABLE(profile_tree, tree),
	[MERGE_THREAD] = TABLE(profile_thread, thread),
	[MERGE_STACK] = TABLE(profile_stack, stack),
	[MERGE_PROCESS] = TABLE(profile_process, process),
	[MERGE_HISTOGRAM] = TABLE(stop_histogram, histogram),
	[MERGE_FACTS] = TABLE(profile_facts, facts),
	[MERGE_PROFILE] = TABLE(profile, profile),
};

const struct merge_table *merge_table(enum merge_table_id id)
{
	return &tables[id];
}

static void merge_words(const struct merge_field *field, void *into, const void *from)
{
	for (size_t at = 0; at + sizeof(uint64_t) <= field->size; at += sizeof(uint64_t)) {
		uint64_t a, b;

		memcpy(&a, (char *)into + field->offset + at, sizeof(a));
		memcpy(&b, (const char *)from + field->offset + at, sizeof(b));
		if (field->rule == MERGE_SUM)
			a += b;
		else if (b > a)
			a = b;
		memcpy((char *)into + field->offset + at, &a, sizeof(a));
	}
}

static void merge_bool(const struct merge_field *field, void *into, const void *from)
{
	bool a, b;

	memcpy(&a, (char *)into + field->offset, sizeof(a));
	memcpy(&b, (const char *)from + field->offset, sizeof(b));
	a = field->rule == MERGE_BOTH ? a && b : a || b;
	memcpy((char *)into + field->offset, &a, sizeof(a));
}

void merge_fields(enum merge_table_id id, void *into, const void *from)
{
	for (size_t i = 0; i < tables[id].count; i++) {
		const struct merge_field *field = &tables[id].fields[i];

		switch (field->rule) {
		case MERGE_SUM:
		case MERGE_MAX:
			merge_words(field, into, from);
			break;
		case MERGE_EITHER:
		case MERGE_BOTH:
			merge_bool(field, into, from);
			break;
		case MERGE_KEY:
		case MERGE_DERIVED:
		case MERGE_BY_HAND:
			break;
		}
	}
}

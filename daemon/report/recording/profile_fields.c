/* SPDX-License-Identifier: Apache-2.0 */
#include "daemon/report/recording/profile_fields.h"

#define SIZE_OF(type, member) sizeof(((type *)0)->member)
#define PLACE(type, member)   .offset = offsetof(type, member), .size = SIZE_OF(type, member)

/* A size that does not fit the kind is an array of negative length. */
#define CHECKED(name, condition) (name) + 0 * sizeof(char[(condition) ? 1 : -1])

#define WORDS(type, member)                                                                        \
	{                                                                                          \
		.name = CHECKED(#member, SIZE_OF(type, member) % 8 == 0), .kind = FIELD_WORDS,     \
		PLACE(type, member)                                                                \
	}
#define NUMBER(type, member, maximum)                                                              \
	{                                                                                          \
		.name = CHECKED(#member, SIZE_OF(type, member) <= 4), .kind = FIELD_NUMBER,        \
		PLACE(type, member), .limit = (maximum)                                            \
	}
#define BOOL(type, member) NUMBER(type, member, 2)
#define REAL(type, member)                                                                         \
	{                                                                                          \
		.name = CHECKED(#member, SIZE_OF(type, member) == sizeof(double)),                 \
		.kind = FIELD_REAL, PLACE(type, member)                                            \
	}
#define TEXT(type, member)                                                                         \
	{                                                                                          \
		.name = #member, .kind = FIELD_TEXT, PLACE(type, member)                           \
	}
#define STRING(type, member)                                                                       \
	{                                                                                          \
		.name = #member, .kind = FIELD_STRING, PLACE(type, member)                         \
	}
#define STRING_OR_NULL(type, member)                                                               \
	{                                                                                          \
		.name = #member, .kind = FIELD_STRING_OR_NULL, PLACE(type, member)                 \
	}
#define ROWS(type, member, count, rows)                                                            \
	{                                                                                          \
		.name = #member, .kind = FIELD_ROWS, PLACE(type, member),                          \
		.count_offset = offsetof(type, count), .table = &(rows)                            \
	}
#define TIMELINE(type, member, rows)                                                               \
	WORDS(type, member.slice_ns), WORDS(type, member.slice_count),                             \
		ROWS(type, member.cells, member.cell_count, rows), WORDS(type, member.left_out_ns)
#define LABELS(type, member)                                                                       \
	TEXT(type, member.service), TEXT(type, member.version), TEXT(type, member.revision),       \
		TEXT(type, member.namespace), TEXT(type, member.pod), TEXT(type, member.pod_uid)
#define LINE(type, member)                                                                         \
	{                                                                                          \
		.name = #member, .kind = FIELD_LINE, PLACE(type, member)                           \
	}

#define TABLE(identifier, title, type, maximum)                                                    \
	static const struct table identifier = { .name = (title),                                  \
						 .row_size = sizeof(type),                         \
						 .rows_max = (maximum),                            \
						 .fields = identifier##_fields,                    \
						 .field_count = sizeof(identifier##_fields) /      \
								sizeof(identifier##_fields[0]) }

/* What is not capped where it is made: more than any target was seen to have, by far. */
#define ROWS_MAX (1u << 20)

static const struct field frame_fields[] = {
	NUMBER(struct profile_frame, kind, FRAME_PROCESS + 1),
	NUMBER(struct profile_frame, flags, 0),
	STRING(struct profile_frame, function),
	STRING(struct profile_frame, file),
	NUMBER(struct profile_frame, line, 0),
	STRING_OR_NULL(struct profile_frame, native_file),
	BOOL(struct profile_frame, inlined),
	STRING_OR_NULL(struct profile_frame, opcode),
	STRING_OR_NULL(struct profile_frame, source),
	WORDS(struct profile_frame, address),
	WORDS(struct profile_frame, function_address),
	STRING_OR_NULL(struct profile_frame, build_id),
};

#define first_path_fields  frame_fields
#define second_path_fields frame_fields
#define tree_frame_fields  frame_fields
TABLE(first_path, "pairs.first", struct profile_frame, 64 * ROWS_MAX);
TABLE(second_path, "pairs.second", struct profile_frame, 64 * ROWS_MAX);
TABLE(tree_frame, "tree.frames", struct profile_frame, ROWS_MAX);

static const struct field line_fields[] = {
	STRING(struct profile_line, file),
	NUMBER(struct profile_line, line, 0),
	STRING(struct profile_line, function),
	STRING_OR_NULL(struct profile_line, source),
	WORDS(struct profile_line, self_ns),
	WORDS(struct profile_line, side),
	WORDS(struct profile_line, total_ns),
	WORDS(struct profile_line, charged_ns),
	WORDS(struct profile_line, accesses),
	WORDS(struct profile_line, avoidable_ns),
	WORDS(struct profile_line, avoidable_low_ns),
	WORDS(struct profile_line, avoidable_high_ns),
	WORDS(struct profile_line, call_ns),
	WORDS(struct profile_line, evidence),
	NUMBER(struct profile_line, category, CATEGORY_COUNT),
	STRING_OR_NULL(struct profile_line, reasons),
	WORDS(struct profile_line, reason_count),
	STRING_OR_NULL(struct profile_line, finding),
	WORDS(struct profile_line, finding_ns),
	STRING_OR_NULL(struct profile_line, expression),
	STRING_OR_NULL(struct profile_line, example),
	NUMBER(struct profile_line, column, 0),
	NUMBER(struct profile_line, end_column, 0),
	NUMBER(struct profile_line, end_line, 0),
	NUMBER(struct profile_line, indent, 0),
};
TABLE(line, "lines", struct profile_line, ROWS_MAX);

static const struct field function_fields[] = {
	STRING(struct profile_function, file),    STRING(struct profile_function, function),
	NUMBER(struct profile_function, line, 0), WORDS(struct profile_function, self_ns),
	WORDS(struct profile_function, side),     WORDS(struct profile_function, total_ns),
	WORDS(struct profile_function, accesses), WORDS(struct profile_function, avoidable_ns),
};
TABLE(function, "functions", struct profile_function, ROWS_MAX);

static const struct field pair_fields[] = {
	NUMBER(struct profile_pair, kind, PAIR_KIND_COUNT),
	WORDS(struct profile_pair, watched),
	WORDS(struct profile_pair, sampled),
	WORDS(struct profile_pair, redundant),
	WORDS(struct profile_pair, approximate),
	REAL(struct profile_pair, share),
	REAL(struct profile_pair, share_low),
	REAL(struct profile_pair, share_high),
	WORDS(struct profile_pair, avoidable_ns),
	WORDS(struct profile_pair, support),
	NUMBER(struct profile_pair, category, CATEGORY_COUNT),
	STRING_OR_NULL(struct profile_pair, advice),
	ROWS(struct profile_pair, first, first_count, first_path),
	ROWS(struct profile_pair, second, second_count, second_path),
	LINE(struct profile_pair, line),
};
TABLE(pair, "pairs", struct profile_pair, PROFILE_PAIRS_MAX);

static const struct field node_fields[] = {
	NUMBER(struct profile_node, parent, 0), NUMBER(struct profile_node, frame, 0),
	NUMBER(struct profile_node, depth, 0),  NUMBER(struct profile_node, flags, 0),
	WORDS(struct profile_node, samples),    WORDS(struct profile_node, time_ns),
	WORDS(struct profile_node, side),
};
TABLE(node, "tree.nodes", struct profile_node, PROFILE_NODES_MAX);

static const struct field thread_fields[] = {
	NUMBER(struct profile_thread, pid, 0),       NUMBER(struct profile_thread, tid, 0),
	TEXT(struct profile_thread, name),           WORDS(struct profile_thread, time_ns),
	WORDS(struct profile_thread, side),          WORDS(struct profile_thread, gil_ns),
	WORDS(struct profile_thread, gil_asleep_ns), WORDS(struct profile_thread, unstopped_ns),
};
TABLE(thread, "threads", struct profile_thread, ROWS_MAX);

static const struct field cell_fields[] = {
	NUMBER(struct profile_cell, owner, 0),
	NUMBER(struct profile_cell, slice, 0),
	WORDS(struct profile_cell, time_ns),
};
#define thread_cell_fields cell_fields
#define node_cell_fields   cell_fields
TABLE(thread_cell, "timeline.threads", struct profile_cell, ROWS_MAX);
#define stack_cell_fields cell_fields
TABLE(node_cell, "timeline.nodes", struct profile_cell, ROWS_MAX);
TABLE(stack_cell, "timeline.stacks", struct profile_cell, ROWS_MAX);

static const struct field stack_fields[] = {
	NUMBER(struct profile_stack, thread, 0), NUMBER(struct profile_stack, node, 0),
	WORDS(struct profile_stack, samples),    WORDS(struct profile_stack, time_ns),
	WORDS(struct profile_stack, waiting_ns),
};
TABLE(stack, "stacks", struct profile_stack, ROWS_MAX);

static const struct field point_fields[] = {
	WORDS(struct resident_point, time_ns),
	WORDS(struct resident_point, bytes),
};
TABLE(point, "resident", struct resident_point, RESIDENT_POINTS_MAX);

static const struct field text_fields[] = {
	NUMBER(struct profile_text, line, 0),
	STRING(struct profile_text, text),
};
TABLE(text, "sources.texts", struct profile_text, ROWS_MAX);

static const struct field source_fields[] = {
	STRING(struct profile_source, file),
	STRING(struct profile_source, sha256),
	WORDS(struct profile_source, size),
	WORDS(struct profile_source, modified_unix_ns),
	BOOL(struct profile_source, newer_than_process),
	ROWS(struct profile_source, texts, text_count, text),
};
TABLE(source, "sources", struct profile_source, ROWS_MAX);

static const struct field process_fields[] = {
	NUMBER(struct profile_process, pid, 0),
	NUMBER(struct profile_process, parent, 0),
	NUMBER(struct profile_process, end, PROCESS_REPLACED + 1),
	NUMBER(struct profile_process, end_status, 0),
	STRING(struct profile_process, command),
	TEXT(struct profile_process, container.runtime),
	TEXT(struct profile_process, container.id),
	TEXT(struct profile_process, container.name),
	LABELS(struct profile_process, labels),
	WORDS(struct profile_process, started_unix_ns),
	WORDS(struct profile_process, samples),
	WORDS(struct profile_process, time_ns),
};
TABLE(process, "processes", struct profile_process, 4096);

static const struct field loss_fields[] = {
	STRING(struct recorded_loss, name),
	WORDS(struct recorded_loss, count),
};
TABLE(loss, "losses", struct recorded_loss, 1024);

static const struct field word_fields[] = {
	STRING(struct recorded_word, text),
};
TABLE(word, "command", struct recorded_word, 4096);

static const struct field profile_fields[] = {
	NUMBER(struct recorded_profile, profile.facts.target.pid, 0),
	NUMBER(struct recorded_profile, profile.facts.target.parent, 0),
	WORDS(struct recorded_profile, profile.facts.target.start_time),
	NUMBER(struct recorded_profile, profile.facts.target.end, PROCESS_REPLACED + 1),
	NUMBER(struct recorded_profile, profile.facts.target.end_status, 0),
	TEXT(struct recorded_profile, profile.facts.target.comm),
	TEXT(struct recorded_profile, profile.facts.target.container.runtime),
	TEXT(struct recorded_profile, profile.facts.target.container.id),
	TEXT(struct recorded_profile, profile.facts.target.container.name),
	LABELS(struct recorded_profile, profile.facts.target.labels),
	TEXT(struct recorded_profile, profile.facts.target.host),
	NUMBER(struct recorded_profile, profile.facts.target.processors, 0),
	NUMBER(struct recorded_profile, profile.facts.target.python.major, 0),
	NUMBER(struct recorded_profile, profile.facts.target.python.minor, 0),
	NUMBER(struct recorded_profile, profile.facts.target.python.micro, 0),
	BOOL(struct recorded_profile, profile.facts.target.python.free_threaded),
	STRING(struct recorded_profile, profile.facts.version),
	STRING(struct recorded_profile, profile.facts.sampler),
	STRING_OR_NULL(struct recorded_profile, profile.facts.sampler_limits),
	STRING_OR_NULL(struct recorded_profile, profile.facts.deadlock),
	WORDS(struct recorded_profile, profile.facts.period_ns),
	WORDS(struct recorded_profile, profile.facts.wanted_period_ns),
	WORDS(struct recorded_profile, profile.facts.started_unix_ns),
	WORDS(struct recorded_profile, profile.facts.process_started_unix_ns),
	WORDS(struct recorded_profile, profile.facts.duration_ns),
	WORDS(struct recorded_profile, profile.facts.samples),
	WORDS(struct recorded_profile, profile.facts.cpu_ns),
	WORDS(struct recorded_profile, profile.facts.queued_ns),
	WORDS(struct recorded_profile, profile.facts.throttled_ns),
	WORDS(struct recorded_profile, profile.facts.machine_idle_ns),
	WORDS(struct recorded_profile, profile.facts.machine_ns),
	WORDS(struct recorded_profile, profile.facts.lost_ns),
	WORDS(struct recorded_profile, profile.facts.peeks),
	WORDS(struct recorded_profile, profile.facts.peeks_seen),
	WORDS(struct recorded_profile, profile.facts.peeks_waited),
	BOOL(struct recorded_profile, profile.facts.all_pairs),
	WORDS(struct recorded_profile, profile.facts.stops),
	WORDS(struct recorded_profile, profile.facts.sample_stops),
	WORDS(struct recorded_profile, profile.facts.breakpoint_stops),
	REAL(struct recorded_profile, profile.facts.overhead),
	REAL(struct recorded_profile, profile.facts.overhead_limit),
	BOOL(struct recorded_profile, profile.facts.target_exited),
	BOOL(struct recorded_profile, profile.facts.kernel_time_refused),
	BOOL(struct recorded_profile, profile.facts.unfinished),
	BOOL(struct recorded_profile, profile.facts.waits),
	BOOL(struct recorded_profile, profile.facts.memory),
	BOOL(struct recorded_profile, profile.facts.copies),
	BOOL(struct recorded_profile, profile.facts.allocations),
	BOOL(struct recorded_profile, profile.facts.malloc_unseen),
	WORDS(struct recorded_profile, profile.facts.small_objects),
	WORDS(struct recorded_profile, profile.facts.allocation_counts),
	WORDS(struct recorded_profile, profile.facts.resident.counts),
	WORDS(struct recorded_profile, profile.facts.resident.peak_bytes),
	BOOL(struct recorded_profile, profile.facts.resident.peak_exact),
	BOOL(struct recorded_profile, profile.facts.resident.kernel_seen),
	ROWS(struct recorded_profile, profile.facts.resident.points,
	     profile.facts.resident.point_count, point),
	BOOL(struct recorded_profile, profile.facts.gil_known),
	BOOL(struct recorded_profile, profile.facts.native_unknown),
	BOOL(struct recorded_profile, profile.facts.queued_known),
	BOOL(struct recorded_profile, profile.facts.other_root),
	ROWS(struct recorded_profile, profile.facts.threads, profile.facts.thread_count, thread),
	TIMELINE(struct recorded_profile, profile.facts.thread_timeline, thread_cell),
	TIMELINE(struct recorded_profile, profile.facts.node_timeline, node_cell),
	ROWS(struct recorded_profile, profile.facts.stacks, profile.facts.stack_count, stack),
	TIMELINE(struct recorded_profile, profile.facts.stack_timeline, stack_cell),
	/* Before the pairs, which point to them. */
	ROWS(struct recorded_profile, profile.lines, profile.line_count, line),
	ROWS(struct recorded_profile, profile.functions, profile.function_count, function),
	ROWS(struct recorded_profile, profile.pairs, profile.pair_count, pair),
	WORDS(struct recorded_profile, profile.pairs_omitted),
	ROWS(struct recorded_profile, profile.tree.frames, profile.tree.frame_count, tree_frame),
	ROWS(struct recorded_profile, profile.tree.nodes, profile.tree.node_count, node),
	WORDS(struct recorded_profile, profile.tree.nodes_folded),
	ROWS(struct recorded_profile, profile.sources, profile.source_count, source),
	ROWS(struct recorded_profile, profile.processes, profile.process_count, process),
	WORDS(struct recorded_profile, profile.time_ns),
	WORDS(struct recorded_profile, profile.side),
	WORDS(struct recorded_profile, profile.gil_ns),
	WORDS(struct recorded_profile, profile.accesses),
	ROWS(struct recorded_profile, losses, loss_count, loss),
	ROWS(struct recorded_profile, command, command_count, word),
};

const struct table profile_table = {
	.name = "profile",
	.row_size = sizeof(struct recorded_profile),
	.rows_max = 1,
	.fields = profile_fields,
	.field_count = sizeof(profile_fields) / sizeof(profile_fields[0]),
};

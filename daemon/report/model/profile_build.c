/* SPDX-License-Identifier: Apache-2.0 */
/*
 *   cct ---------> line_stats (time by line) --.
 *                                              +--> avoidable --> lines, sorted
 *   pair_table --> pair_stats (paths, lines) --'            `---> pairs, sorted
 *
 *   cct ---------> side_times (beside the time: waiting, collector, fresh memory)
 *   cct ---------> call_tree --> tree
 */
#include "daemon/report/model/profile_build.h"
#include "daemon/report/model/finding.h"

#include "daemon/report/model/arena.h"
#include "daemon/report/model/argument_stats.h"
#include "daemon/report/model/call_tree.h"
#include "daemon/report/model/line_estimate.h"
#include "daemon/report/model/owned_profile.h"
#include "daemon/report/model/pair_stats.h"
#include "daemon/report/model/profile_facts.h"
#include "daemon/report/model/profile_sources.h"
#include "daemon/report/model/profile_stacks.h"
#include "daemon/report/model/profile_timeline.h"
#include "daemon/report/model/profile_write.h"
#include "daemon/report/model/shown_frame.h"
#include "daemon/report/model/side_times.h"
#include "daemon/report/model/source.h"
#include "symbolize/line_info.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

struct builder {
	struct owned_profile *owned;
	struct place_table places;
	struct call_site_table sites;
	struct path_table paths;
	struct line_stats lines;
	struct line_stats functions;
	struct pair_stats pairs;
	struct line_entry **sorted_lines;
	struct line_entry **sorted_functions;
	struct pair_entry **sorted_pairs; /* those with a redundant verdict */
	size_t redundant_pairs;
};

static void estimate_pair(struct pair_entry *pair, const struct line_stats *lines)
{
	if (pair->line != LINE_NONE)
		pair->avoidable_ns = line_entry_avoidable_part(&lines->lines[pair->line],
							       pair_entry_redundant(pair));
}

static int build_compare_lines(const void *left, const void *right)
{
	const struct line_entry *a = *(struct line_entry *const *)left;
	const struct line_entry *b = *(struct line_entry *const *)right;
	uint64_t waiting_a, waiting_b;
	int order;

	if (a->total_ns != b->total_ns)
		return a->total_ns > b->total_ns ? -1 : 1;
	waiting_a = side_time_waiting_ns(&a->side);
	waiting_b = side_time_waiting_ns(&b->side);
	if (waiting_a != waiting_b)
		return waiting_a > waiting_b ? -1 : 1;
	order = strcmp(a->file, b->file);
	if (!order)
		order = a->line < b->line ? -1 : a->line > b->line;
	return order ? order : strcmp(a->function, b->function);
}

static int build_compare_pairs(const void *left, const void *right, void *context)
{
	return pair_entry_compare(context, *(struct pair_entry *const *)left,
				  *(struct pair_entry *const *)right);
}

/* Lines that are only passed through by samples of others (none of their time) do not exist. */
static size_t sort_lines(const struct line_stats *stats, struct line_entry **sorted)
{
	size_t count = 0;

	for (size_t i = 0; i < stats->count; i++) {
		struct line_entry *line = &stats->lines[i];

		if (line->total_ns || line_entry_sampled(line) || side_time_any(&line->side))
			sorted[count++] = line;
		else
			line->position = LINE_NONE;
	}
	qsort(sorted, count, sizeof(sorted[0]), build_compare_lines);
	for (size_t i = 0; i < count; i++)
		sorted[i]->position = (uint32_t)i;
	return count;
}

static int build_write_functions(struct builder *builder)
{
	struct owned_profile *owned = builder->owned;
	size_t count = sort_lines(&builder->functions, builder->sorted_functions);
	struct profile_function *functions = arena_array(&owned->arena, count, sizeof(*functions));

	if (!functions)
		return -ENOMEM;
	for (size_t i = 0; i < count; i++) {
		const struct line_entry *entry = builder->sorted_functions[i];
		struct profile_function *function = &functions[i];

		function->file = entry->file;
		function->function = entry->function;
		function->line = entry->line;
		memcpy(function->self_ns, entry->self_ns, sizeof(function->self_ns));
		function->side = entry->side;
		function->total_ns = entry->total_ns;
		memcpy(function->accesses, entry->accesses, sizeof(function->accesses));
		function->avoidable_ns = entry->avoidable.time_ns;
	}
	owned->profile.functions = functions;
	owned->profile.function_count = count;
	return 0;
}

static int build_write_lines(struct builder *builder)
{
	struct owned_profile *owned = builder->owned;
	size_t count = sort_lines(&builder->lines, builder->sorted_lines);
	struct profile_line *lines = arena_array(&owned->arena, count, sizeof(*lines));

	if (!lines)
		return -ENOMEM;
	for (size_t i = 0; i < count; i++) {
		const struct line_entry *entry = builder->sorted_lines[i];

		lines[i].source = source_cache_line(owned->sources, entry->file, entry->line);
		lines[i].indent = source_cache_indent(owned->sources, entry->file, entry->line);
		profile_line_write(&owned->arena, entry, &lines[i]);
	}
	owned->profile.lines = lines;
	owned->profile.line_count = count;
	return owned->arena.failed ? -ENOMEM : 0;
}

/*
 * The functions at a native frame's address, outermost first: the one with the
 * stack frame, then those inlined into it. Without line information that is
 * the frame as it is.
 */
static size_t show_native(struct builder *builder, const struct cct_node *node,
			  const struct place *place,
			  struct profile_frame shown[LINE_INFO_DEPTH_MAX])
{
	struct line_info *info = builder->owned->profile.facts.line_info;
	struct line_frame lines[LINE_INFO_DEPTH_MAX];
	size_t count;

	shown[0] = shown_frame(&node->frame, place, builder->owned->sources);
	if (!info || !node->frame.native.module ||
	    line_info_find(info, node->frame.native.module, node->frame.native.pc, lines,
			   LINE_INFO_DEPTH_MAX, &count))
		return 1;
	for (size_t i = 0; i < count; i++) {
		const struct line_frame *line = &lines[count - 1 - i];

		shown[i] = shown[0];
		shown[i].inlined = line->is_inlined;
		shown[i].line = line->line;
		shown[i].native_file = line->file;
		/* The symbol's name is the better one for the function itself. */
		if (i > 0 && line->function)
			shown[i].function = line->function;
	}
	return count;
}

static size_t show_node(struct builder *builder, const struct cct_node *node,
			struct profile_frame shown[LINE_INFO_DEPTH_MAX])
{
	uint32_t place;

	if (place_table_find(&builder->places, &node->frame, &place))
		return 0;
	if (node->frame.kind == FRAME_NATIVE)
		return show_native(builder, node, &builder->places.places[place], shown);
	shown[0] =
		shown_frame(&node->frame, &builder->places.places[place], builder->owned->sources);
	return 1;
}

/* Outermost first. NULL: no memory. */
static const struct profile_frame *write_path(struct builder *builder, const struct cct_node *leaf,
					      size_t *ret_count)
{
	struct profile_frame shown[LINE_INFO_DEPTH_MAX];
	size_t count = 0, end;
	struct profile_frame *frames;

	for (const struct cct_node *node = leaf; node->parent; node = node->parent) {
		size_t more = show_node(builder, node, shown);

		if (!more)
			return NULL;
		count += more;
	}
	frames = arena_array(&builder->owned->arena, count, sizeof(*frames));
	if (!frames)
		return NULL;
	end = count;
	for (const struct cct_node *node = leaf; node->parent; node = node->parent) {
		size_t more = show_node(builder, node, shown);

		if (!more || more > end)
			return NULL;
		end -= more;
		memcpy(&frames[end], shown, more * sizeof(*frames));
	}
	*ret_count = count;
	return frames;
}

static int build_write_pair(struct builder *builder, const struct pair_entry *entry,
			    struct profile_pair *pair)
{
	uint32_t position;

	pair->kind = entry->kind;
	pair->watched = pair_stats_watched(&builder->pairs, entry);
	pair->sampled = pair_entry_sampled(entry);
	pair->redundant = entry->verdicts[VERDICT_REDUNDANT];
	pair->approximate = entry->verdicts[VERDICT_APPROXIMATE];
	pair->avoidable_ns = entry->avoidable_ns;
	memcpy(pair->support, entry->support, sizeof(pair->support));
	profile_pair_judge(pair);
	pair->first = write_path(builder, entry->shown->first, &pair->first_count);
	pair->second = write_path(builder, entry->shown->second, &pair->second_count);
	if (entry->line != LINE_NONE) {
		position = builder->lines.lines[entry->line].position;
		pair->line =
			position == LINE_NONE ? NULL : &builder->owned->profile.lines[position];
	}
	return pair->first && pair->second ? 0 : -ENOMEM;
}

/* How many of the sorted pairs are written out: as many as the limits allow. */
static size_t count_written(const struct builder *builder)
{
	size_t frames = 0, count = 0;

	for (; count < builder->redundant_pairs && count < PROFILE_PAIRS_MAX; count++) {
		const struct pair *shown = builder->sorted_pairs[count]->shown;

		frames += shown->first->depth + shown->second->depth;
		if (frames > PROFILE_PAIR_FRAMES_MAX)
			break;
	}
	return count;
}

static int build_write_pairs(struct builder *builder)
{
	struct profile *profile = &builder->owned->profile;
	struct profile_pair *pairs;
	size_t findings = 0, count;

	for (size_t i = 0; i < builder->pairs.count; i++) {
		/* Pairs that always found a new value count for their lines; they are no finding.
		 */
		if (pair_entry_redundant(&builder->pairs.entries[i]))
			findings++;
		else if (!profile->facts.all_pairs)
			continue;
		estimate_pair(&builder->pairs.entries[i], &builder->lines);
		builder->sorted_pairs[builder->redundant_pairs++] = &builder->pairs.entries[i];
	}
	qsort_r(builder->sorted_pairs, builder->redundant_pairs, sizeof(builder->sorted_pairs[0]),
		build_compare_pairs, &builder->paths);
	count = count_written(builder);
	pairs = arena_array(&builder->owned->arena, count, sizeof(*pairs));
	if (!pairs)
		return -ENOMEM;
	for (size_t i = 0; i < count; i++)
		if (build_write_pair(builder, builder->sorted_pairs[i], &pairs[i]))
			return -ENOMEM;
	profile->pairs = pairs;
	profile->pair_count = count;
	profile->pairs_omitted = findings > count ? findings - count : 0;
	return 0;
}

/* A function's avoidable time is that of its lines. */
static void sum_avoidable(struct builder *builder, const struct cct *cct)
{
	for (uint32_t id = 1; id < cct_node_count(cct); id++) {
		uint32_t line = builder->lines.of_node[id];

		if (line == LINE_NONE || builder->lines.lines[line].summed)
			continue;
		builder->lines.lines[line].summed = true;
		builder->functions.lines[builder->functions.of_node[id]].avoidable.time_ns +=
			builder->lines.lines[line].avoidable.time_ns;
	}
}

static int build_tree(struct builder *builder, const struct cct *cct)
{
	struct owned_profile *owned = builder->owned;
	size_t node_count = cct_node_count(cct);
	uint32_t *positions = calloc(node_count, sizeof(*positions));
	struct call_tree_input input = {
		.cct = cct,
		.paths = &builder->paths,
		.sources = owned->sources,
		.line_info = owned->profile.facts.line_info,
		.nodes_max = PROFILE_NODES_MAX,
		.stack_frames_max = PROFILE_STACK_FRAMES_MAX,
		.positions = positions,
	};
	struct profile_timeline timeline = owned->profile.facts.node_timeline;
	int result = -ENOMEM;

	if (positions)
		result = call_tree_build(&input, &owned->arena, &owned->profile.tree);
	if (!result)
		result = profile_timeline_renumber(&owned->arena, &timeline, positions, node_count,
						   &owned->profile.facts.node_timeline);
	if (!result)
		result = profile_stacks_renumber(
			&owned->arena, &owned->profile.facts, NULL,
			&(struct profile_positions){ positions, node_count });
	free(positions);
	return result;
}

static int build(struct builder *builder, const struct cct *cct)
{
	struct profile *profile = &builder->owned->profile;
	struct source_refusals refusals;
	struct run_figures run;

	if (line_stats_build(&builder->lines, &builder->places, &builder->sites, cct,
			     profile->time_ns) ||
	    line_stats_build(&builder->functions, &builder->places, &builder->sites, cct,
			     profile->time_ns) ||
	    side_times_charge(&builder->paths, cct, &builder->lines, &builder->functions,
			      &profile->side) ||
	    pair_stats_build(&builder->pairs, profile->facts.period_ns))
		return -ENOMEM;
	if (profile->facts.arguments) {
		const struct argument_stats_input arguments = {
			.log = profile->facts.arguments,
			.cct = cct,
			.sites = &builder->sites,
			.sources = builder->owned->sources,
		};

		if (argument_stats_charge(&arguments, &builder->owned->arena, &builder->lines))
			return -ENOMEM;
		/* The session's. */
		profile->facts.arguments = NULL;
	}
	memcpy(profile->accesses, builder->pairs.accesses, sizeof(profile->accesses));
	for (size_t i = 0; i < LOSS_COUNT; i++)
		profile->facts.losses.counts[i] += builder->pairs.filtered.counts[i];
	run = (struct run_figures){ profile->facts.period_ns, time_sum(profile->time_ns),
				    profile_run_share(profile->accesses) };
	for (size_t i = 0; i < builder->lines.count; i++)
		line_entry_estimate(&builder->lines.lines[i], &run);
	sum_avoidable(builder, cct);
	builder->sorted_lines = calloc(builder->lines.count + 1, sizeof(builder->sorted_lines[0]));
	builder->sorted_functions =
		calloc(builder->functions.count + 1, sizeof(builder->sorted_functions[0]));
	builder->sorted_pairs = calloc(builder->pairs.count + 1, sizeof(builder->sorted_pairs[0]));
	if (!builder->sorted_lines || !builder->sorted_functions || !builder->sorted_pairs ||
	    build_write_lines(builder) || build_write_functions(builder))
		return -ENOMEM;
	if (build_write_pairs(builder))
		return -ENOMEM;
	if (build_tree(builder, cct))
		return -ENOMEM;
	/* When all lines have been asked for. */
	refusals = source_cache_refusals(builder->owned->sources);
	profile->facts.losses.counts[LOSS_SOURCE_DENIED] += refusals.denied;
	profile->facts.losses.counts[LOSS_SOURCE_REFUSED] += refusals.refused;
	profile->facts.losses.counts[LOSS_SOURCE_UNANSWERED] += refusals.unanswered;
	if (profile_sources_collect(profile, builder->owned->sources, &builder->owned->arena))
		return -ENOMEM;
	/* Of one that is to be merged, nobody looks at them. */
	return profile->facts.all_pairs ? 0 : findings_make(profile, &builder->owned->arena);
}

static void builder_deinit(struct builder *builder)
{
	free(builder->sorted_pairs);
	free(builder->sorted_functions);
	free(builder->sorted_lines);
	pair_stats_deinit(&builder->pairs);
	path_table_deinit(&builder->paths);
	line_stats_deinit(&builder->functions);
	line_stats_deinit(&builder->lines);
	place_table_deinit(&builder->places);
	call_site_table_deinit(&builder->sites);
}

struct profile *profile_build(const struct cct *cct, const struct pair_table *pairs,
			      struct symbolizer *symbolizer, const struct profile_facts *facts)
{
	struct owned_profile *owned = calloc(1, sizeof(*owned));
	struct builder builder = { .owned = owned };
	int error;

	if (!owned)
		return NULL;
	arena_init(&owned->arena, PROFILE_ARENA_BYTES_MAX);
	owned->sources = source_cache_create(facts->open_source, facts->open_source_context);
	place_table_init(&builder.places, symbolizer);
	builder.places.sources = owned->sources;
	if (owned->sources && facts->source_memory)
		source_cache_use_memory(owned->sources, facts->source_memory);
	error = path_table_init(&builder.paths, &builder.places, facts->patterns, cct);
	builder.paths.start_frames = facts->start_frames;
	builder.paths.no_gil = profile_has_no_gil(facts);
	line_stats_init(&builder.lines, false);
	line_stats_init(&builder.functions, true);
	call_site_table_init(&builder.sites);
	pair_stats_init(&builder.pairs, pairs, cct, &builder.sites, &builder.paths, &builder.lines,
			&builder.functions);
	if (!error && owned->sources)
		error = profile_facts_copy(owned, facts);
	else
		error = -ENOMEM;
	if (!error)
		error = build(&builder, cct);
	if (!error && symbolizer)
		owned->profile.facts.losses.counts[LOSS_FILE_LOST] =
			symbolizer_lost_files(symbolizer);
	if (!error && facts->line_info)
		owned->profile.facts.losses.counts[LOSS_TARGET_LIMIT] +=
			line_info_dropped(facts->line_info);
	builder_deinit(&builder);
	if (error) {
		profile_destroy(&owned->profile);
		return NULL;
	}
	return &owned->profile;
}

/* SPDX-License-Identifier: Apache-2.0 */
/*
 * From what profile_merge.c gathered to a profile: everything that follows from
 * counts, and the order.
 */
#include "daemon/report/merge/profile_merge.h"
#include "daemon/report/merge/profile_merge_parts.h"
#include "daemon/report/model/finding.h"
#include "daemon/report/model/line_estimate.h"
#include "daemon/report/model/owned_profile.h"
#include "daemon/report/model/profile_facts.h"
#include "daemon/report/model/profile_stacks.h"
#include "daemon/report/model/profile_write.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

struct builder {
	const struct profile_merge *merge;
	struct owned_profile *owned;
	struct line_entry *entries; /* by line of the merge */
	uint32_t *line_positions;   /* of each line of the merge in the profile */
	uint32_t *path_order;       /* tree paths, siblings together and in order */
	uint32_t *first_child, *next_sibling;
	uint32_t *frame_of;         /* of the merge's frames in the tree's, plus one */
	uint32_t *thread_positions; /* of each thread of the merge in the profile */
};

static int merged_compare_names(const char *file_a, int line_a, const char *function_a,
				const char *file_b, int line_b, const char *function_b)
{
	int order = strcmp(file_a, file_b);

	if (!order)
		order = line_a < line_b ? -1 : line_a > line_b;
	return order ? order : strcmp(function_a, function_b);
}

static int merged_descending(uint64_t a, uint64_t b)
{
	return a > b ? -1 : a < b;
}

/* ---- lines ---- */

static struct line_entry entry_of(const struct profile_line *line)
{
	const struct line_evidence *evidence = &line->evidence;
	struct line_entry entry = {
		.file = line->file,
		.line = line->line,
		.function = line->function,
		.total_ns = line->total_ns,
		.repeated = evidence->repeated,
		.site = { [PAIR_LOAD] = evidence->site_loads,
			  [PAIR_STORE] = evidence->site_stores },
		.site_redundant = { [PAIR_LOAD] = evidence->site_loads_redundant,
				    [PAIR_STORE] = evidence->site_stores_redundant },
		.again = evidence->again,
		.again_redundant = evidence->again_redundant,
		.again_loads = evidence->again_loads,
		.again_loads_redundant = evidence->again_loads_redundant,
		.stores = evidence->stores,
		.again_stores = evidence->again_stores,
		.arguments = evidence->arguments,
		.finding = line->finding,
		.finding_ns = line->finding_ns,
		.expression = line->expression,
		.example = line->example,
		.column = line->column,
		.end_column = line->end_column,
		.end_line = line->end_line,
		.call_samples = evidence->call_samples,
		.call_log_sum = evidence->call_log_sum,
		.call_ns = call_log_mean(evidence->call_log_sum, evidence->call_samples),
	};

	memcpy(entry.self_ns, line->self_ns, sizeof(entry.self_ns));
	entry.side = line->side;
	memcpy(entry.charged_ns, evidence->charged_ns, sizeof(entry.charged_ns));
	memcpy(entry.accesses, line->accesses, sizeof(entry.accesses));
	memcpy(entry.redundant_by_memory, evidence->redundant_by_memory,
	       sizeof(entry.redundant_by_memory));
	memcpy(entry.support, evidence->support, sizeof(entry.support));
	return entry;
}

static int compare_line_ids(const void *left, const void *right, void *context)
{
	const struct profile_merge *merge = context;
	const struct profile_line *a = &merge->lines[*(const uint32_t *)left];
	const struct profile_line *b = &merge->lines[*(const uint32_t *)right];
	int order = merged_descending(a->total_ns, b->total_ns);

	return order ? order
		     : merged_compare_names(a->file, a->line, a->function, b->file, b->line,
					    b->function);
}

static int merged_write_lines(struct builder *builder)
{
	const struct profile_merge *merge = builder->merge;
	struct profile *profile = &builder->owned->profile;
	size_t count = merge->line_count;
	struct profile_line *lines = arena_array(&builder->owned->arena, count + 1, sizeof(*lines));
	uint32_t *order = calloc(count + 1, sizeof(*order));
	const struct run_figures run = { profile->facts.period_ns, time_sum(merge->sums.time_ns),
					 profile_run_share(merge->sums.accesses) };

	builder->entries = calloc(count + 1, sizeof(builder->entries[0]));
	builder->line_positions = calloc(count + 1, sizeof(builder->line_positions[0]));
	if (!lines || !order || !builder->entries || !builder->line_positions) {
		free(order);
		return -ENOMEM;
	}
	for (size_t i = 0; i < count; i++) {
		struct line_entry *entry = &builder->entries[i];

		*entry = entry_of(&merge->lines[i]);
		line_entry_estimate_call(entry, profile->facts.period_ns);
		line_entry_estimate(entry, &run);
		order[i] = (uint32_t)i;
	}
	qsort_r(order, count, sizeof(order[0]), compare_line_ids,
		(void *)(uintptr_t)builder->merge);
	for (size_t i = 0; i < count; i++) {
		builder->line_positions[order[i]] = (uint32_t)i;
		lines[i].source = merge->lines[order[i]].source;
		lines[i].indent = merge->lines[order[i]].indent;
		profile_line_write(&builder->owned->arena, &builder->entries[order[i]], &lines[i]);
	}
	free(order);
	profile->lines = lines;
	profile->line_count = count;
	return builder->owned->arena.failed ? -ENOMEM : 0;
}

/* ---- functions ---- */

static int merged_compare_functions(const void *left, const void *right)
{
	const struct profile_function *a = left, *b = right;
	int order = merged_descending(a->total_ns, b->total_ns);

	return order ? order
		     : merged_compare_names(a->file, a->line, a->function, b->file, b->line,
					    b->function);
}

static int by_function(const char *file_a, const char *function_a, const char *file_b,
		       const char *function_b)
{
	return merged_compare_names(file_a, 0, function_a, file_b, 0, function_b);
}

static int compare_by_name(const void *left, const void *right)
{
	const struct profile_function *a = left, *b = right;

	return by_function(a->file, a->function, b->file, b->function);
}

static int find_by_name(const void *key, const void *item)
{
	const struct profile_line *line = key;
	const struct profile_function *function = item;

	return by_function(line->file, line->function, function->file, function->function);
}

static int merged_write_functions(struct builder *builder)
{
	const struct profile_merge *merge = builder->merge;
	struct profile *profile = &builder->owned->profile;
	size_t count = merge->function_count;
	struct profile_function *functions =
		arena_array(&builder->owned->arena, count + 1, sizeof(*functions));

	if (!functions)
		return -ENOMEM;
	for (size_t i = 0; i < count; i++) {
		functions[i] = merge->functions[i];
		functions[i].avoidable_ns = 0;
	}
	qsort(functions, count, sizeof(functions[0]), compare_by_name);
	for (size_t i = 0; i < profile->line_count; i++) {
		const struct profile_line *line = &profile->lines[i];
		struct profile_function *function =
			bsearch(line, functions, count, sizeof(functions[0]), find_by_name);

		/* A native function stands for a line of its own, which is not Python's to change.
		 */
		if (function && line->line)
			function->avoidable_ns += line->avoidable_ns;
	}
	qsort(functions, count, sizeof(functions[0]), merged_compare_functions);
	profile->functions = functions;
	profile->function_count = count;
	return 0;
}

/* ---- pairs ---- */

struct sorted_pair {
	const struct merged_pair *merged;
	uint64_t avoidable_ns;
};

static int merged_compare_pairs(const void *left, const void *right, void *context)
{
	const struct profile_merge *merge = context;
	const struct sorted_pair *sorted_a = left, *sorted_b = right;
	const struct profile_pair *a = &sorted_a->merged->pair, *b = &sorted_b->merged->pair;
	int order = merged_descending(sorted_a->avoidable_ns, sorted_b->avoidable_ns);

	if (!order)
		order = merged_descending(a->redundant, b->redundant);
	if (!order)
		order = merged_descending(a->approximate, b->approximate);
	if (!order)
		order = merged_descending(a->sampled, b->sampled);
	if (!order && a->kind != b->kind)
		order = a->kind < b->kind ? -1 : 1;
	if (!order)
		order = merge_path_compare(&merge->pair_paths, &merge->frames,
					   sorted_a->merged->first, sorted_b->merged->first);
	if (!order)
		order = merge_path_compare(&merge->pair_paths, &merge->frames,
					   sorted_a->merged->second, sorted_b->merged->second);
	return order;
}

static void merged_write_pair(const struct builder *builder, const struct sorted_pair *sorted,
			      struct profile_pair *pair)
{
	uint32_t line = sorted->merged->line;

	*pair = sorted->merged->pair;
	pair->avoidable_ns = sorted->avoidable_ns;
	if (line != MERGE_NONE)
		pair->line = &builder->owned->profile.lines[builder->line_positions[line]];
	profile_pair_judge(pair);
}

static int write_sorted_pairs(struct builder *builder, const struct sorted_pair *sorted,
			      size_t count, size_t findings)
{
	struct profile *profile = &builder->owned->profile;
	struct profile_pair *pairs = arena_array(&builder->owned->arena, count + 1, sizeof(*pairs));
	size_t frames = 0, written = 0;

	if (!pairs)
		return -ENOMEM;
	for (; written < count && written < PROFILE_PAIRS_MAX; written++) {
		const struct profile_pair *pair = &sorted[written].merged->pair;

		frames += pair->first_count + pair->second_count;
		if (frames > PROFILE_PAIR_FRAMES_MAX)
			break;
		merged_write_pair(builder, &sorted[written], &pairs[written]);
	}
	profile->pairs = pairs;
	profile->pair_count = written;
	profile->pairs_omitted = builder->merge->pairs_omitted;
	if (findings > written)
		profile->pairs_omitted += findings - written;
	return 0;
}

static int merged_write_pairs(struct builder *builder)
{
	const struct profile_merge *merge = builder->merge;
	struct sorted_pair *sorted = calloc(merge->pair_count + 1, sizeof(*sorted));
	size_t count = 0, findings = 0;
	int result;

	if (!sorted)
		return -ENOMEM;
	for (size_t i = 0; i < merge->pair_count; i++) {
		const struct merged_pair *merged = &merge->pairs[i];
		uint64_t redundant = merged->pair.redundant + merged->pair.approximate;

		if (redundant)
			findings++;
		else if (!builder->owned->profile.facts.all_pairs)
			continue;
		sorted[count].merged = merged;
		if (merged->line != MERGE_NONE)
			sorted[count].avoidable_ns = line_entry_avoidable_part(
				&builder->entries[merged->line], redundant);
		count++;
	}
	qsort_r(sorted, count, sizeof(sorted[0]), merged_compare_pairs, (void *)(uintptr_t)merge);
	result = write_sorted_pairs(builder, sorted, count, findings);
	free(sorted);
	return result;
}

/* ---- the tree ---- */

static int merged_compare_siblings(const void *left, const void *right, void *context)
{
	const struct profile_merge *merge = context;
	const struct merge_path *a = &merge->tree_paths.paths[*(const uint32_t *)left];
	const struct merge_path *b = &merge->tree_paths.paths[*(const uint32_t *)right];

	if (a->parent != b->parent)
		return a->parent < b->parent ? -1 : 1;
	return merge_frame_compare(&merge->frames.frames[a->frame],
				   &merge->frames.frames[b->frame]);
}

static int merged_link_siblings(struct builder *builder)
{
	const struct merge_paths *paths = &builder->merge->tree_paths;

	builder->path_order = calloc(paths->count, sizeof(uint32_t));
	builder->first_child = calloc(paths->count, sizeof(uint32_t));
	builder->next_sibling = calloc(paths->count, sizeof(uint32_t));
	builder->frame_of = calloc(builder->merge->frames.count + 1, sizeof(uint32_t));
	if (!builder->path_order || !builder->first_child || !builder->next_sibling ||
	    !builder->frame_of)
		return -ENOMEM;
	for (uint32_t i = 1; i < paths->count; i++)
		builder->path_order[i] = i;
	qsort_r(builder->path_order + 1, paths->count - 1, sizeof(uint32_t),
		merged_compare_siblings, (void *)(uintptr_t)builder->merge);
	for (size_t i = paths->count; i-- > 1;) {
		uint32_t id = builder->path_order[i], parent = paths->paths[id].parent;

		builder->next_sibling[id] = builder->first_child[parent];
		builder->first_child[parent] = id;
	}
	return 0;
}

/* As many frames as are needed: those of the tree's paths, and the unknown one. */
struct written_tree {
	struct profile_frame *frames;
	struct profile_node *nodes;
	uint32_t *positions; /* of paths */
	size_t frame_count, node_count;
};

static void merged_write_node(struct builder *builder, uint32_t id, struct written_tree *tree)
{
	const struct profile_merge *merge = builder->merge;
	const struct merge_path *path = &merge->tree_paths.paths[id];
	struct profile_node *node = &tree->nodes[tree->node_count];

	if (!builder->frame_of[path->frame]) {
		tree->frames[tree->frame_count++] = merge->frames.frames[path->frame];
		builder->frame_of[path->frame] = (uint32_t)tree->frame_count;
	}
	*node = merge->nodes[id];
	node->parent = path->parent ? tree->positions[path->parent] : PROFILE_NODE_NONE;
	node->frame = builder->frame_of[path->frame] - 1;
	node->depth = path->depth - 1;
	tree->positions[id] = (uint32_t)tree->node_count++;
}

/* What was folded into nothing. */
static void merged_write_root(const struct builder *builder, struct written_tree *tree)
{
	const struct profile_node *root = builder->merge->nodes;

	tree->positions[0] = PROFILE_NODE_NONE;
	if (!root || !(time_sum(root->time_ns) + time_sum(root->samples)))
		return;
	tree->positions[0] = (uint32_t)tree->node_count;
	tree->frames[tree->frame_count] =
		(struct profile_frame){ .kind = FRAME_NATIVE, .function = "?", .file = "?" };
	tree->nodes[tree->node_count] = *root;
	tree->nodes[tree->node_count].parent = PROFILE_NODE_NONE;
	tree->nodes[tree->node_count].flags = 0;
	tree->nodes[tree->node_count++].frame = (uint32_t)tree->frame_count++;
}

/* Stacks and timelines, of what has its place in the profile by now; paths by their positions. */
static int write_times(struct builder *builder, const uint32_t *positions)
{
	const struct profile_merge *merge = builder->merge;
	struct arena *arena = &builder->owned->arena;
	struct profile_facts *facts = &builder->owned->profile.facts;
	size_t node_count = merge->tree_paths.count;
	uint32_t *stacks = calloc(merge->stack_count + 1, sizeof(*stacks));
	const struct merge_owners owners = {
		builder->thread_positions, positions,  stacks,
		merge->thread_count,       node_count, merge->stack_count
	};
	int result = stacks ? 0 : -ENOMEM;

	/* Over time by number of the merge, then with the stacks themselves. */
	for (size_t i = 0; stacks && i < merge->stack_count; i++)
		stacks[i] = (uint32_t)i;
	if (!result)
		result = merge_timelines_build(&merge->timelines, arena, &owners, facts);
	facts->stacks = merge->stacks;
	facts->stack_count = merge->stack_count;
	if (!result)
		result = profile_stacks_renumber(
			arena, facts,
			&(struct profile_positions){ owners.threads, owners.thread_count },
			&(struct profile_positions){ positions, node_count });
	free(stacks);
	return result;
}

static int merged_write_tree(struct builder *builder)
{
	const struct merge_paths *paths = &builder->merge->tree_paths;
	struct arena *arena = &builder->owned->arena;
	struct written_tree tree = {
		.frames = arena_array(arena, paths->count, sizeof(struct profile_frame)),
		.nodes = arena_array(arena, paths->count, sizeof(struct profile_node)),
		.positions = arena_array(arena, paths->count, sizeof(uint32_t)),
	};
	uint32_t id;

	if (!tree.frames || !tree.nodes || !tree.positions || merged_link_siblings(builder))
		return -ENOMEM;
	merged_write_root(builder, &tree);
	id = builder->first_child[0];
	while (id) {
		merged_write_node(builder, id, &tree);
		if (builder->first_child[id]) {
			id = builder->first_child[id];
			continue;
		}
		while (id && !builder->next_sibling[id])
			id = paths->paths[id].parent;
		id = id ? builder->next_sibling[id] : 0;
	}
	builder->owned->profile.tree = (struct profile_tree){
		.frames = tree.frames,
		.frame_count = tree.frame_count,
		.nodes = tree.nodes,
		.node_count = tree.node_count,
		.nodes_folded = builder->merge->nodes_folded,
	};
	return write_times(builder, tree.positions);
}

/* ---- the rest ---- */

static int merged_compare_processes(const void *left, const void *right)
{
	const struct profile_process *a = left, *b = right;
	int order = merged_descending(time_sum(a->time_ns), time_sum(b->time_ns));

	if (!order && a->pid != b->pid)
		order = a->pid < b->pid ? -1 : 1;
	if (!order && a->started_unix_ns != b->started_unix_ns)
		order = a->started_unix_ns < b->started_unix_ns ? -1 : 1;
	return order ? order : strcmp(a->command, b->command);
}

static int compare_thread_ids(const void *left, const void *right, void *context)
{
	const struct profile_merge *merge = context;
	const struct profile_thread *a = &merge->threads[*(const uint32_t *)left];
	const struct profile_thread *b = &merge->threads[*(const uint32_t *)right];
	int order = profile_thread_compare(a, b);

	return order ? order : strncmp(a->name, b->name, sizeof(a->name));
}

static int write_threads(struct builder *builder)
{
	const struct profile_merge *merge = builder->merge;
	struct profile_facts *facts = &builder->owned->profile.facts;
	size_t count = merge->thread_count;
	struct profile_thread *threads =
		arena_array(&builder->owned->arena, count + 1, sizeof(*threads));
	uint32_t *order = calloc(count + 1, sizeof(*order));

	builder->thread_positions = calloc(count + 1, sizeof(builder->thread_positions[0]));
	if (!threads || !order || !builder->thread_positions) {
		free(order);
		return -ENOMEM;
	}
	for (size_t i = 0; i < count; i++)
		order[i] = (uint32_t)i;
	qsort_r(order, count, sizeof(order[0]), compare_thread_ids, (void *)(uintptr_t)merge);
	for (size_t i = 0; i < count; i++) {
		threads[i] = merge->threads[order[i]];
		builder->thread_positions[order[i]] = (uint32_t)i;
	}
	free(order);
	facts->threads = threads;
	facts->thread_count = count;
	return 0;
}

static int compare_sources(const void *left, const void *right)
{
	const struct profile_source *a = left, *b = right;

	return strcmp(a->file, b->file);
}

static int write_sources(struct builder *builder)
{
	const struct profile_merge *merge = builder->merge;
	struct profile_source *sources =
		arena_array(&builder->owned->arena, merge->source_count + 1, sizeof(*sources));

	if (!sources)
		return -ENOMEM;
	if (merge->source_count)
		memcpy(sources, merge->sources, merge->source_count * sizeof(*sources));
	/* The merge goes on, and changes its own. */
	for (size_t i = 0; i < merge->source_count; i++) {
		struct profile_text *texts = arena_array(&builder->owned->arena,
							 sources[i].text_count + 1, sizeof(*texts));

		if (!texts)
			return -ENOMEM;
		if (sources[i].text_count)
			memcpy(texts, sources[i].texts, sources[i].text_count * sizeof(*texts));
		sources[i].texts = texts;
	}
	qsort(sources, merge->source_count, sizeof(*sources), compare_sources);
	builder->owned->profile.sources = sources;
	builder->owned->profile.source_count = merge->source_count;
	return 0;
}

static int write_facts(struct builder *builder, bool all_pairs)
{
	const struct profile_merge *merge = builder->merge;
	struct arena *arena = &builder->owned->arena;
	struct profile *profile = &builder->owned->profile;
	struct profile_facts *facts = &profile->facts;
	struct stop_histograms *stops = arena_array(arena, 1, sizeof(*stops));
	struct profile_process *processes =
		arena_array(arena, merge->process_count + 1, sizeof(*processes));

	if (!stops || !processes)
		return -ENOMEM;
	*facts = merge->facts;
	facts->target.labels = merge->labels;
	memcpy(facts->target.host, merge->host, sizeof(facts->target.host));
	facts->all_pairs = all_pairs;
	facts->resident.points = profile_facts_copy_points(builder->owned, &merge->facts.resident);
	if (!facts->resident.points)
		return -ENOMEM;
	facts->gil_known &= facts->samples > 0;
	*stops = merge->stops;
	facts->stop_histograms = stops;
	facts->stops = stop_histogram_times(&stops->all);
	facts->sample_stops = stop_histogram_times(&stops->samples);
	facts->breakpoint_stops = stop_histogram_times(&stops->breakpoints);
	facts->overhead = facts->cpu_ns ? (double)facts->lost_ns / (double)facts->cpu_ns : 0;
	if (write_threads(builder))
		return -ENOMEM;
	if (merge->process_count)
		memcpy(processes, merge->processes, merge->process_count * sizeof(*processes));
	qsort(processes, merge->process_count, sizeof(*processes), merged_compare_processes);
	profile->processes = processes;
	profile->process_count = merge->process_count;
	memcpy(profile->time_ns, merge->sums.time_ns, sizeof(profile->time_ns));
	memcpy(profile->accesses, merge->sums.accesses, sizeof(profile->accesses));
	profile->side = merge->sums.side;
	profile->gil_ns = merge->sums.gil_ns;
	return write_sources(builder);
}

struct profile *profile_merge_build(const struct profile_merge *merge, bool all_pairs)
{
	struct builder builder = { .merge = merge };
	bool failed;

	if (!merge->any)
		return NULL;
	builder.owned = calloc(1, sizeof(*builder.owned));
	if (!builder.owned)
		return NULL;
	arena_init(&builder.owned->arena, PROFILE_ARENA_BYTES_MAX);
	failed = write_facts(&builder, all_pairs) || merged_write_lines(&builder) ||
		 merged_write_functions(&builder) || merged_write_pairs(&builder) ||
		 merged_write_tree(&builder) ||
		 (!all_pairs && findings_make(&builder.owned->profile, &builder.owned->arena));
	free(builder.entries);
	free(builder.line_positions);
	free(builder.path_order);
	free(builder.first_child);
	free(builder.next_sibling);
	free(builder.frame_of);
	free(builder.thread_positions);
	if (failed) {
		profile_destroy(&builder.owned->profile);
		return NULL;
	}
	return &builder.owned->profile;
}

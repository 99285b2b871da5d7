/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Several profiles made one. That no field is forgotten is asked of the
 * debugging information of this very program.
 */
#include "daemon/detect/interval.h"
#include "daemon/report/merge/merge_fields.h"
#include "daemon/report/merge/merge_timeline.h"
#include "daemon/report/merge/profile_merge.h"
#include "daemon/sample/timeline.h"
#include "report_sample.h"
#include "struct_members.h"
#include "unit_random.h"

#include <setjmp.h>
#include <stdarg.h>

#include <cmocka.h>

/* ---- the tables and the structs ---- */

static const struct merge_field *find_field(const struct merge_table *table, const char *name)
{
	for (size_t i = 0; i < table->count; i++)
		if (!strcmp(table->fields[i].name, name))
			return &table->fields[i];
	return NULL;
}

static void check_member(const struct merge_table *table, Dwarf_Die *member)
{
	const struct merge_field *field = find_field(table, dwarf_diename(member));
	Dwarf_Die type;

	if (!field)
		fail_msg("struct %s has a member %s, of which merge_fields.c does not know",
			 table->struct_name, dwarf_diename(member));
	if ((field->rule == MERGE_SUM || field->rule == MERGE_MAX) &&
	    (!type_of(member, &type) || !is_words(&type)))
		fail_msg("%s.%s cannot be added up: it is not made of uint64_t", table->struct_name,
			 field->name);
}

static void test_no_field_is_forgotten(void **state)
{
	int fd;
	Dwarf *dwarf = open_own_debug_info(&fd);

	(void)state;
	assert_non_null(dwarf);
	for (int id = 0; id < MERGE_TABLE_COUNT; id++) {
		const struct merge_table *table = merge_table((enum merge_table_id)id);
		size_t members = 0;
		Dwarf_Die found, member;

		find_struct(dwarf, table->struct_name, table->struct_size, &found);
		assert_int_equal(dwarf_child(&found, &member), 0);
		do {
			if (dwarf_tag(&member) != DW_TAG_member)
				continue;
			check_member(table, &member);
			members++;
		} while (!dwarf_siblingof(&member, &member));
		assert_int_equal(members, table->count);
	}
	dwarf_end(dwarf);
	close(fd);
}

/* ---- profiles ---- */

/* As in docs/SECURITY.md. */
#define PROCESSES 1024
#define CELLS     65536

#define VARIANT_CELLS 160

struct variant {
	struct profile profile;
	struct profile_line lines[3];
	struct profile_pair pairs[2];
	struct profile_function functions[2];
	struct profile_thread threads[2];
	struct profile_cell thread_cells[VARIANT_CELLS], node_cells[VARIANT_CELLS];
	struct stop_histograms stops;
};

/* Of its first thread and its innermost node: slices of other lengths in other processes. */
static void make_timelines(struct variant *variant, unsigned number)
{
	struct profile *profile = &variant->profile;
	struct profile_timeline *threads = &profile->facts.thread_timeline;
	struct profile_timeline *nodes = &profile->facts.node_timeline;

	for (uint32_t i = 0; i < VARIANT_CELLS; i++) {
		variant->thread_cells[i] =
			(struct profile_cell){ .slice = 2 * i, .time_ns = { number, i, 0 } };
		variant->node_cells[i] = (struct profile_cell){
			.owner = (uint32_t)profile->tree.node_count - 1,
			.slice = i,
			.time_ns = { 0, number, i },
		};
	}
	*threads = (struct profile_timeline){
		.slice_ns = TIMELINE_SLICE_NS << number % 2,
		.slice_count = 2 * VARIANT_CELLS - 1,
		.cells = variant->thread_cells,
		.cell_count = VARIANT_CELLS,
		.left_out_ns = number,
	};
	*nodes = *threads;
	nodes->slice_ns <<= number % 3;
	nodes->slice_count = VARIANT_CELLS;
	nodes->cells = variant->node_cells;
}

/* The sample with other counts, of another process. */
static struct variant *make(unsigned number)
{
	struct variant *variant = calloc(1, sizeof(*variant));
	struct profile *profile = &variant->profile;

	assert_non_null(variant);
	*profile = sample_profile();
	assert_true(profile->line_count <= 3 && profile->pair_count <= 2);
	memcpy(variant->lines, profile->lines, profile->line_count * sizeof(variant->lines[0]));
	memcpy(variant->pairs, profile->pairs, profile->pair_count * sizeof(variant->pairs[0]));
	profile->facts.target.pid = 100 + (pid_t)number;
	profile->facts.target.parent = 100;
	profile->facts.target.start_time = 1000 + number;
	profile->facts.target.end = PROCESS_EXITED;
	profile->facts.target.end_status = (int)number;
	profile->facts.started_unix_ns += number * 1000000000ull + number * number * 17000000;
	profile->facts.samples = 100 * number;
	profile->facts.lost_ns = number * 1000;
	profile->facts.cpu_ns = 100000;
	for (size_t i = 0; i < profile->line_count; i++) {
		struct profile_line *line = &variant->lines[i];

		line->self_ns[TIME_PYTHON] *= number;
		line->total_ns += number;
		memcpy(line->evidence.charged_ns, line->self_ns, sizeof(line->self_ns));
		line->evidence.call_samples = number;
		line->evidence.call_log_sum = number * (14000000ull + number);
		line->evidence.support[CATEGORY_SLICE_UNDERUTILISATION] = number;
	}
	for (size_t i = 0; i < profile->pair_count; i++) {
		variant->pairs[i].sampled += number;
		variant->pairs[i].watched = variant->pairs[i].sampled + 7;
		variant->pairs[i].support[CATEGORY_API_MISUSE] = number;
		variant->pairs[i].line = &variant->lines[1];
	}
	/* Never redundant in this process. */
	if (number == 2)
		variant->pairs[0].redundant = variant->pairs[0].approximate = 0;
	variant->functions[0] = (struct profile_function){
		.file = SAMPLE_FILE,
		.function = "Convolution.backprop",
		.line = 30 + (int)number,
		.self_ns = { number, 2, 3 },
		.total_ns = 10 * number,
	};
	variant->threads[0] = (struct profile_thread){ .tid = 100 + (pid_t)number,
						       .name = "MainThread",
						       .time_ns = { number, 0, 0 } };
	for (unsigned i = 0; i < 10 * number; i++)
		stop_histogram_add(&variant->stops.all, 1000 * number + i);
	profile->facts.stop_histograms = &variant->stops;
	profile->facts.threads = variant->threads;
	profile->facts.thread_count = 1;
	make_timelines(variant, number);
	profile->functions = variant->functions;
	profile->function_count = 1;
	profile->lines = variant->lines;
	profile->pairs = variant->pairs;
	return variant;
}

static void add(struct profile_merge *merge, const struct profile *profile)
{
	assert_int_equal(profile_merge_add(merge, profile), 0);
}

static struct profile *build(const struct profile_merge *merge, bool all_pairs)
{
	struct profile *profile = profile_merge_build(merge, all_pairs);

	assert_non_null(profile);
	return profile;
}

/* JSON has threads' alone. */
static char *written_nodes(const struct profile_timeline *timeline)
{
	char *text;
	size_t size;
	FILE *file = open_memstream(&text, &size);

	assert_non_null(file);
	fprintf(file, "%llu %zu %llu", (unsigned long long)timeline->slice_ns,
		timeline->slice_count, (unsigned long long)timeline->left_out_ns);
	for (size_t i = 0; i < timeline->cell_count; i++) {
		const struct profile_cell *cell = &timeline->cells[i];

		fprintf(file, " %u@%u", cell->owner, cell->slice);
		for (size_t c = 0; c < TIME_CLASS_COUNT; c++)
			fprintf(file, ",%llu", (unsigned long long)cell->time_ns[c]);
	}
	fclose(file);
	return text;
}

/* All that writers make of it that is not for the eye. */
static char *written(const struct profile_merge *merge)
{
	static const struct writer_options options = { 0 };
	struct profile *profile = build(merge, false);
	char *json = sample_written(&writer_json, profile, &options);
	char *collapsed = sample_written(&writer_collapsed, profile, &options);
	char *nodes = written_nodes(&profile->facts.node_timeline);
	char *both;

	assert_true(asprintf(&both, "%s%s%s", json, collapsed, nodes) > 0);
	free(nodes);
	free(json);
	free(collapsed);
	profile_destroy(profile);
	return both;
}

static const struct profile_line *find_line(const struct profile *profile, const char *file,
					    int line)
{
	for (size_t i = 0; i < profile->line_count; i++)
		if (profile->lines[i].line == line && !strcmp(profile->lines[i].file, file))
			return &profile->lines[i];
	fail_msg("no line %s:%d", file, line);
	return NULL;
}

static void test_sums(void **state)
{
	struct variant *one = make(1), *three = make(3);
	struct profile_merge *merge = profile_merge_create();
	const struct profile_line *line;
	struct profile *profile;

	(void)state;
	add(merge, &one->profile);
	add(merge, &three->profile);
	profile = build(merge, false);
	assert_int_equal(profile->facts.samples, 400);
	assert_int_equal(profile->time_ns[TIME_NATIVE], 2 * one->profile.time_ns[TIME_NATIVE]);
	assert_int_equal(profile->accesses[PAIR_LOAD].sampled,
			 2 * one->profile.accesses[PAIR_LOAD].sampled);
	assert_int_equal(profile->facts.losses.counts[LOSS_NO_ACCESS],
			 2 * one->profile.facts.losses.counts[LOSS_NO_ACCESS]);
	assert_true(profile->facts.overhead == 4000.0 / 200000);
	assert_int_equal(profile->facts.stops.count, 40);
	assert_int_equal(profile->facts.stops.max_ns, 3029);
	/* From the first's begin to the last's end. */
	assert_int_equal(profile->facts.started_unix_ns, one->profile.facts.started_unix_ns);
	assert_int_equal(profile->facts.duration_ns,
			 one->profile.facts.duration_ns + 2136000000ull);
	assert_int_equal(profile->facts.target.pid, 101);
	assert_int_equal(profile->line_count, one->profile.line_count);
	line = find_line(profile, SAMPLE_FILE, 33);
	assert_int_equal(line->total_ns, one->lines[1].total_ns + three->lines[1].total_ns);
	assert_int_equal(line->evidence.repeated, 2 * one->lines[1].evidence.repeated);
	assert_int_equal(line->evidence.support[CATEGORY_SLICE_UNDERUTILISATION], 4);
	assert_int_equal(line->category, CATEGORY_SLICE_UNDERUTILISATION);
	assert_true(line->reason_count > 1);
	assert_true(line->avoidable_ns > 0 && line->avoidable_low_ns < line->avoidable_ns &&
		    line->avoidable_high_ns > line->avoidable_ns);
	assert_int_equal(profile->function_count, 1);
	assert_int_equal(profile->functions[0].line, 31);
	assert_int_equal(profile->functions[0].total_ns, 40);
	assert_int_equal(profile->functions[0].avoidable_ns, line->avoidable_ns);
	assert_int_equal(profile->facts.thread_count, 2);
	assert_int_equal(profile->facts.threads[0].pid, 103);
	assert_int_equal(profile->process_count, 2);
	assert_int_equal(profile->processes[0].end_status + profile->processes[1].end_status, 4);
	profile_destroy(profile);
	profile_merge_destroy(merge);
	free(one);
	free(three);
}

/* What the process says that has seen most of it, whichever comes first. */
static void test_findings(void **state)
{
	static const struct {
		uint64_t finding_ns;
		const char *finding, *expression;
		int column;
	} said[] = { { 2000, "x is the same in 10 of 10", "x", 4 },
		     { 1000, "y is the same in 5 of 5", "y", 9 },
		     { 0, NULL, NULL, 0 } };

	(void)state;
	for (unsigned first = 0; first < 3; first++) {
		struct profile_merge *merge = profile_merge_create();
		const struct profile_line *line;
		struct profile *profile;

		for (unsigned i = 0; i < 3; i++) {
			unsigned number = (first + i) % 3;
			struct variant *variant = make(number + 1);

			variant->lines[1].finding_ns = said[number].finding_ns;
			variant->lines[1].finding = said[number].finding;
			variant->lines[1].expression = said[number].expression;
			variant->lines[1].column = said[number].column;
			add(merge, &variant->profile);
			free(variant);
		}
		profile = build(merge, false);
		line = find_line(profile, SAMPLE_FILE, 33);
		assert_string_equal(line->finding, said[0].finding);
		assert_string_equal(line->expression, "x");
		assert_int_equal(line->column, 4);
		assert_int_equal(line->finding_ns, 2000);
		profile_destroy(profile);
		profile_merge_destroy(merge);
	}
}

/* What was never redundant in one process counts against it in another. */
static void test_shares_are_of_sums(void **state)
{
	struct variant *one = make(1), *two = make(2);
	struct profile_merge *merge = profile_merge_create();
	const struct profile_pair *pair = NULL;
	struct interval interval;
	struct profile *profile;

	(void)state;
	add(merge, &one->profile);
	add(merge, &two->profile);
	profile = build(merge, false);
	for (size_t i = 0; i < profile->pair_count; i++)
		if (profile->pairs[i].kind == PAIR_LOAD)
			pair = &profile->pairs[i];
	assert_non_null(pair);
	assert_int_equal(pair->redundant, one->pairs[0].redundant);
	assert_int_equal(pair->sampled, one->pairs[0].sampled + two->pairs[0].sampled);
	assert_int_equal(pair->watched, one->pairs[0].watched + two->pairs[0].watched);
	interval = interval_wilson(pair->redundant, pair->sampled);
	assert_true(pair->share_low == interval.low && pair->share_high == interval.high);
	assert_true(pair->share == (double)pair->redundant / (double)pair->sampled);
	assert_int_equal(pair->category, CATEGORY_API_MISUSE);
	assert_ptr_equal(pair->line, find_line(profile, SAMPLE_FILE, 33));
	profile_destroy(profile);
	profile_merge_destroy(merge);
	/* By itself, the second has no such finding, unless it is asked for. */
	merge = profile_merge_create();
	add(merge, &two->profile);
	profile = build(merge, false);
	assert_int_equal(profile->pair_count, 1);
	profile_destroy(profile);
	profile = build(merge, true);
	assert_int_equal(profile->pair_count, 2);
	profile_destroy(profile);
	profile_merge_destroy(merge);
	free(one);
	free(two);
}

#define VARIANTS 5

static void test_order_and_grouping_do_not_matter(void **state)
{
	struct variant *variants[VARIANTS];
	struct unit_random random = { .state = 7 };
	char *expected = NULL;

	(void)state;
	for (unsigned i = 0; i < VARIANTS; i++)
		variants[i] = make(i + 1);
	for (unsigned round = 0; round < 40; round++) {
		struct profile_merge *all = profile_merge_create(), *part = profile_merge_create();
		struct profile *profile;
		unsigned order[VARIANTS], grouped = round % (VARIANTS + 1);
		char *text;

		for (unsigned i = 0; i < VARIANTS; i++)
			order[i] = i;
		for (unsigned i = VARIANTS; round && i > 1; i--) {
			unsigned other = (unsigned)unit_random_below(&random, i),
				 kept = order[i - 1];

			order[i - 1] = order[other];
			order[other] = kept;
		}
		/* Some of them are merged first, and join the others at some time. */
		for (unsigned i = 0; i < grouped; i++)
			add(part, &variants[order[i]]->profile);
		if (grouped < VARIANTS && round % 2)
			add(all, &variants[order[grouped]]->profile);
		if (grouped) {
			profile = build(part, true);
			add(all, profile);
			profile_destroy(profile);
		}
		for (unsigned i = grouped + (grouped < VARIANTS && round % 2); i < VARIANTS; i++)
			add(all, &variants[order[i]]->profile);
		profile_merge_destroy(part);
		text = written(all);
		if (!expected)
			expected = strdup(text);
		assert_string_equal(text, expected);
		free(text);
		profile_merge_destroy(all);
	}
	free(expected);
	for (unsigned i = 0; i < VARIANTS; i++)
		free(variants[i]);
}

/* A process is the outermost frame of its stacks, and its time is what it had. */
static void test_tree(void **state)
{
	struct variant *one = make(1), *two = make(2);
	struct profile_merge *merge = profile_merge_create();
	uint64_t expected_ns = 0, found_ns = 0;
	struct profile *profile;
	size_t roots = 0;
	char *text;

	(void)state;
	add(merge, &one->profile);
	add(merge, &two->profile);
	profile = build(merge, false);
	for (size_t i = 0; i < one->profile.tree.node_count; i++)
		for (size_t c = 0; c < TIME_CLASS_COUNT; c++)
			expected_ns += 2 * one->profile.tree.nodes[i].time_ns[c];
	for (size_t i = 0; i < profile->tree.node_count; i++) {
		const struct profile_node *node = &profile->tree.nodes[i];

		for (size_t c = 0; c < TIME_CLASS_COUNT; c++)
			found_ns += node->time_ns[c];
		if (node->parent == PROFILE_NODE_NONE) {
			roots++;
			assert_int_equal(profile->tree.frames[node->frame].kind, FRAME_PROCESS);
			assert_int_equal(node->depth, 0);
		} else {
			assert_true(node->parent < i);
			assert_int_equal(node->depth, profile->tree.nodes[node->parent].depth + 1);
		}
	}
	assert_int_equal(roots, 2);
	assert_int_equal(found_ns, expected_ns);
	text = sample_written(&writer_collapsed, profile, &(struct writer_options){ 0 });
	assert_int_equal(strncmp(text, "process 101 (python3 conv_backprop.py", 37), 0);
	assert_non_null(
		strstr(text, "\nprocess 102 (python3 conv_backprop.py --seconds 60);_start"));
	free(text);
	profile_destroy(profile);
	profile_merge_destroy(merge);
	free(one);
	free(two);
}

/* However many come and go, memory has a limit, and no time is lost. */
static void test_many_processes(void **state)
{
	struct profile_merge *merge = profile_merge_create();
	struct variant *variant = make(1);
	struct profile *profile;
	uint64_t sum_ns = 0, node_ns = 0;
	const unsigned count = 2 * PROCESSES;

	(void)state;
	for (unsigned i = 0; i < count; i++) {
		variant->profile.facts.target.pid = 1000 + (pid_t)i;
		add(merge, &variant->profile);
	}
	profile = build(merge, false);
	assert_in_range(profile->process_count, PROCESSES, PROCESSES + 1);
	/* Those without an entry of their own are together, and so first by time. */
	assert_int_equal(profile->processes[0].pid, 0);
	for (size_t i = 0; i < profile->process_count; i++)
		for (size_t c = 0; c < TIME_CLASS_COUNT; c++)
			sum_ns += profile->processes[i].time_ns[c];
	for (size_t c = 0; c < TIME_CLASS_COUNT; c++)
		node_ns += profile->time_ns[c];
	assert_int_equal(sum_ns, node_ns);
	assert_true(profile->tree.node_count <=
		    (PROCESSES + 1) * (variant->profile.tree.node_count + 1));
	profile_destroy(profile);
	profile_merge_destroy(merge);
	free(variant);
}

static uint64_t timeline_sum(const struct profile_timeline *timeline)
{
	uint64_t sum_ns = timeline->left_out_ns;

	for (size_t i = 0; i < timeline->cell_count; i++)
		for (size_t c = 0; c < TIME_CLASS_COUNT; c++)
			sum_ns += timeline->cells[i].time_ns[c];
	return sum_ns;
}

/* When the time of an owner begins, in slices; how much of it there is. */
static uint64_t first_slice(const struct profile_timeline *timeline, uint32_t owner)
{
	for (size_t i = 0; i < timeline->cell_count; i++)
		if (timeline->cells[i].owner == owner)
			return timeline->cells[i].slice;
	fail_msg("owner %u has no time", owner);
	return 0;
}

/* Slices are the coarser ones, and lie where the processes had them. */
static void test_timelines(void **state)
{
	struct variant *one = make(1), *two = make(2);
	struct profile_merge *merge = profile_merge_create();
	const struct profile_timeline *threads, *nodes;
	struct profile *profile;
	uint32_t first, second;

	(void)state;
	/* Not so long that slices would have to become longer. */
	one->profile.facts.thread_timeline.cell_count = 20;
	one->profile.facts.node_timeline.cell_count = 20;
	two->profile.facts.thread_timeline.cell_count = 20;
	two->profile.facts.node_timeline.cell_count = 20;
	/* They begin 1.051 s apart; the later is merged first. */
	add(merge, &two->profile);
	add(merge, &one->profile);
	profile = build(merge, false);
	threads = &profile->facts.thread_timeline;
	nodes = &profile->facts.node_timeline;
	assert_int_equal(threads->slice_ns, 2 * TIMELINE_SLICE_NS);
	assert_int_equal(nodes->slice_ns, 4 * TIMELINE_SLICE_NS);
	assert_int_equal(timeline_sum(threads),
			 timeline_sum(&one->profile.facts.thread_timeline) +
				 timeline_sum(&two->profile.facts.thread_timeline));
	assert_int_equal(timeline_sum(nodes),
			 timeline_sum(&one->profile.facts.node_timeline) +
				 timeline_sum(&two->profile.facts.node_timeline));
	assert_int_equal(threads->left_out_ns, 3);
	first = profile->facts.threads[0].pid == 101 ? 0 : 1;
	assert_in_range(first_slice(threads, first), 0, 1);
	assert_in_range(first_slice(threads, 1 - first), 9, 12);
	/* Those of nodes are of their own processes' stacks. */
	first = nodes->cells[0].owner;
	second = nodes->cells[nodes->cell_count - 1].owner;
	for (size_t i = 0; i < nodes->cell_count; i++)
		assert_true(nodes->cells[i].owner == first || nodes->cells[i].owner == second);
	while (profile->tree.nodes[first].parent != PROFILE_NODE_NONE)
		first = profile->tree.nodes[first].parent;
	while (profile->tree.nodes[second].parent != PROFILE_NODE_NONE)
		second = profile->tree.nodes[second].parent;
	assert_true(first != second);
	profile_destroy(profile);
	profile_merge_destroy(merge);

	/* Nobody knows when it was. */
	two->profile.facts.started_unix_ns = 0;
	merge = profile_merge_create();
	add(merge, &one->profile);
	add(merge, &two->profile);
	profile = build(merge, false);
	threads = &profile->facts.thread_timeline;
	assert_int_equal(threads->left_out_ns,
			 1 + timeline_sum(&two->profile.facts.thread_timeline));
	profile_destroy(profile);
	profile_merge_destroy(merge);
	free(one);
	free(two);
}

/* However far apart, and however many cells: within the limits, and nothing is lost. */
static void test_timeline_limits(void **state)
{
	struct variant *variant = make(1);
	struct profile *profile = &variant->profile;
	const uint64_t begun_ns = profile->facts.started_unix_ns;
	const unsigned processes = 1000;
	char *expected = NULL;

	(void)state;
	assert_true(processes < PROCESSES);
	assert_true(processes * VARIANT_CELLS > 2 * CELLS);
	/* In order of time, and the other way round. */
	for (unsigned round = 0; round < 2; round++) {
		struct profile_merge *merge = profile_merge_create();
		const struct profile_timeline *timeline;
		struct profile *merged;
		char *text;

		for (unsigned i = 0; i < processes; i++) {
			unsigned at = round ? processes - 1 - i : i;

			profile->facts.started_unix_ns = begun_ns + at * 1000000000ull;
			profile->facts.target.pid = 1000 + (pid_t)at;
			add(merge, profile);
		}
		merged = build(merge, false);
		timeline = &merged->facts.thread_timeline;
		assert_true(timeline->slice_count <= TIMELINE_THREAD_SLICES_MAX);
		assert_true(timeline->cell_count <= CELLS);
		assert_int_equal(timeline_sum(timeline),
				 processes * timeline_sum(&profile->facts.thread_timeline));
		timeline = &merged->facts.node_timeline;
		assert_true(timeline->slice_count > TIMELINE_NODE_SLICES_MAX / 4);
		assert_true(timeline->slice_count <= TIMELINE_NODE_SLICES_MAX);
		assert_int_equal(timeline_sum(timeline),
				 processes * timeline_sum(&profile->facts.node_timeline));
		text = written_nodes(timeline);
		if (expected)
			assert_string_equal(text, expected);
		else
			expected = strdup(text);
		free(text);
		profile_destroy(merged);
		profile_merge_destroy(merge);
	}
	free(expected);
	/* What no session would have written. */
	profile->facts.started_unix_ns = UINT64_MAX;
	variant->thread_cells[VARIANT_CELLS - 1].slice = UINT32_MAX;
	for (unsigned doublings = 0; doublings < 64; doublings++) {
		struct profile_merge *merge = profile_merge_create();
		struct profile *merged;

		profile->facts.thread_timeline.slice_ns = (uint64_t)TIMELINE_SLICE_NS << doublings;
		add(merge, profile);
		merged = build(merge, false);
		assert_true(merged->facts.thread_timeline.slice_count <=
			    TIMELINE_THREAD_SLICES_MAX);
		profile_destroy(merged);
		profile_merge_destroy(merge);
	}
	free(variant);
}

/* Whether the GIL is known is asked of those that had samples. */
static void test_gil(void **state)
{
	(void)state;
	for (unsigned known = 0; known < 8; known++) {
		struct profile_merge *merge = profile_merge_create();
		struct profile *profile;

		for (unsigned i = 0; i < 3; i++) {
			/* The first has no samples. */
			struct variant *variant = make(i);

			variant->profile.facts.gil_known = known >> i & 1;
			add(merge, &variant->profile);
			profile = build(merge, false);
			assert_int_equal(profile->facts.gil_known, i == 0   ? 0
								   : i == 1 ? known >> 1 & 1
									    : known >> 1 == 3);
			profile_destroy(profile);
			free(variant);
		}
		profile_merge_destroy(merge);
	}
}

/* The newest text of a file stands for all, whichever process comes first; where there are two,
 * that is said. */
static void test_sources(void **state)
{
	static const struct profile_source sources[3][2] = {
		{ { .file = "/b.py", .sha256 = "01", .size = 10, .modified_unix_ns = 5 },
		  { .file = "/same.py", .sha256 = "07", .size = 70, .modified_unix_ns = 7 } },
		{ { .file = "/same.py", .sha256 = "07", .size = 70, .modified_unix_ns = 7 },
		  { .file = "/b.py", .sha256 = "02", .size = 20, .modified_unix_ns = 6 } },
		/* Written twice within the clock's resolution. */
		{ { .file = "/b.py", .sha256 = "03", .size = 30, .modified_unix_ns = 6 },
		  { .file = "/a.py", .sha256 = "", .newer_than_process = true } },
	};
	static const unsigned orders[6][3] = { { 0, 1, 2 }, { 0, 2, 1 }, { 1, 0, 2 },
					       { 1, 2, 0 }, { 2, 0, 1 }, { 2, 1, 0 } };

	(void)state;
	for (unsigned i = 0; i < 6; i++) {
		struct profile_merge *merge = profile_merge_create();
		const struct profile_source *merged;
		struct profile *profile;

		for (unsigned k = 0; k < 3; k++) {
			struct variant *variant = make(orders[i][k]);

			variant->profile.sources = sources[orders[i][k]];
			variant->profile.source_count = 2;
			add(merge, &variant->profile);
			free(variant);
		}
		profile = build(merge, false);
		assert_int_equal(profile->source_count, 3);
		merged = profile->sources;
		assert_string_equal(merged[0].file, "/a.py");
		assert_true(merged[0].newer_than_process);
		assert_string_equal(merged[1].file, "/b.py");
		assert_string_equal(merged[1].sha256, "03");
		assert_int_equal(merged[1].size, 30);
		assert_int_equal(merged[1].modified_unix_ns, 6);
		assert_true(merged[1].newer_than_process);
		assert_string_equal(merged[2].file, "/same.py");
		assert_false(merged[2].newer_than_process);
		profile_destroy(profile);
		profile_merge_destroy(merge);
	}
}

static void test_nothing(void **state)
{
	struct profile_merge *merge = profile_merge_create();

	(void)state;
	assert_null(profile_merge_build(merge, false));
	profile_merge_destroy(merge);
	profile_merge_destroy(NULL);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_no_field_is_forgotten),
		cmocka_unit_test(test_sums),
		cmocka_unit_test(test_findings),
		cmocka_unit_test(test_shares_are_of_sums),
		cmocka_unit_test(test_order_and_grouping_do_not_matter),
		cmocka_unit_test(test_tree),
		cmocka_unit_test(test_many_processes),
		cmocka_unit_test(test_timelines),
		cmocka_unit_test(test_timeline_limits),
		cmocka_unit_test(test_gil),
		cmocka_unit_test(test_sources),
		cmocka_unit_test(test_nothing),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Several profiles made one. That no field is forgotten is asked of the
 * debugging information of this very program.
 */
#include "daemon/detect/interval.h"
#include "daemon/report/merge/merge_fields.h"
#include "merge_variant.h"
#include "struct_members.h"
#include "unit_random.h"

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

/* All that writers make of it that is not for the eye. */
static char *written(const struct profile_merge *merge)
{
	static const struct writer_options options = { 0 };
	struct profile *profile = build(merge, false);
	char *json = sample_written(&writer_json, profile, &options);
	char *collapsed = sample_written(&writer_collapsed, profile, &options);
	char *nodes = written_nodes(&profile->facts.node_timeline);
	char *stacks = written_nodes(&profile->facts.stack_timeline);
	char *both;

	assert_true(asprintf(&both, "%s%s%s%s", json, collapsed, nodes, stacks) > 0);
	free(stacks);
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
		cmocka_unit_test(test_gil),
		cmocka_unit_test(test_sources),
		cmocka_unit_test(test_nothing),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

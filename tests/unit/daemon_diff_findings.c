/* SPDX-License-Identifier: Apache-2.0 */
/* What became of findings between two profiles, in every format that says so. */
#include "daemon/report/diff/diff_writers.h"
#include "daemon/report/diff/finding_change.h"
#include "report_sample.h"
#include "report_text.h"

#include <jansson.h>
#include <stdlib.h>

#define LINES      5
#define SECONDS    10
#define SAMPLES    800
#define SECOND_NS  1000000000ull
#define PERCENT_NS (SECONDS * SECOND_NS / 100)

static const struct writer_options options = { .source_root = "/app/" };

/* Per cent of the time that a line could save, as the middle of an interval of four per cent. */
struct saving {
	const char *source;
	unsigned percent;
};

struct side {
	struct profile_line lines[LINES];
	struct profile_node node;
	struct profile profile;
};

static void fill(struct side *side, const struct saving *savings, int first_line)
{
	*side = (struct side){ 0 };
	for (int i = 0; i < LINES && savings[i].source; i++) {
		uint64_t saved_ns = savings[i].percent * PERCENT_NS;
		struct profile_line *line = &side->lines[side->profile.line_count++];

		*line = (struct profile_line){
			.file = "/app/model.py",
			.line = first_line + i,
			.function = "score",
			.source = savings[i].source,
			.self_ns = { 0, saved_ns, 0 },
			.total_ns = saved_ns,
			.charged_ns = saved_ns,
			.avoidable_ns = saved_ns,
			.avoidable_low_ns =
				saved_ns > 2 * PERCENT_NS ? saved_ns - 2 * PERCENT_NS : 0,
			.avoidable_high_ns = saved_ns + 2 * PERCENT_NS,
			.category = CATEGORY_REPEATED_CALL,
			.finding = "it gets the same x",
			.expression = savings[i].source,
			.column = -1,
		};
		line->evidence.arguments.samples[ARGUMENT_REPEATED] = 51;
		line->evidence.arguments.time_ns[ARGUMENT_REPEATED] = saved_ns;
	}
	side->node.parent = PROFILE_NODE_NONE;
	side->node.samples[TIME_NATIVE] = SAMPLES;
	side->profile.lines = side->lines;
	side->profile.time_ns[TIME_NATIVE] = SECONDS * SECOND_NS;
	side->profile.tree.nodes = &side->node;
	side->profile.tree.node_count = 1;
	side->profile.tree.frames = sample_tree_frames;
	side->profile.tree.frame_count = 1;
	side->profile.facts = (struct profile_facts){
		.duration_ns = SECONDS * SECOND_NS,
		.samples = SAMPLES,
		.version = "1",
	};
}

/* Grown, shrunk, as it was, gone, below a finding's share; then new, and new by chance. */
static const struct saving before[] = {
	{ "a()", 10 }, { "b()", 20 }, { "c()", 12 }, { "d()", 15 }, { "f()", 4 }
};
static const struct saving now[] = {
	{ "a()", 25 }, { "b()", 8 }, { "c()", 13 }, { "e()", 14 }, { "f()", 6 }
};

struct subject {
	struct side sides[DIFF_SIDES];
	struct diff *diff;
};

static void subject_init(struct subject *subject)
{
	fill(&subject->sides[DIFF_BASE], before, 10);
	fill(&subject->sides[DIFF_NOW], now, 30);
	subject->diff =
		diff_create(&subject->sides[DIFF_BASE].profile, &subject->sides[DIFF_NOW].profile);
	assert_non_null(subject->diff);
}

static const struct finding_change *change_of(const struct finding_changes *changes,
					      const char *source)
{
	for (size_t i = 0; i < changes->count; i++)
		if (!strcmp(changes->items[i].entry->source, source))
			return &changes->items[i];
	fail_msg("no finding of %s", source);
	return NULL;
}

static void is_change(const struct finding_changes *changes, const char *source,
		      enum finding_change_kind kind, bool chance, const char *sentence)
{
	const struct finding_change *change = change_of(changes, source);
	char text[256];

	assert_int_equal(change->kind, kind);
	assert_int_equal(change->chance, chance);
	finding_change_sentence(change, text, sizeof(text));
	assert_string_equal(text, sentence);
}

static void test_changes(void **state)
{
	struct subject subject;
	struct finding_changes *changes;

	(void)state;
	subject_init(&subject);
	changes = finding_changes_find(subject.diff);
	assert_non_null(changes);
	assert_int_equal(changes->count, 6);
	/* What could save most now, and last what is gone. */
	assert_string_equal(changes->items[0].entry->source, "a()");
	assert_string_equal(changes->items[5].entry->source, "d()");
	is_change(changes, "a()", FINDING_GROWN, false,
		  "It has grown: it could save 10% of the CPU time in the base, and 25% now.");
	is_change(changes, "b()", FINDING_SHRUNK, false,
		  "It has shrunk: it could save 20% of the CPU time in the base, and 8% now.");
	is_change(changes, "c()", FINDING_SAME, false, "As in the base.");
	is_change(changes, "d()", FINDING_GONE, false,
		  "Gone: it could save 15% of the CPU time in the base.");
	is_change(changes, "e()", FINDING_NEW, false, "New since the base.");
	is_change(changes, "f()", FINDING_NEW, true,
		  "New since the base, where its line could save 4% of the CPU time: no more than "
		  "chance may make of it.");
	finding_changes_destroy(changes);
	diff_destroy(subject.diff);
}

static char *written_with(const struct diff *diff, const struct writer *writer,
			  const struct writer_options *with)
{
	char *text = NULL;
	size_t size;
	FILE *file = open_memstream(&text, &size);

	assert_non_null(file);
	assert_non_null(diff_write_of(writer));
	assert_int_equal(diff_write_of(writer)(diff, with, file), 0);
	fclose(file);
	return text;
}

static char *written(const struct diff *diff, const struct writer *writer)
{
	return written_with(diff, writer, &options);
}

/* The result of the expression; its member's text. */
static const json_t *result_of(const json_t *run, const char *source)
{
	const json_t *results = json_object_get(run, "results");

	for (size_t i = 0; i < json_array_size(results); i++) {
		const json_t *result = json_array_get(results, i);
		const json_t *place =
			json_object_get(json_array_get(json_object_get(result, "locations"), 0),
					"physicalLocation");
		const json_t *snippet = json_object_get(
			json_object_get(json_object_get(place, "contextRegion"), "snippet"),
			"text");

		if (!strcmp(json_string_value(snippet), source))
			return result;
	}
	fail_msg("no result of %s", source);
	return NULL;
}

static const char *fingerprint_of(const json_t *run, const char *source)
{
	return json_string_value(
		json_object_get(json_object_get(result_of(run, source), "partialFingerprints"),
				"primaryLocationLineHash"));
}

static const json_t *run_of(const json_t *log)
{
	return json_array_get(json_object_get(log, "runs"), 0);
}

static json_t *plain_sarif(const struct side *side)
{
	char *text = sample_written(&writer_sarif, &side->profile, &options);
	json_t *log = json_loads(text, 0, NULL);

	free(text);
	assert_non_null(log);
	return log;
}

static void test_sarif(void **state)
{
	static const struct {
		const char *source, *expected;
	} rows[] = {
		{ "a()", "updated" }, { "b()", "updated" }, { "c()", "unchanged" },
		{ "d()", "absent" },  { "e()", "new" },     { "f()", "new" },
	};
	struct subject subject;
	json_t *log, *base, *later;
	const json_t *result;
	char *text;

	(void)state;
	subject_init(&subject);
	text = written(subject.diff, &writer_sarif);
	log = json_loads(text, JSON_REJECT_DUPLICATES, NULL);
	free(text);
	assert_non_null(log);
	assert_int_equal(json_array_size(json_object_get(run_of(log), "results")), 6);
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++)
		assert_string_equal(
			json_string_value(json_object_get(result_of(run_of(log), rows[i].source),
							  "baselineState")),
			rows[i].expected);
	result = result_of(run_of(log), "a()");
	assert_string_equal(
		json_string_value(json_object_get(json_object_get(result, "properties"), "change")),
		"grown");
	check_has(json_string_value(json_object_get(json_object_get(result, "message"), "text")),
		  "It has grown: it could save 10% of the CPU time in the base, and 25% now. ");
	assert_true(json_is_true(json_object_get(
		json_object_get(result_of(run_of(log), "f()"), "properties"), "by_chance")));

	/* Known again by what each side alone has written. */
	base = plain_sarif(&subject.sides[DIFF_BASE]);
	later = plain_sarif(&subject.sides[DIFF_NOW]);
	assert_string_equal(fingerprint_of(run_of(log), "d()"),
			    fingerprint_of(run_of(base), "d()"));
	assert_string_equal(fingerprint_of(run_of(log), "e()"),
			    fingerprint_of(run_of(later), "e()"));
	assert_null(json_object_get(result_of(run_of(later), "e()"), "baselineState"));
	json_decref(base);
	json_decref(later);
	json_decref(log);
	diff_destroy(subject.diff);
}

static void test_github(void **state)
{
	struct subject subject;
	struct diff *same;
	char *text;

	(void)state;
	subject_init(&subject);
	text = written(subject.diff, &writer_github);
	check_has(text, "::warning file=model.py,line=30");
	check_has(text,
		  "::It has grown: it could save 10%25 of the CPU time in the base, and 25%25 "
		  "now. it gets the same x.");
	check_has(text, "::warning file=model.py,line=33");
	check_has(text, "::New since the base. it gets");
	/* What may be chance is no warning, and what is no worse is not there. */
	check_has(text, "::notice file=model.py,line=34");
	check_has_not(text, "line=31");
	check_has_not(text, "line=32");
	check_has_not(text, "Gone");
	free(text);
	diff_destroy(subject.diff);

	same = diff_create(&subject.sides[DIFF_NOW].profile, &subject.sides[DIFF_NOW].profile);
	text = written(same, &writer_github);
	assert_string_equal(text,
			    "::notice title=pieprofd::no finding is new or has grown since the "
			    "base: 5 unchanged, 0 shrunk, 0 gone\n");
	free(text);
	diff_destroy(same);
}

static void test_markdown(void **state)
{
	static const char *const order[] = {
		"## pieprofd: No function's own time changed",
		"Base: ",
		"Now: ",
		"### Findings",
		"| grown | 10.0% | 25.0% | `model.py:30` | `a()` | repeated-call |\n",
		"| new | - | 14.0% | `model.py:33` | `e()` | repeated-call |\n",
		"| unchanged | 12.0% | 13.0% | `model.py:32` | `c()` | repeated-call |\n",
		"| shrunk | 20.0% | 8.0% | `model.py:31` | `b()` | repeated-call |\n",
		"| new, by chance? | 4.0% | 6.0% | `model.py:34` | `f()` | repeated-call |\n",
		"| gone | 15.0% | - | `model.py:13` | `d()` | repeated-call |\n",
		"### Lines whose own time changed by more than chance",
	};
	struct subject subject;
	char *text;

	(void)state;
	subject_init(&subject);
	text = written(subject.diff, &writer_markdown);
	check_order(text, order, sizeof(order) / sizeof(order[0]));
	check_has(text, "0 more lines changed by more than chance; 2 did not.");
	free(text);
	diff_destroy(subject.diff);
}

/* That is said, and its shares are whole percents; the other side's are not. */
static void test_few_samples(void **state)
{
	struct subject subject;
	char *text;

	(void)state;
	subject_init(&subject);
	subject.sides[DIFF_NOW].profile.facts.samples = 40;
	text = written(subject.diff, &writer_text);
	check_has(text, "  now   10.0 s, 40 samples (fewer than 100: shares are rough), ");
	check_has(text, "\n  base  10.0 s, 800 samples, ");
	check_has(text, " 10.0%    25% could save  grown ");
	check_has(text, "\n 10.0%    25% ");
	free(text);
	text = written(subject.diff, &writer_markdown);
	check_has(text, "| grown | 10.0% | 25% | `model.py:30` |");
	check_has(text, ", 40 samples (fewer than 100: shares are rough), ");
	free(text);
	text = written(subject.diff, &writer_github);
	check_has(text, "::notice title=pieprofd::40 samples (fewer than 100: shares are rough)\n");
	free(text);
	diff_destroy(subject.diff);
}

static unsigned lines_of(const char *text)
{
	unsigned lines = 0;

	for (; *text; text++)
		lines += *text == '\n';
	return lines;
}

static void test_text(void **state)
{
	static const char *const order[] = {
		"FINDINGS  1 new; 1 grown; 1 gone; 1 shrunk; 1 new, by chance?; 1 unchanged\n",
		"  base    now of the CPU time\n",
		"     -  14.0% could save  new              /app/model.py:33",
		"  e()\n",
		"it gets the same x.", /* what was said of it */
		" 10.0%  25.0% could save  grown            /app/model.py:30",
		" 15.0%      - could save  gone             /app/model.py:13",
		" 20.0%   8.0% could save  shrunk           /app/model.py:31",
		"  4.0%   6.0% could save  new, by chance?  /app/model.py:34",
		" 12.0%  13.0% could save  unchanged        /app/model.py:32",
		"COULD SAVE  ",
		"LINES  own time that changed",
		"FUNCTIONS  ",
		"PAIRS  ",
	};
	struct subject subject;
	char *text;

	(void)state;
	subject_init(&subject);
	text = written(subject.diff, &writer_text);
	check_order(text, order, sizeof(order) / sizeof(order[0]));
	free(text);
	diff_destroy(subject.diff);
}

/* One screen, however narrow: findings first, then lines; by chance and unchanged are counted. */
static void test_screen(void **state)
{
	static const char *const order[] = {
		"FINDINGS  1 new; 1 grown; 1 gone; 1 shrunk; 1 new, by chance?; 1 unchanged\n",
		"     -  14.0% could save  new ",
		" 10.0%  25.0% could save  grown ",
		" 15.0%      - could save  gone ",
		"LINES  own time that changed",
		"more; ",
		"--details",
	};
	struct writer_options narrow = { .brief = true, .columns = 80 };
	struct subject subject;
	char *text;

	(void)state;
	subject_init(&subject);
	for (narrow.columns = 80; narrow.columns < 200; narrow.columns += 20) {
		text = written_with(subject.diff, &writer_text, &narrow);
		check_order(text, order, sizeof(order) / sizeof(order[0]));
		check_has_not(text, "FUNCTIONS");
		check_has_not(text, "could save  unchanged");
		assert_true(lines_of(text) <= 20);
		free(text);
	}
	narrow.lines_max = 10;
	text = written_with(subject.diff, &writer_text, &narrow);
	check_has(text, "  (2 others: within noise");
	free(text);
	diff_destroy(subject.diff);
}

static void test_screen_of_the_same(void **state)
{
	const struct writer_options brief = { .brief = true };
	struct subject subject;
	struct diff *same;
	char *text;

	(void)state;
	subject_init(&subject);
	same = diff_create(&subject.sides[DIFF_NOW].profile, &subject.sides[DIFF_NOW].profile);
	text = written_with(same, &writer_text, &brief);
	check_has(text, "FINDINGS  5 unchanged\n\nLINES  none changed");
	check_has(text, "5 others");
	free(text);
	diff_destroy(same);
	diff_destroy(subject.diff);
}

static void test_json(void **state)
{
	struct subject subject;
	const json_t *findings, *first;
	json_t *root;
	char *text;

	(void)state;
	subject_init(&subject);
	text = written(subject.diff, &writer_json);
	root = json_loads(text, JSON_REJECT_DUPLICATES, NULL);
	free(text);
	findings = json_object_get(root, "findings");
	first = json_array_get(findings, 0);
	assert_int_equal(json_array_size(findings), 6);
	assert_string_equal(json_string_value(json_object_get(first, "change")), "grown");
	assert_int_equal(json_integer_value(json_object_get(first, "line")), 30);
	assert_string_equal(json_string_value(json_object_get(first, "of")), "saving");
	json_decref(root);
	diff_destroy(subject.diff);
}

/* Neither has any. */
static void test_none(void **state)
{
	struct profile nothing = { .facts.version = "1" };
	struct diff *diff = diff_create(&nothing, &nothing);
	const struct writer *const writers[] = { &writer_text, &writer_json, &writer_sarif,
						 &writer_github, &writer_markdown };
	const struct writer_options brief = { .brief = true };
	char *text;

	(void)state;
	for (size_t i = 0; i < sizeof(writers) / sizeof(writers[0]); i++)
		free(written(diff, writers[i]));
	text = written_with(diff, &writer_text, &brief);
	check_has(text, "FINDINGS  neither has one\n");
	free(text);
	assert_null(diff_write_of(&writer_pprof));
	diff_destroy(diff);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_changes),     cmocka_unit_test(test_sarif),
		cmocka_unit_test(test_github),      cmocka_unit_test(test_markdown),
		cmocka_unit_test(test_few_samples), cmocka_unit_test(test_text),
		cmocka_unit_test(test_screen),      cmocka_unit_test(test_screen_of_the_same),
		cmocka_unit_test(test_json),        cmocka_unit_test(test_none),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

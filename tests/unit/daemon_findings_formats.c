/* SPDX-License-Identifier: Apache-2.0 */
/* Findings in JSON, SARIF, GitHub's commands and Markdown: the same ones, and no name breaks out.
 */
#include "daemon/report/encode/file_uri.h"
#include "daemon/report/encode/markdown_text.h"
#include "daemon/report/encode/workflow_command.h"
#include "daemon/report/html/html.h"
#include "daemon/report/model/finding.h"
#include "report_sample.h"
#include "report_text.h"

#include <jansson.h>
#include <math.h>

#define FINDING "np.linalg.inv(m) gets the same m (float64[40,40]) in 51 of 51 samples of it"

#define EXAMPLE "kept = np.linalg.inv(m), before the loop; in it kept"

static const struct writer_options options = { .source_root = "/app/" };

static struct profile_line line_with_finding(void)
{
	struct profile_line line = {
		.file = "/app/src/model.py",
		.line = 7,
		.function = "score",
		/* The expression begins behind two characters of two bytes each. */
		.source = "\xc3\xa9\xc3\xa9 @ np.linalg.inv(m) @ x",
		.indent = 8,
		.self_ns = { 0, 1000000, 0 },
		.total_ns = 8000000000,
		.charged_ns = 8000000000,
		.avoidable_ns = 6500000000,
		.avoidable_low_ns = 4704000000,
		.avoidable_high_ns = 7448000000,
		.category = CATEGORY_REPEATED_CALL,
		.finding = FINDING,
		.expression = "np.linalg.inv(m)",
		.example = EXAMPLE,
		.column = 15,
		.end_column = 31,
		.end_line = 7,
	};

	line.evidence.arguments.samples[ARGUMENT_REPEATED] = 51;
	line.evidence.arguments.time_ns[ARGUMENT_REPEATED] = 6000000000;
	return line;
}

static struct profile profile_of(const struct profile_line *lines, size_t count)
{
	struct profile profile = sample_profile();

	profile.lines = lines;
	profile.line_count = count;
	profile.pair_count = profile.pairs_omitted = 0;
	return profile;
}

static json_t *parsed(const struct writer *writer, const struct profile *profile)
{
	char *text = sample_written(writer, profile, &options);
	json_t *root = json_loads(text, JSON_REJECT_DUPLICATES, NULL);

	assert_non_null(root);
	free(text);
	return root;
}

/* "results.0.level" */
static json_t *at(json_t *value, const char *path)
{
	char copy[128], *saved = NULL;

	snprintf(copy, sizeof(copy), "%s", path);
	for (char *key = strtok_r(copy, ".", &saved); key && value;
	     key = strtok_r(NULL, ".", &saved))
		value = json_is_array(value) ? json_array_get(value, strtoul(key, NULL, 10))
					     : json_object_get(value, key);
	if (!value)
		print_error("missing: %s\n", path);
	assert_non_null(value);
	return value;
}

static void check_string(json_t *root, const char *path, const char *expected)
{
	assert_string_equal(json_string_value(at(root, path)), expected);
}

static void check_integer(json_t *root, const char *path, json_int_t expected)
{
	assert_int_equal(json_integer_value(at(root, path)), expected);
}

static void test_list(void **state)
{
	struct profile_line lines[2] = { sample_lines[1], line_with_finding() };
	struct profile profile = profile_of(lines, 2);
	struct finding findings[FINDINGS_MAX];

	(void)state;
	/* What could save most is first. */
	assert_int_equal(findings_find(&profile, findings, FINDINGS_MAX), 2);
	assert_ptr_equal(findings[0].line, &lines[1]);
	assert_int_equal(findings[0].certainty, FINDING_SURE);
	assert_true(findings[0].by_arguments);
	assert_int_equal(findings[0].support, 51);
	assert_string_equal(findings[0].expression, "np.linalg.inv(m)");
	assert_true(fabs(findings[0].saving - 6.5 / 9.8) < 1e-9);
	assert_string_equal(findings[1].expression, "g[f] += d[i, j, f] * r");
	assert_false(findings[1].by_arguments);
	assert_int_equal(findings_find(&profile, findings, 1), 1);
	assert_ptr_equal(findings[0].line, &lines[1]);
	lines[1].avoidable_ns = lines[0].avoidable_ns = 100000000;
	assert_int_equal(findings_find(&profile, findings, FINDINGS_MAX), 0);
}

static void test_json(void **state)
{
	struct profile_line line = line_with_finding();
	struct profile profile = profile_of(&line, 1);
	json_t *root = parsed(&writer_json, &profile);

	(void)state;
	assert_int_equal(json_array_size(at(root, "findings")), 1);
	check_string(root, "findings.0.file", "/app/src/model.py");
	check_string(root, "findings.0.expression.text", "np.linalg.inv(m)");
	check_string(root, "findings.0.what", FINDING ".");
	check_string(root, "findings.0.gain", "Could save 48 to 76% of the CPU time.");
	check_string(root, "findings.0.category", "repeated-call");
	check_string(root, "findings.0.certainty", "sure");
	assert_true(json_is_null(at(root, "findings.0.caution")));
	assert_true(json_is_null(at(root, "findings.0.own_line")));
	json_decref(root);
}

static void test_sarif(void **state)
{
	struct profile_line line = line_with_finding(), moved = line;
	struct profile profile = profile_of(&line, 1);
	json_t *root = parsed(&writer_sarif, &profile), *later;
	const char *fingerprint;

	(void)state;
	check_string(root, "version", "2.1.0");
	check_string(root, "runs.0.tool.driver.name", "pieprofd");
	assert_int_equal(json_array_size(at(root, "runs.0.tool.driver.rules")), CATEGORY_COUNT);
	check_string(root, "runs.0.originalUriBaseIds.%SRCROOT%.uri", "file:///app/");
	check_string(root, "runs.0.results.0.ruleId", "repeated-call");
	check_integer(root, "runs.0.results.0.ruleIndex", CATEGORY_REPEATED_CALL);
	check_string(root, "runs.0.tool.driver.rules.2.id", "repeated-call");
	check_string(root, "runs.0.results.0.level", "warning");
	check_string(root, "runs.0.results.0.locations.0.physicalLocation.artifactLocation.uri",
		     "src/model.py");
	check_integer(root, "runs.0.results.0.locations.0.physicalLocation.region.startLine", 7);
	/* Characters from 1: eight of white space, five before the expression. */
	check_integer(root, "runs.0.results.0.locations.0.physicalLocation.region.startColumn", 14);
	check_integer(root, "runs.0.results.0.locations.0.physicalLocation.region.endColumn", 30);
	assert_non_null(strstr(json_string_value(at(root, "runs.0.results.0.message.text")),
			       "Could save 48 to 76% of the CPU time."));
	fingerprint = json_string_value(
		at(root, "runs.0.results.0.partialFingerprints.primaryLocationLineHash"));
	assert_int_equal(strlen(fingerprint), 34);

	/* Edits above it do not make it another. */
	moved.line = 99;
	moved.end_line = 100;
	profile.lines = &moved;
	later = parsed(&writer_sarif, &profile);
	check_string(later, "runs.0.results.0.partialFingerprints.primaryLocationLineHash",
		     fingerprint);
	check_integer(later, "runs.0.results.0.locations.0.physicalLocation.region.endLine", 100);
	json_decref(later);
	json_decref(root);
}

/* Two alike in one function are two. */
static void test_sarif_alike(void **state)
{
	struct profile_line lines[2] = { line_with_finding(), line_with_finding() };
	struct profile profile = profile_of(lines, 2);
	json_t *root;

	(void)state;
	lines[1].line = 8;
	root = parsed(&writer_sarif, &profile);
	assert_string_not_equal(
		json_string_value(
			at(root, "runs.0.results.0.partialFingerprints.primaryLocationLineHash")),
		json_string_value(
			at(root, "runs.0.results.1.partialFingerprints.primaryLocationLineHash")));
	json_decref(root);
}

static void test_github(void **state)
{
	struct profile_line line = line_with_finding();
	struct profile profile = profile_of(&line, 1);
	char *text = sample_written(&writer_github, &profile, &options);
	static const char head[] = "::warning file=src/model.py,line=7,col=14,endColumn=30,"
				   "title=one expression does the same work again::" FINDING
				   ". Could save 48 to 76%25 of the CPU time. ";

	(void)state;
	assert_memory_equal(text, head, strlen(head));
	assert_ptr_equal(strchr(text, '\n') + 1, text + strlen(text));
	free(text);
	/* On little evidence; in several lines. */
	line.evidence.arguments.samples[ARGUMENT_REPEATED] = 9;
	line.end_line = 9;
	text = sample_written(&writer_github, &profile, &options);
	check_has(text, "::notice file=src/model.py,line=7,endLine=9,title=");
	free(text);
	/* Nothing was found. */
	line.avoidable_ns = 0;
	text = sample_written(&writer_github, &profile, &options);
	assert_memory_equal(text, "::notice title=pieprofd::", 25);
	free(text);
}

static void test_markdown(void **state)
{
	static const char *const order[] = {
		"## pieprofd: one expression does the same work again\n",
		"`python3 conv_backprop.py --seconds 60` (pid 4321), Python 3.11.2, 10.0 s, 987 ",
		"- `src/model.py:7` in `score`: `",
		"### What it could save\n",
		"| 66% | 48 to 76% | sure | `src/model.py:7` | `np.linalg.inv(m)` | "
		"repeated-call |\n",
		"### Lines with most CPU time\n",
		"### Evidence\n",
	};
	struct profile_line line = line_with_finding();
	struct profile profile = profile_of(&line, 1);
	char *text = sample_written(&writer_markdown, &profile, &options);

	(void)state;
	check_order(text, order, sizeof(order) / sizeof(order[0]));
	free(text);
}

/* The change that it asks for looks the same wherever it is read. */
static void test_example(void **state)
{
	static const struct writer *const writers[] = { &writer_text,   &writer_json,
							&writer_html,   &writer_sarif,
							&writer_github, &writer_markdown };
	struct profile_line line = line_with_finding();
	struct profile profile = profile_of(&line, 1);

	(void)state;
	for (size_t i = 0; i < sizeof(writers) / sizeof(writers[0]); i++) {
		char *text = sample_written(writers[i], &profile, &options);

		/* No line breaks, nor marks of Markdown. */
		check_has(text, "kept = np.linalg.inv(m), ");
		free(text);
	}
}

/* What was made with a profile is what every format shows, and it is made once. */
static void test_made_once(void **state)
{
	struct profile_line line = line_with_finding();
	struct profile profile = profile_of(&line, 1);
	struct findings findings;
	struct arena arena;

	(void)state;
	arena_init(&arena, 1 << 20);
	assert_int_equal(findings_make(&profile, &arena), 0);
	assert_int_equal(profile.finding_count, 1);
	assert_int_equal(findings_of(&profile, &findings), 0);
	assert_ptr_equal(findings.items, profile.findings);
	findings_deinit(&findings);
	/* Also that there is none. */
	line.avoidable_ns = 0;
	assert_int_equal(findings_make(&profile, &arena), 0);
	assert_int_equal(findings_of(&profile, &findings), 0);
	assert_int_equal(findings.count, 0);
	assert_null(findings.own);
	findings_deinit(&findings);
	arena_deinit(&arena);
}

/* Every format that people read says so, and how rough shares are. */
static void test_few_samples(void **state)
{
	static const char head[] = "::notice title=pieprofd::42 samples (fewer than 100: shares "
				   "are rough)\n::warning file=";
	struct profile_line line = line_with_finding();
	struct profile profile = profile_of(&line, 1);
	char *text;
	json_t *root;

	(void)state;
	profile.facts.samples = 42;
	text = sample_written(&writer_markdown, &profile, &options);
	check_has(text, ", 42 samples (fewer than 100: shares are rough), ");
	free(text);
	text = sample_written(&writer_github, &profile, &options);
	assert_memory_equal(text, head, strlen(head));
	free(text);
	root = parsed(&writer_sarif, &profile);
	check_integer(root, "runs.0.properties.samples", 42);
	json_decref(root);
	profile.facts.samples = 1;
	text = sample_written(&writer_markdown, &profile, &options);
	check_has(text, ", 1 sample (fewer than 100: shares are rough), ");
	free(text);
}

static void test_container(void **state)
{
	struct profile_line line = line_with_finding();
	struct profile profile = profile_of(&line, 1);
	json_t *root = parsed(&writer_sarif, &profile);

	(void)state;
	assert_true(json_is_null(at(root, "runs.0.properties.container")));
	json_decref(root);
	profile.facts.target.container = (struct profile_container){
		.runtime = "podman",
		.id = "0123456789ab",
		.name = "web",
	};
	root = parsed(&writer_sarif, &profile);
	check_string(root, "runs.0.properties.container.name", "web");
	json_decref(root);
}

/* A slow way to write a line is a rule of its own, and claims no saving. */
static void test_pattern(void **state)
{
	static const struct profile_frame frames[] = {
		{ .kind = FRAME_PYTHON,
		  .file = "/app/x.py",
		  .function = "work",
		  .line = 2,
		  .source = "for i, row in df.iterrows():" },
		{ .kind = FRAME_PYTHON,
		  .file = "/usr/lib/python3/dist-packages/pandas/core/frame.py",
		  .function = "DataFrame.iterrows",
		  .line = 9 },
	};
	static const struct profile_node nodes[] = {
		{ .parent = PROFILE_NODE_NONE },
		{ .parent = 0, .frame = 1, .depth = 1, .time_ns = { 730, 0, 0 } },
	};
	struct profile_line lines[] = {
		{ .file = frames[0].file,
		  .line = 2,
		  .function = "work",
		  .source = frames[0].source,
		  .total_ns = 730,
		  .column = -1 },
		{ .file = frames[1].file,
		  .line = 9,
		  .function = "DataFrame.iterrows",
		  .self_ns = { 730, 0, 0 },
		  .total_ns = 730,
		  .column = -1 },
	};
	struct profile profile = profile_of(lines, 2);
	json_t *root;
	char *text;

	(void)state;
	profile.tree = (struct profile_tree){ frames, 2, nodes, 2, 0 };
	memcpy(profile.time_ns, (uint64_t[TIME_CLASS_COUNT]){ 1000, 0, 0 },
	       sizeof(profile.time_ns));
	root = parsed(&writer_sarif, &profile);
	check_string(root, "runs.0.results.0.ruleId", "iterrows");
	check_integer(root, "runs.0.results.0.ruleIndex", CATEGORY_COUNT);
	assert_int_equal(json_array_size(at(root, "runs.0.tool.driver.rules")), CATEGORY_COUNT + 1);
	check_string(root, "runs.0.results.0.level", "note");
	check_integer(root, "runs.0.results.0.locations.0.physicalLocation.region.startLine", 2);
	json_decref(root);
	text = sample_written(&writer_github, &profile, &options);
	check_has(text, "::notice file=x.py,line=2,title=");
	free(text);
	text = sample_written(&writer_markdown, &profile, &options);
	check_has(text, "| ? | ? | not measured | `x.py:2` | `for i, row in df.iterrows():` | "
			"iterrows |\n");
	free(text);
}

/* ---- names that mean something to a reader ---- */

static const char hostile[] =
	"/app/a\n::error::b%0A,c:d|e`f``g<img src=x>](h) @who #12 \x1b[2J\xff";

static void test_hostile(void **state)
{
	struct profile_line line = line_with_finding();
	struct profile profile = profile_of(&line, 1);
	const char *uri;
	json_t *root;
	char *text;

	(void)state;
	line.file = line.function = line.source = line.expression = line.finding = hostile;
	line.column = -1;
	text = sample_written(&writer_github, &profile, &options);
	assert_memory_equal(text, "::warning file=a%0A%3A%3Aerror%3A%3Ab%250A%2Cc%3Ad|e`f``g<img",
			    61);
	assert_ptr_equal(strchr(text, '\n') + 1, text + strlen(text));
	assert_null(strchr(text, '\x1b'));
	free(text);

	root = parsed(&writer_sarif, &profile);
	uri = json_string_value(
		at(root, "runs.0.results.0.locations.0.physicalLocation.artifactLocation.uri"));
	assert_memory_equal(uri, "a%0A%3A%3Aerror%3A%3Ab%250A%2Cc%3Ad%7Ce%60f%60%60g%3Cimg", 56);
	assert_null(strstr(json_string_value(at(root, "runs.0.results.0.message.text")), "]("));
	json_decref(root);

	text = sample_written(&writer_markdown, &profile, &options);
	assert_null(strchr(text, '\x1b'));
	check_has_not(text, "<img");
	check_has_not(text, "\n::");
	/* As text, and as code. */
	check_has(text, "a\\\\n::error::b%0A,c:d\\|e\\`f\\`\\`g&lt;img src=x\\>\\](h) @<!-- -->who "
			"\\#<!-- -->12");
	check_has(text, "<code>a&#92;n&#58;&#58;error");
	for (const char *mark = text; (mark = strchr(mark, '@')); mark++)
		assert_true(!strncmp(mark, "@<!-- -->who", 12));
	free(text);
	root = parsed(&writer_json, &profile);
	json_decref(root);
}

static char *marked(void (*put)(FILE *file, const char *text, unsigned columns), const char *text)
{
	char *written = NULL;
	size_t size;
	FILE *file = open_memstream(&written, &size);

	assert_non_null(file);
	put(file, text, 20);
	assert_int_equal(fclose(file), 0);
	return written;
}

static void test_markdown_text(void **state)
{
	static const struct {
		const char *text, *as_text, *as_code;
	} cases[] = {
		{ "", "", "" },
		{ "- a", "&#45; a", "`- a`" },
		{ "1. a", "&#49;. a", "`1. a`" },
		{ "    a", "a", "`a`" },
		{ "a`b", "a\\`b", "``a`b``" },
		{ "`", "\\`", "`` ` ``" },
		{ "a|b\\", "a\\|b\\\\", "<code>a&#124;b&#92;</code>" },
		{ "a &lt; b", "a &amp;lt; b", "`a &lt; b`" },
		{ "http://x", "http:<!-- -->//x", "`http://x`" },
		{ "www.x", "www.<!-- -->x", "`www.x`" },
		{ "gh-1 x@y", "gh-<!-- -->1 x@<!-- -->y", "`gh-1 x@y`" },
		{ "x @ y", "x @ y", "`x @ y`" },
		{ "0123456789012345678901", "&#48;1234567890123456...", "`01234567890123456...`" },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		char *text = marked(markdown_text, cases[i].text);
		char *code = marked(markdown_code, cases[i].text);

		assert_string_equal(text, cases[i].as_text);
		assert_string_equal(code, cases[i].as_code);
		free(text);
		free(code);
	}
}

static void test_paths(void **state)
{
	char *uri = file_uri("/a b/\xc3\xa9?.py");

	(void)state;
	assert_string_equal(uri, "file:///a%20b/%C3%A9%3F.py");
	free(uri);
	assert_string_equal(path_below("/app/x.py", "/app"), "x.py");
	assert_string_equal(path_below("/app//x.py", "/app//"), "x.py");
	assert_string_equal(path_below("/apps/x.py", "/app"), "/apps/x.py");
	assert_string_equal(path_below("/app/", "/app"), "/app/");
	assert_string_equal(path_below("/app/x.py", "/"), "/app/x.py");
	assert_string_equal(path_below("/app/x.py", NULL), "/app/x.py");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_list),          cmocka_unit_test(test_json),
		cmocka_unit_test(test_sarif),         cmocka_unit_test(test_sarif_alike),
		cmocka_unit_test(test_github),        cmocka_unit_test(test_markdown),
		cmocka_unit_test(test_hostile),       cmocka_unit_test(test_example),
		cmocka_unit_test(test_made_once),     cmocka_unit_test(test_few_samples),
		cmocka_unit_test(test_container),     cmocka_unit_test(test_pattern),
		cmocka_unit_test(test_markdown_text), cmocka_unit_test(test_paths),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

/* SPDX-License-Identifier: Apache-2.0 */
/* The HTML report: its blocks parsed back, and what is there when there is something to show. */
#include "daemon/report/model/verdict.h"
#include "html_page.h"

#include <errno.h>
#include <time.h>

/* By zlib and the coreutils, not by what wrote it; the caller frees. */
static char *unpacked(const char *base64)
{
	char path[] = "/tmp/pieprofd-test-XXXXXX", command[80], *text;
	int descriptor = mkstemp(path);
	size_t size = 64u << 20;
	FILE *file, *output;

	assert_true(descriptor >= 0);
	file = fdopen(descriptor, "w");
	assert_non_null(file);
	fputs(base64, file);
	assert_int_equal(fclose(file), 0);
	snprintf(command, sizeof(command), "base64 -d %s | gzip -dc", path);
	output = popen(command, "r");
	assert_non_null(output);
	text = malloc(size);
	assert_non_null(text);
	size = fread(text, 1, size - 1, output);
	text[size] = '\0';
	assert_int_equal(pclose(output), 0);
	remove(path);
	return text;
}

static json_t *packed_block(const char *page, const char *id)
{
	char start[80], *base64, *text;
	json_error_t error;
	json_t *root;

	snprintf(start, sizeof(start), "<script type=\"application/gzip\" id=\"%s\">", id);
	base64 = between(page, start, "</script>");
	text = unpacked(base64);
	root = json_loads(text, JSON_REJECT_DUPLICATES, &error);
	if (!root)
		print_error("%s: line %d: %s\n", id, error.line, error.text);
	assert_non_null(root);
	free(text);
	free(base64);
	return root;
}

static void test_sample(void **state)
{
	struct profile profile = sample_profile();
	json_t *report, *tree, *frames;
	char *page, *verdict;

	(void)state;
	sample_add_threads(&profile);
	page = written(&profile);
	assert_int_equal(strncmp(page, "<!DOCTYPE html>", 15), 0);
	check_markup(page);
	assert_null(strstr(page, "http://"));
	assert_null(strstr(page, "https://"));
	assert_null(strstr(page, "url("));
	assert_null(strstr(page, "@import"));
	assert_true(strlen(page) < 400 * 1024);
	/* All that there was to replace. */
	for (const char *at = strchr(page, '@'); at; at = strchr(at + 1, '@'))
		assert_false(isupper((unsigned char)at[1]));
	verdict = between(page, "<h2 id=\"verdict-heading\">Verdict</h2>", "</section>");
	assert_non_null(strstr(verdict, "one line repeats memory accesses needlessly"));
	assert_non_null(strstr(verdict, SAMPLE_FILE ":33"));
	assert_non_null(strstr(verdict, "412 of 450 loads"));
	assert_non_null(strstr(page, "2961 stops of one thread each"));
	assert_non_null(strstr(page, "at breakpoints p50 28.7 us"));
	assert_non_null(strstr(page, "<td class=\"number\">1204</td>"));

	report = block(page, "report-data");
	assert_int_equal(json_array_size(json_object_get(report, "lines")), 3);
	assert_int_equal(json_array_size(json_object_get(report, "pairs")), 2);
	tree = block(page, "tree-data");
	frames = json_object_get(tree, "frames");
	assert_int_equal(json_array_size(frames), 6);
	assert_int_equal(json_integer_value(json_object_get(tree, "slice_ns")), 100000000);
	assert_int_equal(json_array_size(json_object_get(json_object_get(tree, "slices"), "node")),
			 2);
	assert_non_null(strstr(page, "MainThread <span class=\"where\">4321</span>"));
	assert_string_equal(json_string_value(json_array_get(json_array_get(frames, 3), 1)),
			    "libm.so.6+0x9abc");
	assert_int_equal(json_array_size(json_object_get(tree, "depth")), 6);
	assert_true(json_integer_value(json_array_get(json_object_get(tree, "native"), 4)) ==
		    5500000000);
	json_decref(report);
	json_decref(tree);
	free(verdict);
	free(page);
}

/* Shares are as fine as in the text report. */
static void test_few_samples(void **state)
{
	struct profile profile = sample_profile();
	char *page;

	(void)state;
	profile.facts.samples = 99;
	page = written(&profile);
	assert_non_null(strstr(page, "99 samples (fewer than 100: shares are rough)"));
	assert_non_null(strstr(page, "It takes 78% of the CPU time"));
	assert_non_null(strstr(page, "<td class=\"number\">78%</td>"));
	assert_null(strstr(page, "77.8%"));
	free(page);
}

static void test_native_time_unknown(void **state)
{
	struct profile profile = sample_profile();
	char *page;

	(void)state;
	profile.facts.native_unknown = true;
	page = written(&profile);
	check_markup(page);
	assert_non_null(strstr(page, "user: Python and native, not told apart"));
	assert_non_null(strstr(page, "<th scope=\"col\" class=\"number\">User</th>"));
	assert_null(strstr(page, "<th scope=\"col\" class=\"number\">Native</th>"));
	assert_non_null(strstr(page, "\"native_known\": false"));
	free(page);
}

/* Text that the text report has, too: one verdict for both. */
static void test_same_verdict_as_text(void **state)
{
	struct profile profile = sample_profile();
	const struct writer_options wide = { .columns = 240 };
	char *page, *text;

	(void)state;
	for (size_t i = 0; i < 3; i++) {
		static const char *const words[] = {
			"one line repeats memory accesses needlessly",
			"whether it repeats work was not seen",
			"nothing was sampled",
		};

		if (i == 1) {
			profile.line_count = 1;
			memset(profile.accesses, 0, sizeof(profile.accesses));
		}
		if (i == 2)
			profile.facts.samples = 0;
		page = written(&profile);
		text = sample_written(&writer_text, &profile, &wide);
		assert_non_null(strstr(page, words[i]));
		assert_non_null(strstr(text, words[i]));
		free(page);
		free(text);
	}
}

static size_t data_size(const char *page)
{
	static const char *const ids[] = { "report-data", "tree-data" };
	size_t size = 0;

	for (size_t i = 0; i < 2; i++) {
		char end[32];
		const char *from;

		snprintf(end, sizeof(end), "id=\"%s\">", ids[i]);
		from = strstr(page, end);
		assert_non_null(from);
		size += (size_t)(strstr(from, "</script>") - from);
	}
	return size;
}

/* As many nodes as a page is to hold: packed, the same when unpacked, and the rest is small. */
static void test_large(void **state)
{
	enum {
		NODES = 100000
	};
	struct profile profile = sample_profile();
	struct profile_node *nodes = calloc(NODES, sizeof(*nodes));
	struct profile_cell *cells = calloc(NODES, sizeof(*cells));
	json_t *tree, *depths, *slices;
	char *page;

	(void)state;
	assert_non_null(nodes);
	assert_non_null(cells);
	for (uint32_t i = 0; i < NODES; i++) {
		nodes[i] = (struct profile_node){
			.parent = i ? 0 : PROFILE_NODE_NONE,
			.depth = i > 0,
			.frame = i % 6,
			.time_ns = { i * 7919ull % 100003, i, 0 },
		};
		cells[i] = (struct profile_cell){ i, i % 100, { i * 104729ull % 99991, 0, i } };
	}
	profile.tree.nodes = nodes;
	profile.tree.node_count = NODES;
	profile.facts.node_timeline.cells = cells;
	profile.facts.node_timeline.cell_count = NODES;
	page = written(&profile);
	check_markup(page);
	assert_true(strlen(page) - data_size(page) < 400 * 1024);
	json_decref(block(page, "report-data"));
	tree = packed_block(page, "tree-data");
	depths = json_object_get(tree, "depth");
	slices = json_object_get(tree, "slices");
	assert_int_equal(json_array_size(depths), NODES);
	for (uint32_t i = 0; i < NODES; i += 997) {
		assert_int_equal(
			json_integer_value(json_array_get(json_object_get(tree, "python"), i)),
			i * 7919ull % 100003);
		assert_int_equal(
			json_integer_value(json_array_get(json_object_get(slices, "node"), i)), i);
		assert_int_equal(
			json_integer_value(json_array_get(json_object_get(slices, "system"), i)),
			i);
	}
	json_decref(tree);
	free(page);
	free(cells);
	free(nodes);
}

/* Sections that are there when there is something to show in them, and only then. */
static void test_processes_and_waiting(void **state)
{
	static const struct profile_process processes[] = {
		{ .pid = 4321,
		  .parent = 1,
		  .command = "/usr/bin/python3 serve.py",
		  .samples = 900,
		  .time_ns = { 4000000000, 5000000000, 700000000 } },
		{ .pid = 4330,
		  .parent = 4321,
		  .end = PROCESS_KILLED,
		  .end_status = 9,
		  .command = HOSTILE,
		  .samples = 10,
		  .time_ns = { 100000000, 0, 0 } },
		{ .end = PROCESS_RUNNING, .command = "" },
	};
	struct profile_thread threads[3] = {
		{ .pid = 4321, .tid = 4321, .name = "MainThread", .time_ns = { 1000000000 } },
		{ .pid = 4330, .tid = 4331, .name = "<b>", .time_ns = { 1000 } },
		{ .pid = 4330, .tid = 4332, .name = "sleeper" },
	};
	struct profile_line lines[sizeof(sample_lines) / sizeof(sample_lines[0])];
	struct profile profile = sample_profile();
	char *page = written(&profile), *part;
	json_t *tree;

	(void)state;
	assert_null(strstr(page, "id=\"processes\""));
	assert_null(strstr(page, "id=\"waiting\""));
	assert_null(strstr(page, "href=\"#waiting\""));
	assert_null(strstr(page, "class=\"facts\""));
	free(page);
	memcpy(lines, sample_lines, sizeof(lines));
	profile.lines = lines;
	profile.processes = processes;
	profile.process_count = 3;
	lines[0].side.waiting_ns[WAIT_SLEEP] = 1500000000;
	lines[2].side.waiting_ns[WAIT_LOCK] = 2500000000;
	threads[2].side.waiting_ns[WAIT_LOCK] = 2500000000;
	profile.side.waiting_ns[WAIT_SLEEP] = 1500000000;
	profile.side.waiting_ns[WAIT_LOCK] = 2500000000;
	profile.side.collecting_ns = time_sum(profile.time_ns) / 4;
	profile.facts.waits = true;
	profile.facts.gil_known = true;
	profile.facts.threads = threads;
	profile.facts.thread_count = 3;
	threads[0].gil_ns = profile.facts.duration_ns / 2;
	page = written(&profile);
	check_markup(page);
	assert_null(strstr(page, "<img"));
	part = between(page, "<section id=\"processes\"", "</section>");
	assert_non_null(strstr(part, "<code>python3 serve.py</code>"));
	assert_non_null(strstr(part, ">SIGKILL</td>"));
	assert_non_null(strstr(part, ">all others</th>"));
	assert_non_null(strstr(part, "img src=x onerror=alert(1)&gt;"));
	free(part);
	part = between(page, "<section id=\"waiting\"", "</section>");
	/* The longest first, and columns of what there is. */
	assert_true(strstr(part, "2.50 s") < strstr(part, "1.50 s"));
	assert_non_null(
		strstr(part, ">Lock</th><th scope=\"col\" class=\"number\">Sleep</th></tr>"));
	assert_non_null(strstr(part, "sleeper <span class=\"where\">4332</span>"));
	free(part);
	part = between(page, "id=\"thread-table\"", "</section>");
	assert_non_null(strstr(part, "<span class=\"where\">pid 4321:</span> MainThread</th>"));
	assert_non_null(
		strstr(part, "pid 4330:</span> &lt;b&gt; <span class=\"where\">4331</span>"));
	assert_non_null(strstr(part, "<td class=\"number\">50.0%</td></tr>"));
	assert_null(strstr(part, "sleeper"));
	free(part);
	assert_non_null(strstr(page, "<strong>25.0%</strong> of the CPU time"));
	assert_non_null(strstr(page, " and 2 more, "));
	assert_non_null(strstr(page, "pid 4321"));
	tree = block(page, "tree-data");
	assert_int_equal(json_array_size(json_object_get(json_object_get(tree, "waiting"), "lock")),
			 profile.tree.node_count);
	json_decref(tree);
	free(page);
}

static void test_empty(void **state)
{
	struct profile profile = { .facts = { .version = "1", .sampler = "clock" } };
	char *page = written(&profile);
	json_t *tree = block(page, "tree-data");

	(void)state;
	check_markup(page);
	assert_int_equal(json_array_size(json_object_get(tree, "frame")), 0);
	json_decref(tree);
	free(page);
}

/* In the verdict, in the table, and for the script, which counts characters. */
static void test_mark(void **state)
{
	struct profile_line lines[sizeof(sample_lines) / sizeof(sample_lines[0])];
	struct profile profile = sample_profile();
	char *page;

	(void)state;
	memcpy(lines, sample_lines, sizeof(lines));
	profile.lines = lines;
	lines[1].source = "\xc3\xa4 = f(<x>) & y";
	lines[1].indent = 4;
	lines[1].column = 9;
	lines[1].end_column = 15;
	lines[1].finding = "f(<x>) gets the same <x> in 51 of 51 samples of it";
	lines[1].evidence.arguments.samples[ARGUMENT_REPEATED] = 51;
	lines[1].evidence.arguments.time_ns[ARGUMENT_REPEATED] = 6000000000;
	page = written(&profile);
	check_markup(page);
	assert_int_equal(occurrences(page, "<code class=\"source\">\xc3\xa4 = <mark>f(&lt;x&gt;)"
					   "</mark> &amp; y</code>"),
			 2);
	assert_non_null(strstr(page, "<p>f(&lt;x&gt;) gets the same &lt;x&gt; in 51 of 51 "
				     "samples of it.</p>\n<p>Could save 27 to 38%"));
	assert_non_null(strstr(page, "\"marks\":{\"1\":[4,10]}"));
	json_decref(block(page, "tree-data"));
	free(page);

	lines[1].column = lines[1].end_column = -1; /* as of Python 3.10 and before */
	page = written(&profile);
	check_markup(page);
	assert_null(strstr(page, "<mark>"));
	assert_int_equal(occurrences(page, "\xc3\xa4 = f(&lt;x&gt;) &amp; y</code>"), 2);
	assert_non_null(strstr(page, "\"marks\":{}"));
	free(page);
}

/* Of what program, for how long, where, and when. */
static void test_title(void **state)
{
	static const struct {
		const char *command[6];
		const char *title;
	} cases[] = {
		{ { "/usr/bin/python3.11", "-X", "dev", "/srv/numpy_oops.py", "x" },
		  "numpy_oops.py, 10 s on web-3, 14 Nov 22:13" },
		{ { "python3", "-um", "x" }, "x, 10 s on web-3, 14 Nov 22:13" },
		{ { "python3", "-m", "http.server" }, "http.server, 10 s on web-3, 14 Nov 22:13" },
		{ { "python3", "-c", "pass" }, "python3, 10 s on web-3, 14 Nov 22:13" },
		{ { "/opt/venv/bin/gunicorn", "app" }, "gunicorn, 10 s on web-3, 14 Nov 22:13" },
		{ { "python3", "/srv/<b>.py" }, "&lt;b&gt;.py, 10 s on web-3, 14 Nov 22:13" },
		{ { NULL }, "python3, 10 s on web-3, 14 Nov 22:13" },
	};
	struct profile profile = sample_profile();

	(void)state;
	setenv("TZ", "UTC", 1);
	tzset();
	strcpy(profile.facts.target.host, "web-3");
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		char *page, *title;

		profile.facts.target.command = cases[i].command;
		page = written(&profile);
		title = between(page, "<h1>", "</h1>");
		assert_string_equal(title, cases[i].title);
		free(title);
		free(page);
	}
}

/* The functions that lines are in, and links to an editor and a repository. */
static void test_texts_and_links(void **state)
{
	static const struct profile_text texts[] = { { 31, "def f(x):" }, { 33, "    </script>" } };
	static const struct profile_source sources[] = {
		{ .file = SAMPLE_FILE, .sha256 = "", .texts = texts, .text_count = 2 },
		{ .file = "/usr/lib/python3.11/json/decoder.py",
		  .sha256 = "",
		  .texts = texts,
		  .text_count = 1 },
		{ .file = "/none.py", .sha256 = "" },
	};
	const struct writer_options options = { .editor_url = "vscode://file{file}:{line}",
						.source_url = "https://x/<{path}" };
	struct profile profile = sample_profile();
	json_t *tree, *files, *links;
	char *page;

	(void)state;
	profile.sources = sources;
	profile.source_count = 3;
	profile.facts.target.processors = 2;
	page = sample_written(&writer_html, &profile, &options);
	check_markup(page);
	tree = block(page, "tree-data");
	files = json_object_get(tree, "texts");
	assert_int_equal(json_array_size(files), 2);
	assert_int_equal(json_integer_value(json_object_get(json_array_get(files, 0), "own")), 1);
	assert_int_equal(json_integer_value(json_object_get(json_array_get(files, 1), "own")), 0);
	assert_string_equal(json_string_value(json_array_get(
				    json_object_get(json_array_get(files, 0), "text"), 1)),
			    "    </script>");
	assert_int_equal(json_integer_value(json_object_get(tree, "processors")), 2);
	assert_int_equal(json_array_size(json_object_get(tree, "foreign")), profile.line_count);
	links = json_object_get(tree, "links");
	assert_string_equal(json_string_value(json_object_get(links, "editor")),
			    options.editor_url);
	assert_string_equal(json_string_value(json_object_get(links, "repository")),
			    options.source_url);
	json_decref(tree);
	free(page);
}

static int put_some_diff(const void *diff, FILE *file)
{
	fputs(diff, file);
	return 0;
}

/* Beside an earlier profile, whose tree is there, too. */
static void test_compared(void **state)
{
	struct profile before = sample_profile(), now = sample_profile();
	const struct html_base base = { &before, "<f>: 47% to 27%", put_some_diff,
					"{\"functions\":[]}" };
	char *page = NULL, *part;
	size_t size = 0;
	FILE *file = open_memstream(&page, &size);
	json_t *data;

	(void)state;
	assert_non_null(file);
	assert_int_equal(html_write_compared(&now, &base, &defaults, file), 0);
	fclose(file);
	check_markup(page);
	part = between(page, "<section id=\"changes\"", "</section>");
	assert_non_null(strstr(part, "&lt;f&gt;: 47% to 27%"));
	data = block(page, "base-data");
	assert_int_equal(json_array_size(json_object_get(json_object_get(data, "tree"), "frame")),
			 before.tree.node_count);
	assert_non_null(json_object_get(json_object_get(data, "diff"), "functions"));
	json_decref(data);
	free(part);
	free(page);
	page = written(&now);
	assert_null(strstr(page, "id=\"changes\""));
	assert_null(strstr(page, "<script type=\"application/json\" id=\"base-data\""));
	free(page);
}

/* A disk that is full, at once and behind the stream's buffer. */
static void test_full(void **state)
{
	struct profile profile = sample_profile();
	FILE *file = fopen("/dev/full", "w");

	(void)state;
	assert_non_null(file);
	assert_int_equal(writer_html.write(&profile, &defaults, file), -EIO);
	fclose(file);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_mark),
		cmocka_unit_test(test_sample),
		cmocka_unit_test(test_few_samples),
		cmocka_unit_test(test_native_time_unknown),
		cmocka_unit_test(test_same_verdict_as_text),
		cmocka_unit_test(test_processes_and_waiting),
		cmocka_unit_test(test_empty),
		cmocka_unit_test(test_title),
		cmocka_unit_test(test_texts_and_links),
		cmocka_unit_test(test_compared),
		cmocka_unit_test(test_full),
		cmocka_unit_test(test_large),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

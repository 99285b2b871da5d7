/* SPDX-License-Identifier: Apache-2.0 */
/* Ways to write a line that are known to be slow: each is found by what runs under it. */
#include "daemon/report/model/pattern_text.h"
#include "daemon/report/model/slow_pattern.h"
#include "daemon/report/model/verdict.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#define FRAMES_MAX 8
#define SITE       "/usr/lib/python3/dist-packages"
#define LIBRARY    "/usr/lib/python3.11"
#define UMATH      SITE "/numpy/core/_multiarray_umath.cpython-311-x86_64-linux-gnu.so"
#define APPLY      "/pandas/core/apply.py"
#define FRAME      "/pandas/core/frame.py"

/* A stack, outermost first, all of whose time is in its last frame. */
struct stack {
	struct profile_frame frames[FRAMES_MAX];
	size_t count;
	struct profile_node nodes[FRAMES_MAX + 1];
	struct profile_line lines[FRAMES_MAX];
	struct profile profile;
};

static void stack_add(struct stack *stack, enum frame_kind kind, const char *file,
		      const char *function, const char *source)
{
	int line = (int)stack->count + 1;

	stack->lines[stack->count] = (struct profile_line){
		.file = file,
		.line = line,
		.function = function,
		.source = source,
		.indent = -1,
		.column = -1,
		.end_column = -1,
		.total_ns = 900,
	};
	stack->frames[stack->count++] = (struct profile_frame){
		.kind = kind, .file = file, .function = function, .line = line, .source = source
	};
}

/* The line of the program whose text is source. */
static void stack_own(struct stack *stack, const char *source)
{
	stack_add(stack, FRAME_PYTHON, "/app/program.py", "work", source);
}

static void stack_library(struct stack *stack, const char *file, const char *function)
{
	stack_add(stack, FRAME_PYTHON, file, function, NULL);
}

/* So many of a thousand nanoseconds are the stack's. */
static void stack_end(struct stack *stack, uint64_t time_ns)
{
	for (size_t i = 0; i < stack->count; i++)
		stack->nodes[i] = (struct profile_node){
			.parent = i ? (uint32_t)i - 1 : PROFILE_NODE_NONE,
			.frame = (uint32_t)i,
			.depth = (uint32_t)i,
		};
	stack->nodes[stack->count - 1].time_ns[TIME_PYTHON] = time_ns;
	stack->lines[stack->count - 1].self_ns[TIME_PYTHON] = time_ns;
	stack->profile = (struct profile){
		.facts = { .version = "1", .sampler = "clock", .samples = 1000 },
		.lines = stack->lines,
		.line_count = stack->count,
		.tree = { stack->frames, stack->count, stack->nodes, stack->count, 0 },
		.time_ns = { [TIME_PYTHON] = 1000 },
	};
}

static void check_found(struct stack *stack, const char *name, int line)
{
	struct slow_pattern_hit hits[4];
	size_t count;

	stack_end(stack, 730);
	count = slow_patterns_find(&stack->profile, hits, 4);
	if (!name) {
		assert_int_equal(count, 0);
		return;
	}
	assert_int_equal(count, 1);
	assert_string_equal(hits[0].pattern->name, name);
	assert_int_equal(hits[0].line->line, line);
	assert_string_equal(hits[0].line->file, "/app/program.py");
	assert_int_equal(hits[0].time_ns, 730);
}

/* A library's function under one line of the program. */
struct called_case {
	const char *name; /* NULL: no pattern */
	const char *source;
	const char *file;
	const char *function;
};

static void test_called(void **state)
{
	static const struct called_case cases[] = {
		{ "iterrows", "for i, row in df.iterrows():", SITE FRAME, "DataFrame.iterrows" },
		/* Before Python 3.11, without the class. */
		{ "iterrows", "for i, row in df.iterrows():", SITE FRAME, "iterrows" },
		{ NULL, "for row in df.itertuples():", SITE FRAME, "DataFrame.itertuples" },
		{ "apply-rows", "df.apply(f, axis=1)", SITE APPLY, "FrameApply.apply_standard" },
		{ NULL, "df.apply(f)", SITE APPLY, "FrameApply.apply_standard" },
		{ "growing-array", "a = np.append(a, x)", SITE "/numpy/lib/function_base.py",
		  "append" },
		{ "growing-array", "a = np.append(a, x)", SITE "/numpy/lib/_function_base_impl.py",
		  "append" },
		{ "growing-array", "df = pd.concat([df, row])",
		  SITE "/pandas/core/reshape/concat.py", "concat" },
		{ NULL, "df = pd.concat(parts)", SITE "/pandas/core/reshape/concat.py", "concat" },
		{ "growing-array", "df = df.append(row)", SITE FRAME, "DataFrame.append" },
		{ "compiled-again", "if re.match(p, s):", LIBRARY "/re/__init__.py", "_compile" },
		{ "compiled-again", "if re.match(p, s):", LIBRARY "/re.py", "_compile" },
		{ "json", "x = json.loads(text)", LIBRARY "/json/__init__.py", "loads" },
		{ "json", "text = json.dumps(x)", LIBRARY "/json/__init__.py", "dumps" },
		{ "deep-copy", "y = copy.deepcopy(x)", LIBRARY "/copy.py", "deepcopy" },
		{ "single-cells", "s += df.loc[i, 'a']", SITE "/pandas/core/indexing.py",
		  "_LocationIndexer.__getitem__" },
		/* No event loop. */
		{ NULL, "requests.get(url)", SITE "/requests/sessions.py", "Session.request" },
		{ NULL, "x = f(y)", SITE "/other/frame.py", "iterrows" },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct stack stack = { 0 };

		stack_own(&stack, "main()");
		stack_own(&stack, cases[i].source);
		stack_library(&stack, cases[i].file, cases[i].function);
		stack_library(&stack, SITE "/some/thing.py", "inner");
		check_found(&stack, cases[i].name, 2);
	}
}

/* Rows gone through again for each row of another frame. */
static void test_itertuples_in_apply(void **state)
{
	struct stack stack = { 0 };

	(void)state;
	stack_own(&stack, "df.apply(find)");
	stack_library(&stack, SITE APPLY, "FrameApply.apply_series_generator");
	stack_own(&stack, "for row in other.itertuples():");
	stack_library(&stack, SITE FRAME, "DataFrame.itertuples");
	check_found(&stack, "itertuples-in-apply", 3);
}

/* Also the program's function that is called back. */
static void test_apply_by_rows(void **state)
{
	struct stack stack = { 0 };

	(void)state;
	stack_own(&stack, "df.apply(price, axis=1)");
	stack_library(&stack, SITE APPLY, "FrameApply.apply_standard");
	stack_own(&stack, "return row.a * row.b");
	stack_library(&stack, SITE "/pandas/core/generic.py", "NDFrame.__getattr__");
	check_found(&stack, "apply-rows", 1);
}

static void test_blocked_loop(void **state)
{
	struct stack stack = { 0 };

	(void)state;
	stack_library(&stack, LIBRARY "/asyncio/events.py", "Handle._run");
	stack_own(&stack, "answer = requests.get(url)");
	stack_library(&stack, SITE "/requests/api.py", "get");
	stack_library(&stack, SITE "/requests/sessions.py", "Session.request");
	check_found(&stack, "blocked-loop", 2);
}

/* By the line's own text, where numpy's code runs below it. */
static void test_elements(void **state)
{
	static const char *const sources[] = { "total += float(a[i])",
					       "a = np.concatenate([a, b])" };
	static const char *const names[] = { "single-floats", "growing-array" };

	(void)state;
	for (size_t i = 0; i < 2; i++) {
		struct stack stack = { 0 };

		stack_own(&stack, sources[i]);
		stack_add(&stack, FRAME_NATIVE, UMATH, "array_subscript", NULL);
		check_found(&stack, names[i], 1);
		/* Text alone is a row of a file, or the like. */
		memset(&stack, 0, sizeof(stack));
		stack_own(&stack, sources[i]);
		stack_add(&stack, FRAME_NATIVE, "/usr/bin/python3.11", "PyFloat_FromString", NULL);
		check_found(&stack, NULL, 0);
	}
}

static void test_growing_list(void **state)
{
	struct stack stack = { 0 };

	(void)state;
	stack_own(&stack, "rows = rows + [row]");
	stack_add(&stack, FRAME_NATIVE, "/usr/bin/python3.11", "list_concat", NULL);
	check_found(&stack, "growing-list", 1);
}

/* To keep an outcome helps where the same comes again: other texts are no finding. */
static void test_never_the_same(void **state)
{
	struct stack stack = { 0 };
	struct slow_pattern_hit hit;

	(void)state;
	stack_own(&stack, "rows = json.loads(text)");
	stack_library(&stack, LIBRARY "/json/__init__.py", "loads");
	stack_end(&stack, 730);
	assert_int_equal(slow_patterns_find(&stack.profile, &hit, 1), 1);
	stack.lines[0].charged_ns = 730;
	stack.lines[0].evidence.arguments.samples[ARGUMENT_NEEDED] = 40;
	stack.lines[0].evidence.arguments.time_ns[ARGUMENT_NEEDED] = 700;
	assert_int_equal(slow_patterns_find(&stack.profile, &hit, 1), 0);
	/* Of what is slow for all that it is given, that says nothing. */
	memset(&stack, 0, sizeof(stack));
	stack_own(&stack, "y = copy.deepcopy(x)");
	stack_library(&stack, LIBRARY "/copy.py", "deepcopy");
	stack_end(&stack, 730);
	stack.lines[0].charged_ns = 730;
	stack.lines[0].evidence.arguments.samples[ARGUMENT_NEEDED] = 40;
	stack.lines[0].evidence.arguments.time_ns[ARGUMENT_NEEDED] = 700;
	assert_int_equal(slow_patterns_find(&stack.profile, &hit, 1), 1);
}

static void test_little_time(void **state)
{
	struct slow_pattern_hit hit;
	struct stack stack = { 0 };

	(void)state;
	stack_own(&stack, "for i, row in df.iterrows():");
	stack_library(&stack, SITE FRAME, "DataFrame.iterrows");
	stack_end(&stack, 99);
	assert_int_equal(slow_patterns_find(&stack.profile, &hit, 1), 0);
	stack_end(&stack, 100);
	assert_int_equal(slow_patterns_find(&stack.profile, &hit, 1), 1);
}

/* It leads, by the program's own line, and claims no saving. */
static void test_verdict(void **state)
{
	struct stack stack = { 0 };
	struct verdict verdict;

	(void)state;
	stack_own(&stack, "main()");
	stack_own(&stack, "for i, row in df.iterrows():");
	stack_library(&stack, SITE FRAME, "DataFrame.iterrows");
	stack_end(&stack, 730);
	verdict_find(&stack.profile, &verdict);
	assert_int_equal(verdict.kind, VERDICT_PATTERN);
	assert_string_equal(verdict.headline, "a data frame is gone through row by row");
	assert_int_equal(verdict.line->line, 2);
	assert_int_equal(verdict.places[0].position, 0);
	assert_int_equal(verdict.places[0].line.line, 2);
	assert_string_equal(
		verdict.sentences[0],
		"73.0% of the CPU time is under this line, which builds a Series for each row: "
		"work on whole columns, or use itertuples().");
	assert_non_null(strstr(verdict.sentences[1], "For example: "));
	for (size_t i = 0; i < verdict.sentence_count; i++)
		assert_null(strstr(verdict.sentences[i], "ould save"));
}

static void test_texts(void **state)
{
	(void)state;
	assert_true(pattern_text_grows("a = np.append(a, x)"));
	assert_true(pattern_text_grows("  self.a = np.vstack((self.a, x))"));
	assert_true(pattern_text_grows("df = df.append(row, ignore_index=True)"));
	assert_true(pattern_text_grows("x = torch.concat([y, x])"));
	assert_false(pattern_text_grows("b = np.append(a, x)"));
	assert_false(pattern_text_grows("a = np.append(ab, xa)"));
	assert_false(pattern_text_grows("a == np.append(a, x)"));
	assert_false(pattern_text_grows("rows.append(row)"));
	assert_false(pattern_text_grows("a = other.a.append(x)"));
	assert_false(pattern_text_grows(""));
	assert_true(pattern_text_adds_list("a = a + [x]"));
	assert_true(pattern_text_adds_list("flat = sum(lists, [])"));
	assert_false(pattern_text_adds_list("a = ab + [x]"));
	assert_false(pattern_text_adds_list("a = a + 1"));
	assert_false(pattern_text_adds_list("a += [x]"));
	assert_false(pattern_text_adds_list("checksum(x, [])"));
	assert_true(pattern_text_single_float("y = 2 * float(x[i]) + 1"));
	assert_true(pattern_text_single_float("n = int(self.x[i, j])"));
	assert_false(pattern_text_single_float("y = float(x)"));
	assert_false(pattern_text_single_float("y = np.float(x[i])"));
	assert_false(pattern_text_single_float("y = float(x[i"));
	assert_false(pattern_text_single_float("print(x[i])"));
	assert_true(pattern_text_by_rows("df.apply(f, axis=1)"));
	assert_true(pattern_text_by_rows("df.apply(f, axis='columns')"));
	assert_false(pattern_text_by_rows("df.apply(f, axis=0)"));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_called),         cmocka_unit_test(test_itertuples_in_apply),
		cmocka_unit_test(test_apply_by_rows),  cmocka_unit_test(test_blocked_loop),
		cmocka_unit_test(test_elements),       cmocka_unit_test(test_growing_list),
		cmocka_unit_test(test_never_the_same), cmocka_unit_test(test_little_time),
		cmocka_unit_test(test_verdict),        cmocka_unit_test(test_texts),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

/* SPDX-License-Identifier: Apache-2.0 */
/* Library functions that others do faster, by what they are given. */
#include "argument_samples.h"
#include "daemon/detect/argument_element.h"
#include "daemon/detect/argument_meets.h"

static uint8_t slow_number(const char *function, const char *file)
{
	const struct python_code code = { .function = (char *)(uintptr_t)function,
					  .file = (char *)(uintptr_t)file };
	uint8_t number = file ? slow_call_find(&code) : slow_call_find_builtin(function, true);

	assert_true(number);
	return number;
}

static struct argument_operand given(enum content_kind kind, uint64_t size, const char *shape)
{
	struct argument_operand operand = { .kind = (uint8_t)kind, .size = size, .whole = true };

	snprintf(operand.shape, sizeof(operand.shape), "%s", shape);
	return operand;
}

#define NUMBER   given(CONTENT_FLOAT, 0, "float")
#define ARRAY    given(CONTENT_ARRAY, 8000, "float64[1000]")
#define LONG     given(CONTENT_ARRAY, 80000, "float64[10000]")
#define VECTOR   given(CONTENT_ARRAY, 24, "float64[3]")
#define SHORT    given(CONTENT_ARRAY, 800, "float64[100]")
#define ROWS     given(CONTENT_ARRAY, 2400, "float64[100,3]")
#define POINT    given(CONTENT_ARRAY, 8, "float64[]")
#define NONE     given(CONTENT_NONE, 0, "NoneType")
#define OBJECT   given(CONTENT_OBJECT, 0, "norm_gen")
#define LIST(n)  given(CONTENT_LIST, n, "list")
#define TUPLE(n) given(CONTENT_TUPLE, n, "tuple")
#define COUNT(n) given(CONTENT_INT, n, "int")
#define NOTHING  given(CONTENT_DICT, 0, "dict(0)")

#define SQUARE given(CONTENT_ARRAY, 80000, "float64[100,100]")
#define YES    given(CONTENT_BOOL, 1, "bool")
#define NO     given(CONTENT_BOOL, 0, "bool")

static struct argument_operand part(void)
{
	struct argument_operand operand = SHORT;

	operand.part = true;
	return operand;
}

#define PART part()

struct slow_case {
	const char *function, *file;
	bool met;
	struct argument_operand operands[6];
};

#define STATS   "/scipy/stats/_distn_infrastructure.py"
#define NUMPY   "/numpy/core/fromnumeric.py"
#define KD_TREE "/scipy/spatial/_kdtree.py"
#define RANDOM  "/usr/lib/python3.11/random.py"

static void test_what_is_given(void **state)
{
	const struct slow_case cases[] = {
		{ "rv_continuous.pdf", STATS, true, { OBJECT, NUMBER, TUPLE(0), NOTHING } },
		{ "rv_continuous.pdf", STATS, true, { OBJECT, NUMBER, TUPLE(2), NOTHING } },
		{ "pdf", STATS, false, { OBJECT, ARRAY, TUPLE(2), NOTHING } },
		{ "pdf", STATS, false, { OBJECT, NUMBER, TUPLE(9), NOTHING } },
		{ "pdf", STATS, false, { OBJECT, TUPLE(2) } },
		{ "searchsorted", NUMPY, true, { ARRAY, NUMBER, NONE, NONE } },
		{ "searchsorted", NUMPY, false, { ARRAY, ARRAY, NONE, NONE } },
		{ "isin", "/numpy/lib/_arraysetops_impl.py", true, { NUMBER, ARRAY } },
		{ "cross", "/numpy/core/numeric.py", true, { VECTOR, VECTOR } },
		{ "cross", "/numpy/core/numeric.py", true, { LIST(3), VECTOR } },
		{ "cross", "/numpy/core/numeric.py", false, { ARRAY, ARRAY } },
		{ "cross", "/numpy/core/numeric.py", false, { LIST(30), ARRAY } },
		{ "convolve", "/numpy/core/numeric.py", true, { LONG, LONG, NUMBER } },
		{ "convolve", "/numpy/core/numeric.py", false, { LONG, VECTOR, NUMBER } },
		{ "convolve", "/numpy/core/numeric.py", false, { ARRAY, ARRAY, NUMBER } },
		{ "choices", RANDOM, true, { OBJECT, LIST(400), LIST(400), NONE, COUNT(1) } },
		{ "choices", RANDOM, false, { OBJECT, LIST(400), LIST(400), NONE, COUNT(50) } },
		{ "choices", RANDOM, false, { OBJECT, LIST(400), NONE, LIST(400), COUNT(1) } },
		{ "choices", RANDOM, false, { OBJECT, LIST(9), LIST(9), NONE, COUNT(1) } },
		{ "unique", "/numpy/lib/arraysetops.py", true, { LIST(9) } },
		{ "unique", "/numpy/lib/arraysetops.py", false, { ARRAY } },
		{ "pdf", STATS, true, { OBJECT, POINT, TUPLE(0), NOTHING } },
		{ "norm", "/numpy/linalg/_linalg.py", true, { VECTOR } },
		{ "norm", "/numpy/linalg/_linalg.py", false, { ARRAY } },
		{ "KDTree.query", KD_TREE, true, { OBJECT, VECTOR, COUNT(1) } },
		{ "KDTree.query", KD_TREE, true, { OBJECT, TUPLE(2), COUNT(1) } },
		{ "KDTree.query", KD_TREE, false, { OBJECT, ROWS, COUNT(1) } },
		{ "IndexMixin.__getitem__", "/scipy/sparse/_index.py", true, { OBJECT, COUNT(7) } },
		{ "IndexMixin.__getitem__", "/scipy/sparse/_index.py", true, { OBJECT, TUPLE(2) } },
		{ "IndexMixin.__getitem__", "/scipy/sparse/_index.py", false, { OBJECT, ARRAY } },
		{ "PPoly.__call__",
		  "/scipy/interpolate/_interpolate.py",
		  true,
		  { OBJECT, NUMBER } },
		{ "PPoly.__call__",
		  "/scipy/interpolate/_interpolate.py",
		  false,
		  { OBJECT, ARRAY } },
		{ "savgol_filter", "/scipy/signal/_savitzky_golay.py", true, { SHORT, COUNT(13) } },
		{ "savgol_filter", "/scipy/signal/_savitzky_golay.py", false, { ROWS, COUNT(13) } },
		{ "savgol_filter", "/scipy/signal/_savitzky_golay.py", false, { LONG, COUNT(13) } },
		{ "filtfilt", "/scipy/signal/_signaltools.py", true, { VECTOR, VECTOR, SHORT } },
		{ "filtfilt", "/scipy/signal/_signaltools.py", false, { VECTOR, VECTOR, LONG } },
		{ "einsum", "/numpy/_core/einsumfunc.py", false, { NONE, TUPLE(4), NOTHING } },
		{ "svd", "/numpy/linalg/_linalg.py", true, { ROWS, YES, YES, NO } },
		{ "svd", "/numpy/linalg/_linalg.py", false, { ROWS, NO, YES, NO } },
		{ "svd", "/numpy/linalg/_linalg.py", false, { ROWS, YES, NO, NO } },
		{ "svd", "/numpy/linalg/_linalg.py", false, { SQUARE, YES, YES, NO } },
		{ "svd", "/numpy/linalg/_linalg.py", false, { VECTOR, YES, YES, NO } },
		{ "inv", "/numpy/linalg/_linalg.py", true, { SQUARE } },
		{ "inv", "/numpy/linalg/_linalg.py", false, { ROWS } },
		{ "_mean", "/numpy/_core/_methods.py", true, { PART, NONE } },
		{ "_mean", "/numpy/_core/_methods.py", false, { SHORT, NONE } },
		{ "det", "/numpy/linalg/_linalg.py", false, { SQUARE } },
		{ "DataFrame.__init__", "/pandas/core/frame.py", true, { OBJECT, LIST(1), NONE } },
		{ "DataFrame.__init__", "/pandas/core/frame.py", false, { OBJECT, LIST(900) } },
		{ "Series.__init__", "/pandas/core/series.py", false, { OBJECT, ARRAY } },
		{ "dump", "/usr/lib/python3.11/json/__init__.py", true, { OBJECT, OBJECT } },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct argument_site site = { .kind = OPERATION_CALL,
					      .of_callee = true,
					      .slow = slow_number(cases[i].function, cases[i].file),
					      .read = 1 };

		while (site.operand_count < 6 && cases[i].operands[site.operand_count].shape[0]) {
			site.operands[site.operand_count] = cases[i].operands[site.operand_count];
			site.operand_count++;
		}
		site.on_numbers = argument_is_called_on_numbers(&site);
		if (argument_meets(&site, slow_call_get(site.slow)->when) != cases[i].met)
			fail_msg("case %zu, %s()", i, cases[i].function);
	}
}

/* for value in row: value.item(); queue.remove(x) */
static void test_methods_in_c(void **state)
{
	const uint8_t item = slow_call_find_builtin("item", false);
	const uint8_t removes = slow_call_find_builtin("remove", false);
	struct argument_site site = { .kind = OPERATION_CALL, .slow = item, .operand_count = 1 };

	(void)state;
	site.operands[0] = given(CONTENT_TENSOR, 4, "Tensor float32[]");
	site.operands[0].role = OPERAND_SELF;
	assert_true(argument_meets(&site, SLOW_ELEMENT));
	site.operands[0].size = 4000;
	assert_false(argument_meets(&site, SLOW_ELEMENT));
	site.slow = removes;
	site.operands[0] = given(CONTENT_DEQUE, 4000, "deque(4000)");
	site.operands[0].role = OPERAND_SELF;
	assert_true(argument_meets(&site, slow_call_get(removes)->when));
	site.operands[0].size = 2;
	assert_false(argument_meets(&site, slow_call_get(removes)->when));
	/* max(items, key=items.count) */
	site.operands[0] = given(CONTENT_SET, 60, "set(60)");
	site.operands[1] = given(CONTENT_METHOD, 0, "builtin_function_or_method");
	site.operands[0].role = site.operands[1].role = OPERAND_VALUE;
	site.operand_count = 2;
	assert_true(argument_meets(&site, SLOW_SEARCH));
	site.operands[0].size = 2;
	assert_false(argument_meets(&site, SLOW_SEARCH));
	/* digest.update(data[i:i + 4]), not that of a dict or set; struct.pack("<d", x) */
	site.operands[0] = given(CONTENT_OTHER, 0, "_hashlib.HASH");
	site.operands[0].role = OPERAND_SELF;
	site.operands[1] = given(CONTENT_BYTES, 4, "bytes(4)");
	site.operands[1].role = OPERAND_VALUE;
	site.operand_count = 2;
	assert_true(argument_meets(&site, SLOW_ON_PIECES));
	site.operands[1].size = 4000;
	assert_false(argument_meets(&site, SLOW_ON_PIECES));
	site.operands[1].size = 4;
	site.operands[0] = given(CONTENT_SET, 4, "set(4)");
	site.operands[0].role = OPERAND_SELF;
	assert_false(argument_meets(&site, SLOW_ON_PIECES));
	site.operands[0] = given(CONTENT_STR, 2, "str(2)");
	site.operands[1] = NUMBER;
	assert_true(argument_meets(&site, SLOW_ON_VALUE));
	site.operands[2] = NUMBER;
	site.operand_count = 3;
	assert_false(argument_meets(&site, SLOW_ON_VALUE));
	/* torch.tensor([a, b]) */
	site.operands[0] = LIST(2);
	site.operands[0].of_arrays = true;
	site.operands[0].role = OPERAND_VALUE;
	site.operand_count = 1;
	assert_true(argument_meets(&site, SLOW_ON_ARRAYS));
	site.operands[0].of_arrays = false;
	assert_false(argument_meets(&site, SLOW_ON_ARRAYS));
}

/* einsum("ij,jk,kl->il", a, b, c): what numpy's dispatcher is called with. */
static void test_operands_of_einsum(void **state)
{
	struct argument_site site = { .kind = OPERATION_CALL, .operand_count = 5 };

	(void)state;
	site.operands[0] = given(CONTENT_CALLABLE, 0, "numpy._ArrayFunctionDispatcher");
	site.operands[0].callable = true;
	site.operands[1] = given(CONTENT_STR, 12, "str(12)");
	site.operands[2] = site.operands[3] = site.operands[4] = SQUARE;
	assert_true(argument_meets(&site, SLOW_MANY));
	site.operands[5] = YES;
	site.operand_count = 6;
	assert_false(argument_meets(&site, SLOW_MANY));
	site.operand_count = 4;
	assert_false(argument_meets(&site, SLOW_MANY));
	site.operand_count = 5;
	site.operands[2] = site.operands[4] = VECTOR;
	assert_false(argument_meets(&site, SLOW_MANY));
}

/* What is slow on lists is slow on rows, too, where these come one by one. */
static void test_other_ways(void **state)
{
	const uint8_t mean = slow_number("mean", NUMPY);
	const uint8_t rows = slow_number("_mean", "/numpy/_core/_methods.py");

	(void)state;
	assert_ptr_equal(slow_call_get(slow_call_find_looped(mean))->way, slow_call_get(rows)->way);
	assert_int_equal(slow_call_find_looped(0), 0);
	assert_ptr_equal(slow_call_get(slow_call_find_parted(slow_number("argsort", NUMPY)))->way,
			 &slow_way_part);
	assert_int_equal(slow_call_find_parted(0), 0);
	assert_int_equal(slow_call_find_parted(mean), mean);
	assert_int_equal(slow_call_find_looped(rows), rows);
	assert_int_equal(slow_call_find_looped(slow_number("clip", NUMPY)),
			 slow_number("clip", NUMPY));
}

/* Outcomes that depend on more than arguments: a frame's expression may name its caller's
 * variables. */
static void test_asks(void **state)
{
	const struct python_code query = { .function = "DataFrame.query",
					   .file = "/lib/pandas/core/frame.py" };
	const struct python_code other = { .function = "Model.query", .file = "/app/model.py" };
	const struct python_code draws = { .function = "rv_generic.rvs",
					   .file = "/lib/scipy/stats/_distn.py" };

	(void)state;
	assert_true(slow_call_asks(&query));
	assert_true(slow_call_asks(&draws));
	assert_false(slow_call_asks(&other));
}

/* sum(lists, []), of which each addition copies what is there. */
static void test_lists_joined(void **state)
{
	struct fixture *fixture = *state;
	uint32_t site = call_at(fixture, "once", 15);
	struct argument_site *known = site_of(fixture, site);

	add_others(fixture, site, MANY);
	known->slow = slow_number("sum", NULL);
	all_are(fixture, ARGUMENT_NEEDED, site);
	known->operands[known->operand_count++] = LIST(0);
	all_are(fixture, ARGUMENT_GROWING, site);
	known->operands[2] = NUMBER;
	all_are(fixture, ARGUMENT_NEEDED, site);
	known->operands[2] = LIST(0);
	known->slow = slow_number("max", NULL);
	all_are(fixture, ARGUMENT_NEEDED, site);
}

/* np.sort(x)[0]; frame.loc[len(frame)] = row; read_csv(engine="python"), deep inside pandas. */
static void test_whatever_is_given(void **state)
{
	struct fixture *fixture = *state;
	uint32_t ends = call_at(fixture, "ends", 39), site = call_at(fixture, "once", 15);

	add_others(fixture, ends, MANY);
	all_are(fixture, ARGUMENT_NEEDED, ends);
	site_of(fixture, ends)->slow = slow_number("sort", NUMPY);
	all_are(fixture, ARGUMENT_END, ends);
	forget_samples(fixture);
	add_others(fixture, site, MANY);
	for (size_t i = 0; i < fixture->log.sample_count; i++)
		fixture->log.samples[i].frames[0].flags |= ARGUMENT_IN_SLOW;
	site_of(fixture, site)->slow =
		slow_number("_setitem_with_indexer_missing", "/pandas/core/indexing.py");
	all_are(fixture, ARGUMENT_GROWING, site);
	site_of(fixture, site)->slow =
		slow_number("PythonParser.read", "/pandas/io/parsers/python_parser.py");
	all_are(fixture, ARGUMENT_SLOW, site);
	/* frame.loc[...]: a part of it, or one row that was seen to be made. */
	site_of(fixture, site)->slow =
		slow_number("_LocationIndexer.__getitem__", "/pandas/core/indexing.py");
	all_are(fixture, ARGUMENT_NEEDED, site);
	site_of(fixture, site)->makes_row = true;
	all_are(fixture, ARGUMENT_SLOW, site);
}

/* m = [*m, n]: copied, made a tuple, and what m was is freed. */
static void test_copied_to_grow(void **state)
{
	struct fixture *fixture = *state;
	uint32_t copies, rest;

	/* One instruction does all of it before. */
	if (fixture->python->minor < 9)
		return;
	copies = site_at(fixture, "grow", 46, "LIST_EXTEND");
	rest = site_at(fixture, "grow", 46, "STORE_FAST");
	site_of(fixture, copies)->kind = OPERATION_EXTEND;
	site_of(fixture, copies)->operand_count = 2;
	site_of(fixture, copies)->operands[0] = LIST(0);
	site_of(fixture, copies)->operands[1] = LIST(100);
	for (uint32_t i = 0; i < 2 * MANY; i++) {
		struct argument_frame one = frame(i % 2 ? rest : copies, i, i);

		one.largest = i % 2 ? 0 : 100 + i;
		if (i % 2)
			one.flags = 0;
		add(fixture, one);
	}
	judge(fixture);
	assert_int_equal(votes(fixture, ARGUMENT_GROWING, copies), 2 * MANY);
	/* Items of a comprehension's list are no copies of it. */
	site_of(fixture, copies)->kind = OPERATION_COLLECT;
	judge(fixture);
	assert_int_equal(votes(fixture, ARGUMENT_GROWING, copies), 0);
}

/* inspect.stack(): that it gets the same says nothing. */
static void test_of_the_moment(void **state)
{
	struct fixture *fixture = *state;
	uint32_t site = call_at(fixture, "loop", 4);

	add_same(fixture, site);
	for (size_t i = 0; i < fixture->log.sample_count; i++)
		fixture->log.samples[i].frames[0].flags |= ARGUMENT_IN_SLOW;
	all_are(fixture, ARGUMENT_INVARIANT, site);
	site_of(fixture, site)->slow = slow_number("stack", "/usr/lib/python3.11/inspect.py");
	all_are(fixture, ARGUMENT_SLOW, site);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_what_is_given),
		cmocka_unit_test(test_methods_in_c),
		cmocka_unit_test(test_operands_of_einsum),
		cmocka_unit_test(test_other_ways),
		cmocka_unit_test(test_asks),
		cmocka_unit_test_setup_teardown(test_lists_joined, set_up, tear_down),
		cmocka_unit_test_setup_teardown(test_whatever_is_given, set_up, tear_down),
		cmocka_unit_test_setup_teardown(test_copied_to_grow, set_up, tear_down),
		cmocka_unit_test_setup_teardown(test_of_the_moment, set_up, tear_down),
	};

	return run_on_interpreters(tests);
}

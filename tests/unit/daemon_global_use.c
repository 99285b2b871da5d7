/* SPDX-License-Identifier: Apache-2.0 */
/* Which globals functions name, and what of them, on code that every interpreter found here has
 * compiled; and which names ask something outside. */
#include "compiled_python.h"
#include "daemon/bytecode/global_use.h"
#include "daemon/bytecode/memo.h"
#include "daemon/detect/outside_names.h"

#include <setjmp.h>
#include <stdarg.h>

#include <cmocka.h>

static const char program[] = "def none(x):\n"
			      "    return x.random() + 1\n"
			      "def called(x):\n"
			      "    return shuffle(x)\n"
			      "def attribute(x):\n"
			      "    return random.random() * x + random.gauss(0, x)\n"
			      "def chain(x):\n"
			      "    return os.path.getmtime(x), os.path\n"
			      "def data(x):\n"
			      "    return TABLE[x] + TABLE[x + 1].rate\n"
			      "def stored(x):\n"
			      "    global LAST\n"
			      "    LAST = x\n"
			      "def kept(x):\n"
			      "    if x not in TABLE:\n"
			      "        TABLE[x] = x + 1\n"
			      "    return TABLE[x]\n"
			      "def counted(x):\n"
			      "    for i in x:\n"
			      "        if i not in TABLE:\n"
			      "            TABLE[i] = 0\n"
			      "    return TABLE\n"
			      "def passed(x):\n"
			      "    return sorted(x, key=random.random)\n";

/* uses: "global.last", or "global", separated by blanks, in order. */
static void check_uses(const struct compiled_python *compiled, const char *function,
		       const char *uses)
{
	const struct compiled_code *code = compiled_function(compiled, function);
	struct global_uses found;
	struct bytecode bytecode;
	char text[256] = "";

	assert_int_equal(bytecode_init(&bytecode, &code->code), 0);
	global_uses_find(&bytecode, &found);
	bytecode_deinit(&bytecode);
	assert_false(found.cut);
	for (size_t i = 0; i < found.count; i++) {
		strcat(text, i ? " " : "");
		strcat(text, code->names[PYTHON_NAMES][found.items[i].global]);
		if (found.items[i].last == found.items[i].global)
			continue;
		strcat(text, ".");
		strcat(text, code->names[PYTHON_NAMES][found.items[i].last]);
	}
	assert_string_equal(text, uses);
}

static void test_globals_that_are_named(void **state)
{
	const struct live_pythons *pythons = live_pythons();

	(void)state;
	if (!pythons->count) {
		print_message("skipped: no CPython 3.6 to 3.15 found\n");
		skip();
	}
	for (size_t i = 0; i < pythons->count; i++) {
		struct compiled_python compiled = compiled_python(&pythons->items[i], program);

		check_uses(&compiled, "none", "");
		check_uses(&compiled, "called", "shuffle");
		/* A name is stored once: random.random is the name itself. */
		check_uses(&compiled, "attribute", "random random.gauss");
		check_uses(&compiled, "chain", "os.getmtime os.path");
		check_uses(&compiled, "data", "TABLE");
		check_uses(&compiled, "stored", "");
		check_uses(&compiled, "passed", "sorted random");
		compiled_python_free(&compiled);
	}
}

static bool is_kept(const struct compiled_python *compiled, const char *function)
{
	struct bytecode bytecode;
	bool kept;

	assert_int_equal(bytecode_init(&bytecode, &compiled_function(compiled, function)->code), 0);
	kept = memo_is_kept(&bytecode);
	bytecode_deinit(&bytecode);
	return kept;
}

static void test_results_that_are_kept(void **state)
{
	const struct live_pythons *pythons = live_pythons();

	(void)state;
	if (!pythons->count) {
		print_message("skipped: no CPython 3.6 to 3.15 found\n");
		skip();
	}
	for (size_t i = 0; i < pythons->count; i++) {
		struct compiled_python compiled = compiled_python(&pythons->items[i], program);

		assert_true(is_kept(&compiled, "kept"));
		assert_false(is_kept(&compiled, "counted"));
		assert_false(is_kept(&compiled, "data"));
		compiled_python_free(&compiled);
	}
}

static void test_names_that_ask(void **state)
{
	static const char *const asking[] = { "accept", "choice",  "random",        "stat",
					      "time",   "urlopen", "weibullvariate" };
	static const char *const silent[] = { "", "append", "perf_counter", "sorted", "zip" };

	(void)state;
	for (size_t i = 0; i < sizeof(asking) / sizeof(asking[0]); i++)
		assert_true(outside_name_asks(asking[i]));
	for (size_t i = 0; i < sizeof(silent) / sizeof(silent[0]); i++)
		assert_false(outside_name_asks(silent[i]));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_globals_that_are_named),
		cmocka_unit_test(test_results_that_are_kept),
		cmocka_unit_test(test_names_that_ask),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

/* SPDX-License-Identifier: Apache-2.0 */
/* What functions read of their parameters, on code that every interpreter found here has compiled.
 */
#include "compiled_python.h"
#include "daemon/bytecode/parameter_use.h"

#include <setjmp.h>
#include <stdarg.h>

#include <cmocka.h>

static const char program[] = "def unused(self, x):\n"
			      "    return x + 1\n"
			      "def reads(self, x):\n"
			      "    return [self.plan, self.rate * x, self.plan]\n"
			      "def chained(self, x):\n"
			      "    return self.plan.length\n"
			      "def both(self, other):\n"
			      "    return self.plan + other.rate\n"
			      "def calls(self, x):\n"
			      "    return self.plan + self.quotas(x)\n"
			      "def passes(self, x):\n"
			      "    return self.plan, len(self)\n"
			      "def assigns(self, x):\n"
			      "    self.plan = x\n"
			      "def adds(self, x):\n"
			      "    self.plan += x\n"
			      "def rebinds(self, x):\n"
			      "    self = x\n"
			      "    return self.plan\n"
			      "def deletes(self, x):\n"
			      "    del self\n"
			      "def captures(self, x):\n"
			      "    return lambda: self.plan\n"
			      "def subscripts(self, x):\n"
			      "    return self[x]\n"
			      "def pair(self, x):\n"
			      "    return (x, self), self.plan\n"
			      "def locals_of(self, x):\n"
			      "    return locals()\n"
			      "def many(self, x):\n"
			      "    return [self.a, self.b, self.c, self.d, self.e, self.f, self.g, "
			      "self.h, self.i]\n"
			      "class Base:\n"
			      "    pass\n"
			      "class Derived(Base):\n"
			      "    def parent(self, x):\n"
			      "        return super().parent\n";

#define SELF  0
#define OTHER 1

/* names: separated by blanks, in the order in which they are read; NULL: it counts as a whole. */
static void check_use(const struct compiled_python *compiled, const char *function,
		      unsigned parameter, const char *names)
{
	const struct compiled_code *code = compiled_function(compiled, function);
	struct parameter_use use;
	struct bytecode bytecode;
	char found[256] = "";

	assert_int_equal(bytecode_init(&bytecode, &code->code), 0);
	use = parameter_use_of(&bytecode, parameter);
	bytecode_deinit(&bytecode);
	if (use.whole || !names) {
		if (use.whole != !names)
			print_error("%s: whole is %d\n", function, use.whole);
		assert_int_equal(use.whole, !names);
		return;
	}
	for (uint32_t i = 0; i < use.count; i++) {
		strcat(found, i ? " " : "");
		strcat(found, code->names[PYTHON_NAMES][use.names[i]]);
	}
	assert_string_equal(found, names);
}

static void test_what_is_read_of_a_parameter(void **state)
{
	const struct live_pythons *pythons = live_pythons();

	(void)state;
	if (!pythons->count) {
		print_message("skipped: no CPython 3.6 to 3.15 found\n");
		skip();
	}
	for (size_t i = 0; i < pythons->count; i++) {
		struct compiled_python compiled = compiled_python(&pythons->items[i], program);

		check_use(&compiled, "unused", SELF, "");
		check_use(&compiled, "unused", OTHER, NULL);
		check_use(&compiled, "reads", SELF, "plan rate");
		check_use(&compiled, "reads", OTHER, NULL);
		check_use(&compiled, "chained", SELF, "plan");
		check_use(&compiled, "both", SELF, "plan");
		check_use(&compiled, "both", OTHER, "rate");
		check_use(&compiled, "calls", SELF, "plan quotas");
		check_use(&compiled, "passes", SELF, NULL);
		check_use(&compiled, "assigns", SELF, NULL);
		check_use(&compiled, "adds", SELF, NULL);
		check_use(&compiled, "rebinds", SELF, NULL);
		check_use(&compiled, "deletes", SELF, NULL);
		check_use(&compiled, "captures", SELF, NULL);
		check_use(&compiled, "subscripts", SELF, NULL);
		check_use(&compiled, "pair", SELF, NULL);
		check_use(&compiled, "locals_of", SELF, NULL);
		check_use(&compiled, "many", SELF, NULL);
		check_use(&compiled, pythons->items[i].minor >= 11 ? "Derived.parent" : "parent",
			  SELF, NULL);
		compiled_python_free(&compiled);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_what_is_read_of_a_parameter),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

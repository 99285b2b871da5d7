/* SPDX-License-Identifier: Apache-2.0 */
#include "daemon/cct/greenlet_base.h"

#include <setjmp.h>
#include <stdarg.h>
#include <string.h>

#include <cmocka.h>

static const struct address_ranges eval = { .items = { { 0x5000, 0x5800 } }, .count = 1 };
static const struct address_ranges module = { .items = { { 0x7000, 0x7800 } }, .count = 1 };

/*
 * How many frames are left of a native stack, innermost first: 'e' an evaluation loop, 'g' code of
 * greenlet, other letters anything else; with so many groups of Python frames.
 */
static size_t left_of(const char *letters, size_t groups, uint32_t flags,
		      const struct address_ranges *greenlet)
{
	static struct python_stack python;
	struct native_frame native[32] = { 0 };
	size_t count = strlen(letters);

	python.flags = flags;
	python.count = 2 * groups;
	for (size_t i = 0; i < python.count; i++)
		python.frames[i].entry = i % 2;
	for (size_t i = 0; i < count; i++)
		/* A return address behind the last instruction is still the function's. */
		native[i].pc = letters[i] == 'e'   ? 0x5000 + (i > 0)
			       : letters[i] == 'g' ? 0x7800 - (i == 0)
						   : 0x9000;
	return greenlet_base_find(native, count, &python, &eval, greenlet);
}

static void test_base(void **state)
{
	static const struct {
		const char *native;
		size_t groups, left;
	} cases[] = {
		{ "xexexm", 2, 6 },       /* no greenlet */
		{ "xexgggexm", 1, 6 },    /* in one */
		{ "exexggexexm", 2, 6 },  /* with two loops */
		{ "xgggexgggexm", 1, 9 }, /* about to leave it: the first are no base */
		{ "gggexm", 1, 6 },       /* about to leave the main one */
		{ "gggexm", 0, 3 },       /* in one, before its first Python frame */
		{ "xxggexm", 0, 4 },      { "eexggexm", 1, 5 }, /* entering a second loop */
		{ "xexggexggexm", 1, 5 },                       /* started from another one */
		{ "xexgg", 1, 5 },        { "", 0, 0 },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++)
		assert_int_equal(left_of(cases[i].native, cases[i].groups, 0, &module),
				 cases[i].left);
}

static void test_unknown(void **state)
{
	const struct address_ranges none = { 0 };

	(void)state;
	assert_int_equal(left_of("xexgggexm", 1, 0, &none), 9);
	/* How many groups there are is not known. */
	assert_int_equal(left_of("xexgggexm", 1, PYTHON_STACK_INVALID, &module), 9);
	assert_int_equal(left_of("xexgggexm", 1, PYTHON_STACK_TRUNCATED, &module), 9);
	assert_int_equal(left_of("xexgggexm", 1, PYTHON_STACK_TORN, &module), 9);
	assert_int_equal(left_of("xexgggexm", 1, PYTHON_STACK_RECOVERED, &module), 6);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_base),
		cmocka_unit_test(test_unknown),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

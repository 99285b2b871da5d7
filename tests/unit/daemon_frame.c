/* SPDX-License-Identifier: Apache-2.0 */
#include "daemon/cct/frame.h"

#include <setjmp.h>
#include <stdarg.h>

#include <cmocka.h>

static const struct python_code codes[2];
static const struct module modules[2];

static struct frame python(const struct python_code *code, int offset)
{
	return (struct frame){ .kind = FRAME_PYTHON,
			       .python = { .code = code, .instruction_offset = offset } };
}

static struct frame native(const struct module *module, remote_addr function, remote_addr pc)
{
	return (struct frame){ .kind = FRAME_NATIVE,
			       .native = { .module = module, .function = function, .pc = pc } };
}

static void check(struct frame a, struct frame b, bool equal)
{
	assert_int_equal(frame_equal(&a, &b), equal);
	assert_int_equal(frame_equal(&b, &a), equal);
	/* Unequal frames may collide, but none of these few does. */
	assert_int_equal(frame_hash(&a) == frame_hash(&b), equal);
}

static void test_python_frames(void **state)
{
	(void)state;
	check(python(&codes[0], 4), python(&codes[0], 4), true);
	check(python(&codes[0], 4), python(&codes[0], 6), false);
	check(python(&codes[0], 4), python(&codes[1], 4), false);
	check(python(&codes[0], -2), python(&codes[0], -2), true);
	check(python(&codes[0], -2), python(&codes[0], 2), false);
}

static void test_native_frames(void **state)
{
	(void)state;
	check(native(&modules[0], 0x1000, 0x1010), native(&modules[0], 0x1000, 0x1020), true);
	check(native(&modules[0], 0x1000, 0x1010), native(&modules[0], 0x2000, 0x1010), false);
	check(native(&modules[0], 0x1000, 0x1010), native(&modules[1], 0x1000, 0x1010), false);
	check(native(&modules[0], 0, 0x1010), native(&modules[0], 0, 0x1010), true);
	check(native(&modules[0], 0, 0x1010), native(&modules[0], 0, 0x1020), false);
	check(native(NULL, 0, 0x1010), native(NULL, 0, 0x1010), true);
	check(native(NULL, 0, 0x1000), native(NULL, 0x1000, 0x1000), false);
}

static void test_kinds_differ(void **state)
{
	(void)state;
	check(python(&codes[0], 4), native(&modules[0], 0x1000, 0x1010), false);
}

static void test_flags_do_not_matter(void **state)
{
	struct frame frame = native(&modules[0], 0x1000, 0x1010);

	(void)state;
	frame.flags = FRAME_GUESSED | FRAME_TRUNCATED_ABOVE;
	check(frame, native(&modules[0], 0x1000, 0x1010), true);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_python_frames),
		cmocka_unit_test(test_native_frames),
		cmocka_unit_test(test_kinds_differ),
		cmocka_unit_test(test_flags_do_not_matter),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

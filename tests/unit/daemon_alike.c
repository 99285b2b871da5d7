/* SPDX-License-Identifier: Apache-2.0 */
/* Stacks that are shown once. */
#include "daemon/inspect/alike.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

static const struct profile_frame waits[] = {
	{ .kind = FRAME_PYTHON, .function = "run", .file = "pool.py", .line = 7 },
	{ .kind = FRAME_NATIVE, .function = "futex", .file = "libc.so.6", .address = 0x10 },
};
static const struct profile_frame waits_elsewhere[] = {
	{ .kind = FRAME_PYTHON, .function = "run", .file = "pool.py", .line = 7 },
	{ .kind = FRAME_NATIVE, .function = "futex", .file = "libc.so.6", .address = 0x20 },
};

static void test_alike(void **state)
{
	struct profile_frame copy[2] = { waits[0], waits[1] };
	struct alike stacks[] = {
		{ .frames = waits_elsewhere, .frame_count = 2, .kind = 1 },
		{ .frames = waits, .frame_count = 2, .kind = 1 },
		{ .frames = waits, .frame_count = 1, .kind = 1 },
		{ .frames = copy, .frame_count = 2, .kind = 1 },
		{ .frames = waits, .frame_count = 2, .kind = 2 },
		{ .frames = waits, .frame_count = 2, .kind = 1, .alone = true },
		{ .frames = waits, .frame_count = 2, .kind = 1 },
		{ .kind = 1 },
		{ .kind = 1 },
	};
	static const size_t firsts[] = { 0, 1, 2, 1, 4, 5, 1, 7, 7 };
	static const size_t members[] = { 1, 3, 1, 0, 1, 1, 0, 2, 0 };

	(void)state;
	alike_find(stacks, sizeof(stacks) / sizeof(stacks[0]));
	for (size_t i = 0; i < sizeof(stacks) / sizeof(stacks[0]); i++) {
		assert_int_equal(stacks[i].first, firsts[i]);
		assert_int_equal(stacks[i].members, members[i]);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = { cmocka_unit_test(test_alike) };

	return cmocka_run_group_tests(tests, NULL, NULL);
}

/* SPDX-License-Identifier: Apache-2.0 */
/* More pieces of memory than are copied for one stack, or remembered for the next. */
#include "pyintrospect/remote_copy.h"

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>

/* As in docs/SECURITY.md. */
#define BYTES      (1u << 20)
#define PIECES     2048
#define REMEMBERED 1536

#define BASE 0x10000u

/* Every byte is readable. */
static int read_any(void *context, struct memory_range *ranges, size_t count)
{
	size_t *bytes = context;

	for (size_t i = 0; i < count; i++) {
		memset(ranges[i].buffer, (int)(ranges[i].address >> 4), ranges[i].size);
		ranges[i].error = 0;
		*bytes += ranges[i].size;
	}
	return 0;
}

static void test_pieces(void **state)
{
	size_t bytes = 0;
	struct memory_reader reader = { .read = read_any, .context = &bytes };
	struct remote_recent recent = { 0 };
	struct remote_copy copy;
	const uint8_t *found;

	(void)state;
	assert_int_equal(remote_copy_init(&copy, &reader), 0);
	remote_copy_begin(&copy, NULL);
	for (size_t i = 0; i < PIECES; i++)
		assert_int_equal(remote_copy_want(&copy, BASE + 16 * i, 16), 0);
	assert_int_equal(remote_copy_want(&copy, BASE + 16 * PIECES, 16), -ENOSPC);
	assert_int_equal(remote_copy_fetch(&copy), 0);
	assert_int_equal(bytes, 16 * PIECES);
	for (size_t i = 0; i < PIECES; i++) {
		found = remote_copy_get(&copy, BASE + 16 * i, 16);
		assert_true(found && found[15] == (uint8_t)((BASE >> 4) + i));
	}
	assert_null(remote_copy_get(&copy, BASE + 16 * PIECES, 16));
	assert_int_equal(remote_copy_read(&copy, BASE + 16 * PIECES, 16, &found), -ENOSPC);
	/* All were of use; the first ones are asked for anew. */
	remote_copy_remember(&copy, &recent);
	assert_int_equal(recent.count, REMEMBERED);
	assert_true(recent.capacity <= REMEMBERED);
	remote_copy_begin(&copy, NULL);
	remote_copy_want_recent(&copy, &recent);
	bytes = 0;
	assert_int_equal(remote_copy_fetch(&copy), 0);
	assert_int_equal(bytes, 16 * REMEMBERED);
	assert_non_null(remote_copy_get(&copy, BASE + 16 * (REMEMBERED - 1), 16));
	assert_null(remote_copy_get(&copy, BASE + 16 * REMEMBERED, 16));
	remote_recent_deinit(&recent);
	remote_copy_deinit(&copy);
}

static void test_bytes(void **state)
{
	const size_t size = 64 << 10;
	size_t bytes = 0;
	struct memory_reader reader = { .read = read_any, .context = &bytes };
	struct remote_copy copy;
	const uint8_t *found;

	(void)state;
	assert_int_equal(remote_copy_init(&copy, &reader), 0);
	remote_copy_begin(&copy, NULL);
	assert_int_equal(remote_copy_want(&copy, BASE, size + 1), -ENOSPC);
	for (size_t i = 0; i < BYTES / size; i++)
		assert_int_equal(remote_copy_read(&copy, BASE + size * i, size, &found), 0);
	assert_int_equal(remote_copy_want(&copy, BASE + BYTES, 1), -ENOSPC);
	assert_int_equal(remote_copy_read(&copy, BASE + BYTES, 1, &found), -ENOSPC);
	assert_int_equal(bytes, BYTES);
	/* The next stack has all of it again. */
	remote_copy_begin(&copy, NULL);
	assert_int_equal(remote_copy_read(&copy, BASE + BYTES, 1, &found), 0);
	remote_copy_deinit(&copy);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_pieces),
		cmocka_unit_test(test_bytes),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

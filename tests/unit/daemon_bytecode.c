/* SPDX-License-Identifier: Apache-2.0 */
/* Bytecode that is longer than is looked at. */
#include "daemon/bytecode/bytecode.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#define BYTES (256 << 10) /* as in docs/SECURITY.md */
#define NOP   9           /* of CPython 3.11, in 2 bytes */

static void test_limit(void **state)
{
	uint8_t *bytes = calloc(1, BYTES + 2);

	(void)state;
	assert_non_null(bytes);
	for (size_t i = 0; i < BYTES + 2; i += 2)
		bytes[i] = NOP;
	for (size_t more = 0; more <= 2; more += 2) {
		struct python_code code = { .minor = 11,
					    .bytecode = bytes,
					    .bytecode_size = BYTES + more };
		struct bytecode bytecode;

		assert_int_equal(bytecode_init(&bytecode, &code), 0);
		assert_int_equal(bytecode.count, more ? 0 : BYTES / 2);
		assert_int_equal(bytecode_at(&bytecode, BYTES - 2) != NULL, !more);
		bytecode_deinit(&bytecode);
	}
	free(bytes);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_limit),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

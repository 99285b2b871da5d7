/* SPDX-License-Identifier: Apache-2.0 */
/* Epilogues, and bytes that are none. */
#include "symbolize/epilogue.h"

#include "common/registers.h"
#include "tests/unit/unit_random.h"

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#define RULE(rule, ...)                                                                            \
	epilogue_rule((const uint8_t[]){ __VA_ARGS__ }, sizeof((const uint8_t[]){ __VA_ARGS__ }),  \
		      rule)

static void test_epilogues(void **state)
{
	struct cfi_rule rule;

	(void)state;
	/* add rsp, 8; ret: CPython's trampoline behind its call */
	assert_int_equal(RULE(&rule, 0x48, 0x83, 0xc4, 0x08, 0xc3), 0);
	assert_int_equal(rule.kind, CFI_RULE_REGISTER);
	assert_int_equal(rule.cfa_register, REGISTER_RSP);
	assert_int_equal(rule.cfa_offset, 16);
	assert_int_equal(rule.rbp, CFI_RBP_SAME);
	assert_int_equal(RULE(&rule, 0xc3), 0);
	assert_int_equal(rule.cfa_offset, 8);
	/* add rsp, 0x120; pop rbx; pop rbp; pop r12; ret */
	assert_int_equal(
		RULE(&rule, 0x48, 0x81, 0xc4, 0x20, 0x01, 0, 0, 0x5b, 0x5d, 0x41, 0x5c, 0xc3), 0);
	assert_int_equal(rule.cfa_offset, 0x120 + 3 * 8 + 8);
	assert_int_equal(rule.rbp, CFI_RBP_AT_CFA);
	assert_int_equal(rule.rbp_offset, -24);
	/* leave; ret */
	assert_int_equal(RULE(&rule, 0x90, 0xc9, 0xc3), 0);
	assert_int_equal(rule.cfa_register, REGISTER_RBP);
	assert_int_equal(rule.cfa_offset, 16);
	assert_int_equal(rule.rbp_offset, -16);
}

static void test_others(void **state)
{
	struct cfi_rule rule;

	(void)state;
	assert_int_equal(RULE(&rule, 0x48, 0x89, 0xc3, 0xc3), -ENOENT);       /* mov rbx, rax */
	assert_int_equal(RULE(&rule, 0x48, 0x83, 0xc4, 0xf8, 0xc3), -ENOENT); /* add rsp, -8 */
	assert_int_equal(RULE(&rule, 0x5c, 0xc3), -ENOENT);                   /* pop rsp */
	assert_int_equal(RULE(&rule, 0x5d, 0xc9, 0xc3), -ENOENT);
	assert_int_equal(RULE(&rule, 0x48, 0x83, 0xc4), -ENOENT);
	assert_int_equal(RULE(&rule, 0x58), -ENOENT);
	assert_int_equal(epilogue_rule(NULL, 0, &rule), -ENOENT);
}

/* Whatever the bytes: it ends, and what it says moves up the stack. */
static void test_random_bytes(void **state)
{
	struct unit_random random = { .state = 1 };

	(void)state;
	for (unsigned i = 0; i < 200000; i++) {
		uint8_t code[EPILOGUE_BYTES];
		struct cfi_rule rule;

		for (size_t k = 0; k < sizeof(code); k++)
			/* Mostly what epilogues are made of. */
			code[k] = unit_random_below(&random, 4)
					  ? (const uint8_t[]){ 0x48, 0x83, 0xc4, 0x5d, 0x41, 0x5c,
							       0xc9, 0xc3, 0x81, 0x58, 0x90, 0x08 }
						    [unit_random_below(&random, 12)]
					  : (uint8_t)unit_random_next(&random);
		if (epilogue_rule(code, unit_random_below(&random, sizeof(code)), &rule) == 0)
			assert_true(rule.cfa_offset >= 8 && rule.cfa_offset <= (2 << 20));
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_epilogues),
		cmocka_unit_test(test_others),
		cmocka_unit_test(test_random_bytes),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

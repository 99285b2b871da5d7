/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Call frame programs: hand-assembled ones for every kind of rule and for what
 * must be refused.
 */
#include "common/registers.h"
#include "tests/unit/cfi_builder.h"

/* The rule at an offset into the code, after a program given as bytes. */
#define RULE_AT(offset, ...)                                                                       \
	rule_at("zR", offset, (const uint8_t[]){ __VA_ARGS__ },                                    \
		sizeof((const uint8_t[]){ __VA_ARGS__ }))

static struct cfi_rule rule_at(const char *augmentation, uint64_t offset, const uint8_t *program,
			       size_t size)
{
	struct builder builder;
	struct eh_frame_fde fde = fde_with(&builder, augmentation, program, size);

	return cfi_rule_at(&fde, CODE_ADDRESS + offset);
}

static void assert_rule(struct cfi_rule rule, enum cfi_rule_kind kind, enum register_id base,
			int32_t cfa_offset, enum cfi_rbp_rule rbp, int16_t rbp_offset)
{
	assert_int_equal(rule.kind, kind);
	assert_int_equal(rule.cfa_register, base);
	assert_int_equal(rule.cfa_offset, cfa_offset);
	assert_int_equal(rule.rbp, rbp);
	assert_int_equal(rule.rbp_offset, rbp_offset);
}

static void test_function_with_frame_pointer(void **state)
{
	static const uint8_t program[] = {
		ADVANCE(1),
		DW_CFA_def_cfa_offset,
		16,
		OFFSET(6),
		2, /* push %rbp */
		ADVANCE(3),
		DW_CFA_def_cfa_register,
		6, /* mov %rsp, %rbp */
		DW_CFA_advance_loc1,
		0x40,
		DW_CFA_remember_state, /* */
		ADVANCE(1),
		DW_CFA_def_cfa,
		7,
		8,
		RESTORE(6), /* leave */
		ADVANCE(1),
		DW_CFA_restore_state, /* ret; code goes on */
		DW_CFA_nop,
		DW_CFA_nop,
	};

	(void)state;
	assert_rule(rule_at("zR", 0, program, sizeof(program)), CFI_RULE_REGISTER, REGISTER_RSP, 8,
		    CFI_RBP_SAME, 0);
	assert_rule(rule_at("zR", 1, program, sizeof(program)), CFI_RULE_REGISTER, REGISTER_RSP, 16,
		    CFI_RBP_AT_CFA, -16);
	assert_rule(rule_at("zR", 3, program, sizeof(program)), CFI_RULE_REGISTER, REGISTER_RSP, 16,
		    CFI_RBP_AT_CFA, -16);
	assert_rule(rule_at("zR", 4, program, sizeof(program)), CFI_RULE_REGISTER, REGISTER_RBP, 16,
		    CFI_RBP_AT_CFA, -16);
	assert_rule(rule_at("zR", 0x45, program, sizeof(program)), CFI_RULE_REGISTER, REGISTER_RSP,
		    8, CFI_RBP_SAME, 0);
	assert_rule(rule_at("zR", 0x46, program, sizeof(program)), CFI_RULE_REGISTER, REGISTER_RBP,
		    16, CFI_RBP_AT_CFA, -16);
	assert_rule(rule_at("zR", CODE_BYTES - 1, program, sizeof(program)), CFI_RULE_REGISTER,
		    REGISTER_RBP, 16, CFI_RBP_AT_CFA, -16);
}

static void test_advances(void **state)
{
	(void)state;
	assert_int_equal(
		RULE_AT(0x30, DW_CFA_advance_loc2, 0x30, 0, DW_CFA_def_cfa_offset, 32).cfa_offset,
		32);
	assert_int_equal(
		RULE_AT(0x2f, DW_CFA_advance_loc2, 0x30, 0, DW_CFA_def_cfa_offset, 32).cfa_offset,
		8);
	assert_int_equal(
		RULE_AT(0x30, DW_CFA_advance_loc4, 0x30, 0, 0, 0, DW_CFA_def_cfa_offset, 32)
			.cfa_offset,
		32);
	/* A large offset takes two bytes: 0x1008. */
	assert_int_equal(RULE_AT(0, DW_CFA_def_cfa_offset, 0x88, 0x20).cfa_offset, 0x1008);
	assert_int_equal(RULE_AT(0, DW_CFA_def_cfa_offset_sf, 0x7e).cfa_offset, 16);
	assert_rule(RULE_AT(0, DW_CFA_def_cfa_sf, 6, 0x7e), CFI_RULE_REGISTER, REGISTER_RBP, 16,
		    CFI_RBP_SAME, 0);
	assert_int_equal(RULE_AT(0, DW_CFA_offset_extended, 6, 4).rbp_offset, -32);
	assert_int_equal(RULE_AT(0, DW_CFA_offset_extended_sf, 6, 4).rbp_offset, -32);
	assert_int_equal(RULE_AT(0, DW_CFA_GNU_negative_offset_extended, 6, 4).rbp_offset, 32);
	assert_int_equal(RULE_AT(0, OFFSET(6), 4, DW_CFA_same_value, 6).rbp, CFI_RBP_SAME);
	assert_int_equal(RULE_AT(0, OFFSET(6), 4, DW_CFA_restore_extended, 6).rbp, CFI_RBP_SAME);
	/* Registers that are of no use here, of the expression kind too. */
	assert_int_equal(RULE_AT(0, OFFSET(3), 4, DW_CFA_expression, 12, 2, 0x76, 0x70,
				 DW_CFA_register, 3, 5, DW_CFA_val_offset, 3, 5,
				 DW_CFA_val_offset_sf, 3, 5, DW_CFA_val_expression, 12, 1,
				 DW_OP_lit0, DW_CFA_GNU_args_size, 16)
				 .kind,
			 CFI_RULE_REGISTER);
}

static void test_other_rules(void **state)
{
	(void)state;
	/* GCC's realigned stack: before, and after the frame is set up. */
	assert_rule(RULE_AT(5, ADVANCE(5), DW_CFA_def_cfa, 10, 0), CFI_RULE_REGISTER, REGISTER_R10,
		    0, CFI_RBP_SAME, 0);
	assert_rule(RULE_AT(0, DW_CFA_expression, 6, 2, DW_OP_breg6, 0, DW_CFA_def_cfa_expression,
			    3, DW_OP_breg6, 0x78, DW_OP_deref),
		    CFI_RULE_DEREFERENCE, REGISTER_RBP, -8, CFI_RBP_AT_RBP, 0);
	/* OpenSSL's. */
	assert_rule(RULE_AT(0, DW_CFA_def_cfa_expression, 6, DW_OP_breg7, 0xb8, 0x01, DW_OP_deref,
			    DW_OP_plus_uconst, 8, OFFSET(6), 3),
		    CFI_RULE_DEREFERENCE_8, REGISTER_RSP, 184, CFI_RBP_AT_CFA, -24);
	assert_rule(RULE_AT(0, DW_CFA_def_cfa_expression, 2, DW_OP_breg7, 24), CFI_RULE_REGISTER,
		    REGISTER_RSP, 24, CFI_RBP_SAME, 0);
	/* The linker's, for the PLT. */
	assert_rule(RULE_AT(0, DW_CFA_def_cfa_expression, 11, DW_OP_breg7, 8, DW_OP_breg16, 0,
			    DW_OP_lit15, DW_OP_and, DW_OP_lit11, DW_OP_ge, DW_OP_lit3, DW_OP_shl,
			    DW_OP_plus),
		    CFI_RULE_PLT, REGISTER_RSP, 11, CFI_RBP_SAME, 0);
	/* _start, clone3. */
	assert_int_equal(RULE_AT(0, DW_CFA_undefined, 16).kind, CFI_RULE_END);
	/* DWARF's numbers are not the instruction set's. */
	assert_int_equal(RULE_AT(0, DW_CFA_def_cfa, 1, 8).cfa_register, REGISTER_RDX);
	assert_int_equal(RULE_AT(0, DW_CFA_def_cfa, 4, 8).cfa_register, REGISTER_RSI);
}

/* glibc's __restore_rt. */
static void test_signal_frame(void **state)
{
	uint8_t program[] = {
		DW_CFA_def_cfa_expression, 4,  DW_OP_breg7, 0xa0,        0x01, DW_OP_deref,
		DW_CFA_expression,         6,  3,           DW_OP_breg7, 0xf8, 0x00,
		DW_CFA_expression,         7,  3,           DW_OP_breg7, 0xa0, 0x01,
		DW_CFA_expression,         16, 3,           DW_OP_breg7, 0xa8, 0x01,
	};

	(void)state;
	assert_int_equal(rule_at("zRS", 0, program, sizeof(program)).kind, CFI_RULE_SIGNAL);
	/* Not a signal frame, and not where the kernel puts them. */
	assert_int_equal(rule_at("zR", 0, program, sizeof(program)).kind, CFI_RULE_COMPLEX);
	program[sizeof(program) - 2] = 0xb0;
	assert_int_equal(rule_at("zRS", 0, program, sizeof(program)).kind, CFI_RULE_COMPLEX);
}

static void test_inexpressible(void **state)
{
	(void)state;
#define assert_complex(...) assert_int_equal(RULE_AT(0, __VA_ARGS__).kind, CFI_RULE_COMPLEX)
	assert_complex(OFFSET(16), 2);           /* return address elsewhere */
	assert_complex(DW_CFA_same_value, 16);   /* still in a register */
	assert_complex(DW_CFA_register, 16, 2);  /* */
	assert_complex(OFFSET(7), 3);            /* rsp is not the CFA */
	assert_complex(DW_CFA_register, 6, 3);   /* rbp in another register */
	assert_complex(DW_CFA_val_offset, 6, 2); /* */
	assert_complex(DW_CFA_expression, 6, 2, DW_OP_breg3, 0);
	assert_complex(DW_CFA_val_expression, 6, 2, DW_OP_breg6, 0);
	assert_complex(DW_CFA_def_cfa, 17, 8); /* xmm0 */
	assert_complex(DW_CFA_def_cfa, 16, 8); /* rip */
	assert_complex(DW_CFA_def_cfa_expression, 3, DW_OP_breg7, 8, DW_OP_nop);
	assert_complex(DW_CFA_def_cfa_expression, 1, DW_OP_lit0);
	assert_complex(DW_CFA_def_cfa_expression, 0);
	assert_complex(DW_CFA_def_cfa_expression, 3, DW_OP_breg6, 0, DW_OP_deref,
		       DW_CFA_def_cfa_offset, 8); /* an offset to nothing */
	assert_complex(DW_CFA_def_cfa_offset, 0x80, 0x80, 0x80, 0x80, 0x10); /* 4 GiB */
	assert_complex(OFFSET(6), 0xff, 0xff, 0x03);                         /* 512 KiB away */
#undef assert_complex
}

static void test_broken_programs(void **state)
{
	uint8_t remember[17];

	(void)state;
#define assert_broken(...) assert_int_equal(RULE_AT(0, __VA_ARGS__).kind, CFI_RULE_COMPLEX)
	assert_broken(0x3f);                        /* no such operation */
	assert_broken(DW_CFA_GNU_window_save);      /* of other machines */
	assert_broken(DW_CFA_restore_state);        /* nothing remembered */
	assert_broken(DW_CFA_def_cfa, 7);           /* cut off */
	assert_broken(DW_CFA_def_cfa_offset, 0x80); /* */
	assert_broken(DW_CFA_def_cfa_expression, 5, DW_OP_breg7);
	assert_broken(DW_CFA_expression, 6, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff,
		      1);
	/* Offsets that overflow when multiplied by -8 or negated. */
	assert_broken(OFFSET(6), 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0x7f);
	assert_broken(OFFSET(6), 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0x01);
	assert_broken(DW_CFA_offset_extended_sf, 6, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80,
		      0x80, 0x7f);
	assert_broken(DW_CFA_def_cfa_offset_sf, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80,
		      0x40);
	assert_broken(DW_CFA_set_loc, 0, 0, 0, 0); /* to itself: backwards from the code */
#undef assert_broken
	memset(remember, DW_CFA_remember_state, sizeof(remember));
	assert_int_equal(rule_at("zR", 0, remember, 16).kind, CFI_RULE_REGISTER);
	assert_int_equal(rule_at("zR", 0, remember, 17).kind, CFI_RULE_COMPLEX);
}

static void test_mid_function(void **state)
{
	(void)state;
	assert_false(cfi_rule_is_mid_function(RULE_AT(0, DW_CFA_nop)));
	assert_true(cfi_rule_is_mid_function(RULE_AT(0, DW_CFA_def_cfa_offset, 64)));
	assert_true(cfi_rule_is_mid_function(RULE_AT(0, DW_CFA_def_cfa, 6, 16)));
	assert_true(cfi_rule_is_mid_function(
		RULE_AT(0, DW_CFA_def_cfa_expression, 3, DW_OP_breg6, 0x78, DW_OP_deref)));
	assert_false(cfi_rule_is_mid_function(RULE_AT(0, DW_CFA_undefined, 16)));
	assert_false(cfi_rule_is_mid_function(RULE_AT(0, 0x3f)));
}

/* What made libunwind 1.6.2 read beyond its tables, divide what cannot be divided, or abort. */
static void test_safe_for_libunwind(void **state)
{
	static const uint8_t no_cfa_at_all[] = { OFFSET(16), 1 };
	static const uint8_t offset_only[] = { DW_CFA_def_cfa_offset, 8, OFFSET(16), 1 };
	struct builder builder;
	struct eh_frame_fde fde;

	(void)state;
#define IS_SAFE(...)                                                                               \
	(fde = fde_with(&builder, "zR", (const uint8_t[]){ __VA_ARGS__ },                          \
			sizeof((const uint8_t[]){ __VA_ARGS__ })),                                 \
	 cfi_is_safe_for_libunwind(&fde))
	assert_true(IS_SAFE(DW_CFA_nop));
	assert_true(IS_SAFE(ADVANCE(1), DW_CFA_def_cfa_offset, 16, OFFSET(6), 2, ADVANCE(3),
			    DW_CFA_remember_state, DW_CFA_def_cfa_register, 6, ADVANCE(9),
			    DW_CFA_restore_state));
	assert_true(IS_SAFE(DW_CFA_register, 16, 2));
	assert_true(IS_SAFE(DW_CFA_register, 3, 16));
	assert_false(IS_SAFE(DW_CFA_register, 3, 17));
	assert_false(IS_SAFE(DW_CFA_register, 3, 0xe0, 0x1b));
	/* Wherever it is in the program. */
	assert_false(IS_SAFE(ADVANCE(0x3f), ADVANCE(0x3f), DW_CFA_register, 3, 17));
	assert_false(IS_SAFE(DW_CFA_val_offset, 3, 1));
	assert_false(IS_SAFE(0x3f));
	/* Expressions: the linker's and the kernel's, and what only a liar writes. */
	assert_true(IS_SAFE(DW_CFA_def_cfa_expression, 11, DW_OP_breg7, 8, DW_OP_breg16, 0,
			    DW_OP_lit15, DW_OP_and, DW_OP_lit11, DW_OP_ge, DW_OP_lit3, DW_OP_shl,
			    DW_OP_plus));
	assert_true(IS_SAFE(DW_CFA_expression, 3, 3, DW_OP_breg7, 0xa8, 0x01));
	assert_true(IS_SAFE(DW_CFA_expression, 3, 3, DW_OP_const1u, DW_OP_div, DW_OP_deref));
	assert_false(IS_SAFE(DW_CFA_expression, 3, 3, DW_OP_breg7, 8, DW_OP_div));
	assert_false(IS_SAFE(DW_CFA_val_expression, 3, 3, DW_OP_skip, 0xfd, 0xff));
	assert_false(IS_SAFE(DW_CFA_def_cfa_expression, 4, DW_OP_lit1, DW_OP_bra, 0, 1));
	assert_false(IS_SAFE(DW_CFA_def_cfa_expression, 1, DW_OP_call2));
	assert_false(IS_SAFE(DW_CFA_def_cfa_expression, 2, DW_OP_const2u, 0));
	assert_false(IS_SAFE(DW_CFA_def_cfa_expression, 0));
#undef IS_SAFE
	/* A CIE that leaves the CFA undefined. */
	fde = fde_with(&builder, "zR", (const uint8_t[]){ DW_CFA_def_cfa_offset, 16 }, 2);
	fde.cie.program = offset_only;
	fde.cie.program_size = sizeof(offset_only);
	assert_false(cfi_is_safe_for_libunwind(&fde));
	fde.cie.program = no_cfa_at_all;
	fde.cie.program_size = sizeof(no_cfa_at_all);
	assert_false(cfi_is_safe_for_libunwind(&fde));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_function_with_frame_pointer),
		cmocka_unit_test(test_advances),
		cmocka_unit_test(test_other_rules),
		cmocka_unit_test(test_signal_frame),
		cmocka_unit_test(test_inexpressible),
		cmocka_unit_test(test_broken_programs),
		cmocka_unit_test(test_mid_function),
		cmocka_unit_test(test_safe_for_libunwind),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

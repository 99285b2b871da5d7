/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Call frame programs: hand-assembled ones for every kind of rule and for what
 * must be refused; those of real files against libdw's answers.
 */
#include "symbolize/cfi.h"
#include "symbolize/eh_frame_hdr.h"
#include "tests/unit/live_process.h"

#include "common/registers.h"

#include <setjmp.h>
#include <stdarg.h>

#include <cmocka.h>
#include <dwarf.h>
#include <elfutils/libdw.h>
#include <link.h>

/* A made-up file: .eh_frame at 0x1000, the code it describes at 0x4000. */
#define TABLE_ADDRESS 0x1000
#define CODE_ADDRESS  0x4000
#define CODE_BYTES    0x100

struct builder {
	uint8_t bytes[4096];
	size_t size;
	uint64_t fde_address;
	struct elf_image image;
};

static void put(struct builder *builder, const void *bytes, size_t size)
{
	assert_true(size <= sizeof(builder->bytes) - builder->size);
	memcpy(builder->bytes + builder->size, bytes, size);
	builder->size += size;
}

static void put_u8(struct builder *builder, uint8_t value)
{
	put(builder, &value, 1);
}

static void put_u32(struct builder *builder, uint32_t value)
{
	put(builder, &value, 4);
}

static void put_u64(struct builder *builder, uint64_t value)
{
	put(builder, &value, 8);
}

/* Begins an entry; end_entry() fills in its length. */
static size_t begin_entry(struct builder *builder, uint32_t id)
{
	size_t at = builder->size;

	put_u32(builder, 0);
	put_u32(builder, id);
	return at;
}

static void end_entry(struct builder *builder, size_t at)
{
	uint32_t length = (uint32_t)(builder->size - at - 4);

	memcpy(builder->bytes + at, &length, 4);
}

static struct elf_image *finish(struct builder *builder)
{
	put_u32(builder, 0);
	builder->image = (struct elf_image){
		.bytes = builder->bytes,
		.size = builder->size,
		.segments = { { .virtual_address = TABLE_ADDRESS,
				.file_size = builder->size,
				.memory_size = builder->size } },
		.segment_count = 1,
		.eh_frame_address = TABLE_ADDRESS,
		.eh_frame_size = builder->size,
	};
	return &builder->image;
}

/* GCC's CIE: CFA = rsp + 8, return address at CFA - 8. */
static void put_cie(struct builder *builder, const char *augmentation)
{
	static const uint8_t program[] = { DW_CFA_def_cfa, 7, 8, DW_CFA_offset | 16, 1 };
	size_t at = begin_entry(builder, 0);

	put_u8(builder, 1);
	put(builder, augmentation, strlen(augmentation) + 1);
	put_u8(builder, 1);    /* code alignment */
	put_u8(builder, 0x78); /* data alignment: -8 */
	put_u8(builder, 16);
	put_u8(builder, 1);
	put_u8(builder, DW_EH_PE_pcrel | DW_EH_PE_sdata4);
	put(builder, program, sizeof(program));
	end_entry(builder, at);
}

static void put_fde(struct builder *builder, const uint8_t *program, size_t size)
{
	size_t at;

	builder->fde_address = TABLE_ADDRESS + builder->size;
	/* The CIE is at the table's beginning. */
	at = begin_entry(builder, (uint32_t)(builder->size + 4));
	put_u32(builder, (uint32_t)(CODE_ADDRESS - (TABLE_ADDRESS + builder->size)));
	put_u32(builder, CODE_BYTES);
	put_u8(builder, 0);
	put(builder, program, size);
	end_entry(builder, at);
}

static struct eh_frame_fde fde_with(struct builder *builder, const char *augmentation,
				    const uint8_t *program, size_t size)
{
	struct eh_frame_fde fde;

	*builder = (struct builder){ .size = 0 };
	put_cie(builder, augmentation);
	put_fde(builder, program, size);
	assert_int_equal(eh_frame_fde_at(finish(builder), builder->fde_address, NULL, &fde), 0);
	assert_true(fde.start == CODE_ADDRESS);
	assert_true(fde.end == CODE_ADDRESS + CODE_BYTES);
	return fde;
}

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

#define ADVANCE(bytes)  (DW_CFA_advance_loc | (bytes))
#define OFFSET(number)  (DW_CFA_offset | (number))
#define RESTORE(number) (DW_CFA_restore | (number))

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

/* Forms of entries other than GCC's usual one. */
static void test_entries(void **state)
{
	struct builder builder = { .size = 0 };
	struct eh_frame_fde fde;
	uint64_t next, long_fde, absolute_fde;
	size_t cie, at;

	(void)state;
	/* With a personality and an LSDA, as C++ has them. */
	at = begin_entry(&builder, 0);
	put_u8(&builder, 1);
	put(&builder, "zPLR", 5);
	put(&builder, (const uint8_t[]){ 1, 0x78, 16 }, 3);
	put(&builder, (const uint8_t[]){ 7, 0x9b, 1, 2, 3, 4, 0x1b, 0x1b }, 8);
	put(&builder, (const uint8_t[]){ DW_CFA_def_cfa, 7, 8, OFFSET(16), 1 }, 5);
	end_entry(&builder, at);
	/* A 64-bit length. */
	long_fde = TABLE_ADDRESS + builder.size;
	put_u32(&builder, 0xffffffff);
	put_u64(&builder, 4 + 8 + 1 + 4);
	put_u32(&builder, (uint32_t)builder.size);
	put_u32(&builder, (uint32_t)(CODE_ADDRESS - (TABLE_ADDRESS + builder.size)));
	put_u32(&builder, CODE_BYTES);
	put(&builder, (const uint8_t[]){ 4, 0, 0, 0, 0 }, 5);
	/* Without augmentation: addresses are 8 bytes and absolute. */
	cie = begin_entry(&builder, 0);
	put(&builder, (const uint8_t[]){ 3, 0, 1, 0x78, 16 }, 5);
	end_entry(&builder, cie);
	absolute_fde = TABLE_ADDRESS + builder.size;
	at = begin_entry(&builder, (uint32_t)(builder.size + 4 - cie));
	put_u64(&builder, CODE_ADDRESS + 0x1000);
	put_u64(&builder, 8);
	put_u8(&builder, DW_CFA_nop);
	end_entry(&builder, at);
	finish(&builder);

	assert_int_equal(eh_frame_fde_at(&builder.image, TABLE_ADDRESS, &next, &fde), -ENOENT);
	assert_true(next == long_fde);
	assert_int_equal(eh_frame_fde_at(&builder.image, long_fde, &next, &fde), 0);
	assert_true(fde.start == CODE_ADDRESS && fde.end == CODE_ADDRESS + CODE_BYTES);
	assert_int_equal(fde.program_size, 0);
	assert_int_equal(fde.cie.data_alignment, -8);
	assert_int_equal(cfi_rule_at(&fde, CODE_ADDRESS).kind, CFI_RULE_REGISTER);
	assert_true(next == TABLE_ADDRESS + cie);
	assert_int_equal(eh_frame_fde_after(&builder.image, next, &fde), 0);
	assert_true(fde.address == absolute_fde);
	assert_true(fde.start == CODE_ADDRESS + 0x1000 && fde.end == fde.start + 8);
	/* No CFA at all. */
	assert_int_equal(cfi_rule_at(&fde, fde.start).kind, CFI_RULE_COMPLEX);
	assert_int_equal(eh_frame_fde_after(&builder.image, fde.next, &fde), -ENOENT);
	assert_int_equal(eh_frame_fde_at(&builder.image, TABLE_ADDRESS + builder.size, &next, &fde),
			 -EINVAL);
}

/* Every byte cut off, every byte changed: an answer or an error, nothing else. */
static void test_damaged_entries(void **state)
{
	static const uint8_t program[] = {
		ADVANCE(1), DW_CFA_def_cfa_offset, 16,   OFFSET(6),  2, DW_CFA_def_cfa_expression,
		3,          DW_OP_breg6,           0x78, DW_OP_deref
	};
	struct builder builder;
	struct eh_frame_fde fde;

	(void)state;
	fde_with(&builder, "zR", program, sizeof(program));
	for (size_t size = 0; size < builder.size; size++) {
		struct elf_image image = builder.image;
		uint8_t *exact = malloc(size ? size : 1);

		memcpy(exact, builder.bytes, size);
		image.bytes = exact;
		image.size = image.segments[0].file_size = size;
		if (eh_frame_fde_at(&image, builder.fde_address, NULL, &fde) == 0) {
			assert_true(size >= builder.size - 4);
			(void)cfi_rule_at(&fde, CODE_ADDRESS + 1);
		}
		free(exact);
	}
	for (size_t at = 0; at < builder.size; at++) {
		uint8_t saved = builder.bytes[at];

		for (unsigned int value = 0; value < 256; value++) {
			builder.bytes[at] = (uint8_t)value;
			if (eh_frame_fde_after(&builder.image, TABLE_ADDRESS, &fde) == 0)
				(void)cfi_rule_at(&fde, fde.start + 1);
		}
		builder.bytes[at] = saved;
	}
}

static struct elf_image search_table(uint8_t *bytes, size_t size)
{
	return (struct elf_image){
		.bytes = bytes,
		.size = size,
		.segments = { { .virtual_address = TABLE_ADDRESS,
				.file_size = size,
				.memory_size = size } },
		.segment_count = 1,
		.eh_frame_hdr_address = TABLE_ADDRESS,
		.eh_frame_hdr_size = size,
	};
}

static void test_search_table(void **state)
{
	/* Starts at -0x100, 0x3000, 0x3010 from the table's address. */
	uint32_t words[] = { 0x3b031b01, 0,    3,      (uint32_t)-0x100, 0x10,
			     0x3000,     0x20, 0x3010, (uint32_t)-0x30 };
	uint8_t bytes[sizeof(words)];
	struct elf_image image = search_table(bytes, sizeof(bytes));
	uint64_t fde = 0;

	(void)state;
	memcpy(bytes, words, sizeof(bytes));
	assert_true(eh_frame_hdr_is_usable(&image));
	assert_int_equal(eh_frame_hdr_find(&image, TABLE_ADDRESS - 0x101, &fde), -ENOENT);
	assert_int_equal(eh_frame_hdr_find(&image, TABLE_ADDRESS - 0x100, &fde), 0);
	assert_true(fde == TABLE_ADDRESS + 0x10);
	assert_int_equal(eh_frame_hdr_find(&image, TABLE_ADDRESS + 0x2fff, &fde), 0);
	assert_true(fde == TABLE_ADDRESS + 0x10);
	assert_int_equal(eh_frame_hdr_find(&image, TABLE_ADDRESS + 0x3000, &fde), 0);
	assert_true(fde == TABLE_ADDRESS + 0x20);
	assert_int_equal(eh_frame_hdr_find(&image, TABLE_ADDRESS + 0x3010, &fde), 0);
	assert_true(fde == TABLE_ADDRESS - 0x30);
	assert_int_equal(eh_frame_hdr_find(&image, TABLE_ADDRESS + 0x7fffffffu, &fde), 0);
	assert_int_equal(eh_frame_hdr_find(&image, TABLE_ADDRESS + 0x80000000u, &fde), -ENOENT);
	assert_int_equal(eh_frame_hdr_find(&image, ~(uint64_t)0, &fde), -ENOENT);

	/* A count that lies: only what is there is looked at. */
	memset(bytes + 8, 0xff, 4);
	assert_int_equal(eh_frame_hdr_find(&image, TABLE_ADDRESS + 0x3010, &fde), 0);
	assert_true(fde == TABLE_ADDRESS - 0x30);
	image.eh_frame_hdr_size = sizeof(bytes) - 1;
	assert_int_equal(eh_frame_hdr_find(&image, TABLE_ADDRESS + 0x3010, &fde), 0);
	assert_true(fde == TABLE_ADDRESS + 0x20);
	image.eh_frame_hdr_size = ~(uint64_t)0;
	assert_int_equal(eh_frame_hdr_find(&image, TABLE_ADDRESS + 0x3010, &fde), 0);

	for (size_t size = 0; size < 20; size++) {
		image.eh_frame_hdr_size = size;
		assert_int_equal(eh_frame_hdr_find(&image, TABLE_ADDRESS, &fde), -ENOTSUP);
	}
	image.eh_frame_hdr_size = sizeof(bytes);
	for (size_t i = 0; i < 4; i++) {
		static const uint8_t good[] = { 1, 0x1b, 0x03, 0x3b };

		bytes[i] = 0xff;
		assert_int_equal(eh_frame_hdr_find(&image, TABLE_ADDRESS, &fde), -ENOTSUP);
		assert_false(eh_frame_hdr_is_usable(&image));
		bytes[i] = good[i];
	}
	memset(bytes + 8, 0, 4);
	assert_false(eh_frame_hdr_is_usable(&image));
}

/* What libdw says of one place, in our terms; false: nothing, or not expressible. */
static bool rule_of_libdw(Dwarf_CFI *cfi, uint64_t address, struct cfi_rule *ret_rule)
{
	static const uint8_t numbers[16] = {
		REGISTER_RAX, REGISTER_RDX, REGISTER_RCX, REGISTER_RBX, REGISTER_RSI, REGISTER_RDI,
		REGISTER_RBP, REGISTER_RSP, REGISTER_R8,  REGISTER_R9,  REGISTER_R10, REGISTER_R11,
		REGISTER_R12, REGISTER_R13, REGISTER_R14, REGISTER_R15
	};
	struct cfi_rule rule = { 0 };
	Dwarf_Op memory[3], *operations;
	Dwarf_Frame *frame;
	bool is_signal;
	size_t count;

	if (dwarf_cfi_addrframe(cfi, address, &frame))
		return false;
	dwarf_frame_info(frame, NULL, NULL, &is_signal);
	if (dwarf_frame_register(frame, 16, memory, &operations, &count) == 0 && count == 0 &&
	    operations == memory) {
		/* Undefined, says libdw with no operations in the caller's memory. */
		*ret_rule = (struct cfi_rule){ .kind = CFI_RULE_END };
		free(frame);
		return true;
	}
	if (dwarf_frame_cfa(frame, &operations, &count) || is_signal || count == 0 ||
	    operations[0].atom < DW_OP_breg0 || operations[0].atom > DW_OP_bregx ||
	    (operations[0].atom > DW_OP_breg15 && operations[0].atom != DW_OP_bregx)) {
		free(frame);
		return false;
	}
	if (operations[0].atom == DW_OP_bregx) {
		if (operations[0].number > 15) {
			free(frame);
			return false;
		}
		rule.cfa_register = numbers[operations[0].number] & 0xf;
		rule.cfa_offset = (int32_t)operations[0].number2;
	} else {
		rule.cfa_register = numbers[operations[0].atom - DW_OP_breg0] & 0xf;
		rule.cfa_offset = (int32_t)operations[0].number;
	}
	if (count == 1) {
		rule.kind = CFI_RULE_REGISTER;
	} else if (count == 2 && operations[1].atom == DW_OP_deref) {
		rule.kind = CFI_RULE_DEREFERENCE;
	} else if (count == 2 && operations[1].atom == DW_OP_plus_uconst) {
		rule.kind = CFI_RULE_REGISTER;
		rule.cfa_offset += (int32_t)operations[1].number;
	} else if (count == 3 && operations[1].atom == DW_OP_deref &&
		   operations[2].atom == DW_OP_plus_uconst && operations[2].number == 8) {
		rule.kind = CFI_RULE_DEREFERENCE_8;
	} else if (count > 4 && operations[1].atom == DW_OP_breg16) {
		rule.kind = CFI_RULE_PLT;
		rule.cfa_offset = operations[4].atom - DW_OP_lit0;
	} else {
		free(frame);
		return false;
	}
	if (dwarf_frame_register(frame, 6, memory, &operations, &count) == 0 && count > 0) {
		/* An expression begins with the CFA on the stack, which this one does not use. */
		if (count == 2 && operations[1].atom == DW_OP_breg6) {
			rule.rbp = CFI_RBP_AT_RBP;
			rule.rbp_offset = (int16_t)operations[1].number;
		} else if (operations[0].atom == DW_OP_call_frame_cfa) {
			rule.rbp = CFI_RBP_AT_CFA;
			rule.rbp_offset = count > 1 ? (int16_t)operations[1].number : 0;
		}
	}
	free(frame);
	*ret_rule = rule;
	return true;
}

static void compare_file(const char *path, unsigned int addresses)
{
	unsigned int equal = 0, inexpressible = 0, no_answer = 0,
		     kinds[CFI_RULE_COMPLEX + 1] = { 0 };
	uint64_t low = ~(uint64_t)0, high = 0;
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	struct elf_image *image;
	Dwarf_CFI *cfi;
	Elf *elf;

	elf_version(EV_CURRENT);
	assert_true(fd >= 0);
	assert_int_equal(elf_image_open(fd, &image), 0);
	assert_true(eh_frame_hdr_is_usable(image));
	elf = elf_begin(fd, ELF_C_READ_MMAP, NULL);
	cfi = dwarf_getcfi_elf(elf);
	assert_non_null(cfi);
	for (size_t i = 0; i < image->segment_count; i++) {
		const struct elf_segment *segment = &image->segments[i];

		if (!(segment->flags & PF_X))
			continue;
		if (segment->virtual_address < low)
			low = segment->virtual_address;
		if (segment->virtual_address + segment->file_size > high)
			high = segment->virtual_address + segment->file_size;
	}
	srand(3);
	for (unsigned int i = 0; i < addresses; i++) {
		uint64_t address =
			low + (((uint64_t)rand() << 16) ^ (uint64_t)rand()) % (high - low);
		struct cfi_rule ours = { 0 }, theirs = { 0 };
		struct eh_frame_fde fde;
		uint64_t fde_address;

		if (eh_frame_hdr_find(image, address, &fde_address) == 0 &&
		    eh_frame_fde_at(image, fde_address, NULL, &fde) == 0 && address >= fde.start &&
		    address < fde.end)
			ours = cfi_rule_at(&fde, address);
		kinds[ours.kind]++;
		if (ours.kind == CFI_RULE_COMPLEX || ours.kind == CFI_RULE_SIGNAL) {
			inexpressible++;
			continue;
		}
		if (!rule_of_libdw(cfi, address, &theirs)) {
			no_answer++;
			assert_int_equal(ours.kind, CFI_RULE_NONE);
			continue;
		}
		if (memcmp(&ours, &theirs, sizeof(ours)) != 0)
			print_message("%s 0x%" PRIx64 ": ours %u %u %d %u %d, libdw %u %u %d %u "
				      "%d\n",
				      path, address, ours.kind, ours.cfa_register, ours.cfa_offset,
				      ours.rbp, ours.rbp_offset, theirs.kind, theirs.cfa_register,
				      theirs.cfa_offset, theirs.rbp, theirs.rbp_offset);
		assert_memory_equal(&ours, &theirs, sizeof(ours));
		equal++;
	}
	print_message(
		"%s: %u addresses, %u equal to libdw's, %u without CFI in both, %u complex or "
		"signal frames, %u PLT, %u dereferences\n",
		path, addresses, equal, no_answer, inexpressible, kinds[CFI_RULE_PLT],
		kinds[CFI_RULE_DEREFERENCE] + kinds[CFI_RULE_DEREFERENCE_8]);
	assert_true(inexpressible <= addresses / 100);
	/* A third of OpenSSL's text is tables and assembly without. */
	assert_true(equal >= addresses / 2);
	dwarf_cfi_end(cfi);
	elf_end(elf);
	elf_image_close(image);
	close(fd);
}

static int compare_loaded(struct dl_phdr_info *info, size_t size, void *context)
{
	unsigned int *files = context;

	(void)size;
	if (info->dlpi_name[0] == '/') {
		compare_file(info->dlpi_name, 20000);
		++*files;
	}
	return 0;
}

static void test_real_files_against_libdw(void **state)
{
	/* Realigned stacks and hand-written assembly. */
	static const char *const patterns[] = {
		"/usr/lib/*/libcrypto.so.*",
		"/usr/lib/python3/dist-packages/numpy/core/_multiarray_umath*.so",
	};
	struct live_interpreters found = live_interpreters_find();
	unsigned int files = 0;

	(void)state;
	for (size_t i = 0; i < sizeof(patterns) / sizeof(patterns[0]); i++) {
		glob_t matches;

		if (glob(patterns[i], 0, NULL, &matches))
			continue;
		for (size_t k = 0; k < matches.gl_pathc; k++)
			compare_file(matches.gl_pathv[k], 100000);
		globfree(&matches);
	}
	compare_file("/proc/self/exe", 20000);
	dl_iterate_phdr(compare_loaded, &files);
	assert_true(files > 3);
	for (size_t i = 0; i < found.count; i++) {
		/* A small executable is only the front of a libpython. */
		struct stat status;

		if (stat(found.paths[i], &status) == 0 && status.st_size > 1 << 20)
			compare_file(found.paths[i], 100000);
	}
	live_interpreters_free(&found);
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
		cmocka_unit_test(test_entries),
		cmocka_unit_test(test_damaged_entries),
		cmocka_unit_test(test_search_table),
		cmocka_unit_test(test_real_files_against_libdw),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

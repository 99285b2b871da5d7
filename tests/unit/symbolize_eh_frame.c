/* SPDX-License-Identifier: Apache-2.0 */
/* Entries of .eh_frame and its search table: forms that compilers write, and damage. */
#include "symbolize/eh_frame_hdr.h"
#include "tests/unit/cfi_builder.h"

#include <errno.h>
#include <stdlib.h>

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

/* A CIE and an FDE, of so many bytes behind their identification. */
static int read_sizes(uint32_t cie_bytes, uint32_t fde_bytes, struct eh_frame_fde *ret_fde)
{
	static const uint8_t cie[] = { 1, 'z', 'R', 0, 1, 0x78, 16, 1, 0x1b };
	size_t size = 8 + cie_bytes + 8 + fde_bytes;
	uint8_t *bytes = calloc(1, size), *fde = bytes + 8 + cie_bytes;
	uint32_t address = (uint32_t)(CODE_ADDRESS - (TABLE_ADDRESS + 8 + cie_bytes + 8));
	struct elf_image image = table_image(bytes, size);
	int error;

	assert_non_null(bytes);
	image.eh_frame_address = TABLE_ADDRESS;
	image.eh_frame_size = size;
	memcpy(bytes, &(uint32_t){ 4 + cie_bytes }, 4);
	memcpy(bytes + 8, cie, sizeof(cie));
	memcpy(fde, &(uint32_t){ 4 + fde_bytes }, 4);
	memcpy(fde + 4, &(uint32_t){ 8 + cie_bytes + 4 }, 4);
	memcpy(fde + 8, &address, 4);
	memcpy(fde + 12, &(uint32_t){ CODE_BYTES }, 4);
	error = eh_frame_fde_at(&image, TABLE_ADDRESS + 8 + cie_bytes, NULL, ret_fde);
	free(bytes);
	return error;
}

static void test_long_entries(void **state)
{
	struct eh_frame_fde fde;

	(void)state;
	assert_int_equal(read_sizes(4096, 1 << 20, &fde), 0);
	assert_int_equal(fde.start, CODE_ADDRESS);
	assert_int_equal(fde.cie.program_size, 4096 - 9);
	assert_int_equal(fde.program_size, (1 << 20) - 9);
	assert_int_equal(read_sizes(4097, 100, &fde), -EINVAL);
	assert_int_equal(read_sizes(100, (1 << 20) + 1, &fde), -EINVAL);
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

static struct elf_image search_table(const uint8_t *bytes, size_t size)
{
	struct elf_image image = table_image(bytes, size);

	image.eh_frame_hdr_address = TABLE_ADDRESS;
	image.eh_frame_hdr_size = size;
	return image;
}

/* Looks an address up as if the file had just been opened. */
static int find_fde(const struct elf_image *image, uint64_t address, uint64_t *ret_fde)
{
	struct eh_frame_hdr table;
	int error = eh_frame_hdr_open(image, &table);

	return error ? error : eh_frame_hdr_find(&table, address, ret_fde);
}

static void test_search_table(void **state)
{
	/* Starts at -0x100, 0x3000, 0x3010 from the table's address. */
	uint32_t words[] = { 0x3b031b01, 0,    3,      (uint32_t)-0x100, 0x10,
			     0x3000,     0x20, 0x3010, (uint32_t)-0x30 };
	uint8_t bytes[sizeof(words)];
	struct elf_image image = search_table(bytes, sizeof(bytes));
	struct eh_frame_hdr table;
	uint64_t fde = 0;

	(void)state;
	memcpy(bytes, words, sizeof(bytes));
	assert_int_equal(eh_frame_hdr_open(&image, &table), 0);
	for (unsigned int with_blocks = 0; with_blocks < 2; with_blocks++) {
		assert_int_equal(eh_frame_hdr_find(&table, TABLE_ADDRESS - 0x101, &fde), -ENOENT);
		assert_int_equal(eh_frame_hdr_find(&table, TABLE_ADDRESS - 0x100, &fde), 0);
		assert_true(fde == TABLE_ADDRESS + 0x10);
		assert_int_equal(eh_frame_hdr_find(&table, TABLE_ADDRESS + 0x2fff, &fde), 0);
		assert_true(fde == TABLE_ADDRESS + 0x10);
		assert_int_equal(eh_frame_hdr_find(&table, TABLE_ADDRESS + 0x3000, &fde), 0);
		assert_true(fde == TABLE_ADDRESS + 0x20);
		assert_int_equal(eh_frame_hdr_find(&table, TABLE_ADDRESS + 0x3010, &fde), 0);
		assert_true(fde == TABLE_ADDRESS - 0x30);
		assert_int_equal(eh_frame_hdr_find(&table, TABLE_ADDRESS + 0x7fffffffu, &fde), 0);
		assert_true(fde == TABLE_ADDRESS - 0x30);
		assert_int_equal(eh_frame_hdr_find(&table, TABLE_ADDRESS + 0x80000000u, &fde),
				 -ENOENT);
		assert_int_equal(eh_frame_hdr_find(&table, ~(uint64_t)0, &fde), -ENOENT);
		if (!with_blocks)
			eh_frame_hdr_note_blocks(&table, 4);
		assert_int_equal(table.block_count, with_blocks ? 5 : 0);
		eh_frame_hdr_note_blocks(&table, 5);
		assert_int_equal(table.block_count, 5);
	}
	eh_frame_hdr_deinit(&table);

	/* A count that lies: only what is there is looked at. */
	memset(bytes + 8, 0xff, 4);
	assert_int_equal(find_fde(&image, TABLE_ADDRESS + 0x3010, &fde), 0);
	assert_true(fde == TABLE_ADDRESS - 0x30);
	image.eh_frame_hdr_size = sizeof(bytes) - 1;
	assert_int_equal(find_fde(&image, TABLE_ADDRESS + 0x3010, &fde), 0);
	assert_true(fde == TABLE_ADDRESS + 0x20);
	image.eh_frame_hdr_size = ~(uint64_t)0;
	assert_int_equal(find_fde(&image, TABLE_ADDRESS + 0x3010, &fde), 0);

	for (size_t size = 0; size < 20; size++) {
		image.eh_frame_hdr_size = size;
		assert_int_equal(find_fde(&image, TABLE_ADDRESS, &fde), -ENOTSUP);
	}
	image.eh_frame_hdr_size = sizeof(bytes);
	for (size_t i = 0; i < 4; i++) {
		static const uint8_t good[] = { 1, 0x1b, 0x03, 0x3b };

		bytes[i] = 0xff;
		assert_int_equal(find_fde(&image, TABLE_ADDRESS, &fde), -ENOTSUP);
		bytes[i] = good[i];
	}
	memset(bytes + 8, 0, 4);
	assert_int_equal(eh_frame_hdr_open(&image, &table), -ENOTSUP);
}

#define ENTRIES_MAX 400

/* Tables of all sizes and densities: with blocks noted down the answers are the same. */
static void test_search_table_blocks(void **state)
{
	static uint32_t words[3 + 2 * ENTRIES_MAX];
	unsigned int noted = 0;

	(void)state;
	srand(5);
	for (unsigned int round = 0; round < 400; round++) {
		uint32_t count = 1 + (uint32_t)rand() % ENTRIES_MAX;
		uint32_t spread = 1u << rand() % 16;
		size_t size = (3 + 2 * (size_t)count) * sizeof(words[0]);
		struct elf_image image = search_table((uint8_t *)words, size);
		struct eh_frame_hdr bare, table;
		bool is_sorted = rand() % 8 != 0;
		int32_t start = -0x4000;

		words[0] = 0x3b031b01;
		words[2] = count;
		for (uint32_t i = 0; i < count; i++) {
			words[3 + 2 * i] = (uint32_t)start;
			words[4 + 2 * i] = i;
			/* Two may start at one place. */
			start += (int32_t)((uint32_t)rand() % spread);
		}
		if (!is_sorted && count > 2)
			words[3 + 2 * ((uint32_t)rand() % count)] = (uint32_t)rand();
		assert_int_equal(eh_frame_hdr_open(&image, &bare), 0);
		table = bare;
		eh_frame_hdr_note_blocks(&table, 1u << 20);
		noted += table.block_count > 0;
		for (unsigned int i = 0; i < 200; i++) {
			uint64_t address = TABLE_ADDRESS - 0x4000u - 10 +
					   (uint64_t)rand() % ((uint64_t)(start + 0x4000) + 5000);
			uint64_t expected = 0, found = 0;
			int error = eh_frame_hdr_find(&bare, address, &expected);

			assert_int_equal(eh_frame_hdr_find(&table, address, &found), error);
			/* Of entries with one start any will do. */
			if (!error && table.block_count)
				assert_int_equal(words[3 + 2 * (found - TABLE_ADDRESS)],
						 words[3 + 2 * (expected - TABLE_ADDRESS)]);
		}
		eh_frame_hdr_deinit(&table);
	}
	assert_in_range(noted, 300, 399);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_entries),
		cmocka_unit_test(test_long_entries),
		cmocka_unit_test(test_damaged_entries),
		cmocka_unit_test(test_search_table),
		cmocka_unit_test(test_search_table_blocks),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

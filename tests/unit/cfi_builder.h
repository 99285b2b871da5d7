/* SPDX-License-Identifier: Apache-2.0 */
/* Call frame information put together by hand. Only for tests. */
#ifndef PIEPROFD_TESTS_UNIT_CFI_BUILDER_H
#define PIEPROFD_TESTS_UNIT_CFI_BUILDER_H

#include "symbolize/cfi.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>
#include <dwarf.h>

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

__attribute__((unused)) static void put(struct builder *builder, const void *bytes, size_t size)
{
	assert_true(size <= sizeof(builder->bytes) - builder->size);
	memcpy(builder->bytes + builder->size, bytes, size);
	builder->size += size;
}

__attribute__((unused)) static void put_u8(struct builder *builder, uint8_t value)
{
	put(builder, &value, 1);
}

__attribute__((unused)) static void put_u32(struct builder *builder, uint32_t value)
{
	put(builder, &value, 4);
}

__attribute__((unused)) static void put_u64(struct builder *builder, uint64_t value)
{
	put(builder, &value, 8);
}

/* Begins an entry; end_entry() fills in its length. */
__attribute__((unused)) static size_t begin_entry(struct builder *builder, uint32_t id)
{
	size_t at = builder->size;

	put_u32(builder, 0);
	put_u32(builder, id);
	return at;
}

__attribute__((unused)) static void end_entry(struct builder *builder, size_t at)
{
	uint32_t length = (uint32_t)(builder->size - at - 4);

	memcpy(builder->bytes + at, &length, 4);
}

/* A file of nothing but a table, mapped at TABLE_ADDRESS. */
__attribute__((unused)) static struct elf_image table_image(const uint8_t *bytes, size_t size)
{
	return (struct elf_image){
		.bytes = bytes,
		.size = size,
		.segments = { { .virtual_address = TABLE_ADDRESS,
				.file_size = size,
				.memory_size = size } },
		.segment_count = 1,
	};
}

__attribute__((unused)) static struct elf_image *finish(struct builder *builder)
{
	put_u32(builder, 0);
	builder->image = table_image(builder->bytes, builder->size);
	builder->image.eh_frame_address = TABLE_ADDRESS;
	builder->image.eh_frame_size = builder->size;
	return &builder->image;
}

/* GCC's CIE: CFA = rsp + 8, return address at CFA - 8. */
__attribute__((unused)) static void put_cie(struct builder *builder, const char *augmentation)
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

__attribute__((unused)) static void put_fde(struct builder *builder, const uint8_t *program,
					    size_t size)
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

__attribute__((unused)) static struct eh_frame_fde fde_with(struct builder *builder,
							    const char *augmentation,
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

#define ADVANCE(bytes)  (DW_CFA_advance_loc | (bytes))
#define OFFSET(number)  (DW_CFA_offset | (number))
#define RESTORE(number) (DW_CFA_restore | (number))

#endif

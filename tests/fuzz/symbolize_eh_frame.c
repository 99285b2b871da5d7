/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Unwind tables: .eh_frame_hdr and .eh_frame, each entry's program run at many
 * addresses.
 *
 *   u16 size of .eh_frame_hdr, .eh_frame_hdr, .eh_frame up to the end
 */
#include "symbolize/cfi.h"
#include "symbolize/eh_frame_hdr.h"
#include "symbolize/epilogue.h"
#include "tests/fuzz/fuzz.h"

#define TABLE_ADDRESS 0x1000
#define ENTRIES_MAX   64

static void run_program(const struct eh_frame_fde *fde)
{
	uint64_t step = (fde->end - fde->start) / 16 + 1;

	for (uint64_t at = fde->start; at < fde->end; at += step) {
		struct cfi_row row = cfi_row_at(fde, at);

		fuzz_must(row.start <= at && at < row.end);
		fuzz_must(row.start >= fde->start && row.end <= fde->end);
		fuzz_must(row.rule.kind <= CFI_RULE_COMPLEX);
		(void)cfi_rule_is_mid_function(row.rule);
		if (at > UINT64_MAX - step)
			break;
	}
	(void)cfi_rule_at(fde, fde->end - 1);
	(void)cfi_is_safe_for_libunwind(fde);
}

static void walk_entries(const struct elf_image *image)
{
	uint64_t address = image->eh_frame_address;
	struct eh_frame_fde fde;

	for (unsigned i = 0; i < ENTRIES_MAX; i++) {
		uint64_t next = 0;

		if (eh_frame_fde_at(image, address, &next, &fde) == 0) {
			fuzz_must(fde.start < fde.end);
			run_program(&fde);
		}
		if (next <= address)
			break;
		address = next;
	}
	if (eh_frame_fde_after(image, image->eh_frame_address + 1, &fde) == 0)
		run_program(&fde);
}

static void search_table(const struct elf_image *image)
{
	struct eh_frame_hdr table;
	struct eh_frame_fde fde;
	uint64_t address;

	if (eh_frame_hdr_open(image, &table) != 0)
		return;
	for (unsigned pass = 0; pass < 2; pass++) {
		for (uint64_t at = 0; at < 0x8000; at += 0x123)
			if (eh_frame_hdr_find(&table, at, &address) == 0 &&
			    eh_frame_fde_at(image, address, NULL, &fde) == 0)
				(void)cfi_rule_at(&fde, fde.start);
		(void)!eh_frame_hdr_find(&table, UINT64_MAX, &address);
		eh_frame_hdr_note_blocks(&table, 1024);
	}
	eh_frame_hdr_deinit(&table);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct fuzz_input input = { data, size };
	uint64_t hdr_size = fuzz_number(&input, 2);
	uint8_t *bytes = fuzz_copy(&input);
	struct elf_image image = {
		.bytes = bytes,
		.size = input.left,
		.segments = { { .virtual_address = TABLE_ADDRESS,
				.file_size = input.left,
				.memory_size = input.left } },
		.segment_count = 1,
	};
	struct cfi_rule rule;

	if (hdr_size > input.left)
		hdr_size = input.left;
	if (hdr_size >= 4) { /* elf_image.c's rule */
		image.eh_frame_hdr_address = TABLE_ADDRESS;
		image.eh_frame_hdr_size = hdr_size;
	}
	if (input.left > hdr_size) {
		image.eh_frame_address = TABLE_ADDRESS + hdr_size;
		image.eh_frame_size = input.left - hdr_size;
	}
	walk_entries(&image);
	search_table(&image);
	(void)!epilogue_rule(bytes, input.left < EPILOGUE_BYTES ? input.left : EPILOGUE_BYTES,
			     &rule);
	free(bytes);
	return 0;
}

/* SPDX-License-Identifier: Apache-2.0 */
/*
 * An ELF file: headers, sections, notes, symbol tables, links to debug files,
 * mini-symbols, slots of chosen functions. Then the same as a file that changes between opening and
 * use: its last bytes also say what is written where, and where it is cut off.
 */
#include "symbolize/function_group.h"
#include "symbolize/indirect_function.h"
#include "symbolize/mini_image.h"
#include "symbolize/symbol.h"
#include "tests/fuzz/changing_image.h"

#include <elf.h>

#define SLOTS 3

static void read_sections(const struct elf_image *image)
{
	struct elf_section section;

	for (size_t i = 0; i < image->section_count && i < 256; i++) {
		if (elf_image_section(image, i, &section) != 0)
			continue;
		fuzz_read_string(section.name);
		fuzz_must(section.type == SHT_NOBITS ||
			  (section.file_offset <= image->size &&
			   section.size <= image->size - section.file_offset));
	}
	for (size_t i = 0; i < image->segment_count; i++) {
		const struct elf_segment *segment = &image->segments[i];
		size_t available;
		const uint8_t *bytes = elf_image_at(image, segment->virtual_address, &available);

		fuzz_must(!bytes || (bytes >= image->bytes &&
				     available <= (size_t)(image->bytes + image->size - bytes)));
	}
	fuzz_must(image->build_id_size <= sizeof(image->build_id));
}

static void read_names(const struct module *module)
{
	static const char *const names[] = { "shown", "hidden", "", "_ZN3foo3barEi", "sho*" };
	struct symbolizer *symbolizer = symbolizer_create();
	struct address_ranges code;
	uint64_t slots[SLOTS];
	remote_addr start;
	uint64_t size;

	fuzz_must(symbolizer);
	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
		if (symbolizer_find(symbolizer, module, names[i], &start, &size) == 0)
			fuzz_read_string(symbolizer_function(symbolizer, module, start, &start));
	for (remote_addr at = 0x330; at < 0x3c0; at += 9)
		fuzz_read_string(symbolizer_function(symbolizer, module, at, NULL));
	symbolizer_destroy(symbolizer);
	if (function_group_find(module->image, names, sizeof(names) / sizeof(names[0]), &code) == 0)
		fuzz_must(code.count && code.count <= ADDRESS_RANGES_MAX);
	fuzz_must(indirect_function_slots(module->image, names, sizeof(names) / sizeof(names[0]),
					  slots, SLOTS) <= SLOTS);
}

/* Takes over the image. */
static void read_image(struct elf_image *image)
{
	struct module module = { .path = "/nowhere/fuzz", .name = "fuzz", .image = image };
	struct elf_image *mini;

	module.build_id_size = image->build_id_size;
	memcpy(module.build_id, image->build_id, sizeof(module.build_id));
	read_sections(image);
	read_names(&module);
	if (mini_image_open(image, &mini) == 0) {
		read_sections(mini);
		elf_image_close(mini);
	}
	elf_image_close(image);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	fuzz_changing_image(data, size, read_image);
	return 0;
}

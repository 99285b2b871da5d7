/* SPDX-License-Identifier: Apache-2.0 */
/*
 * An ELF file with DWARF: lines, inlined functions, layouts of structures. What
 * reads the DWARF is libdw, which no sanitizer watches here: what is found is
 * what we make of its answers, and where it crashes or hangs. Then the same as
 * a file that changes between opening and use.
 */
#include "symbolize/elf_image.h"
#include "symbolize/line_info.h"
#include "symbolize/struct_layout.h"
#include "tests/fuzz/fuzz.h"
#include "tests/fuzz/read_lines.h"

static void read_layouts(const struct module *module)
{
	static const char *const types[] = { "state", "state_t", "frame", "missing" };
	static const char *const members[] = { "next", "inner.value", "hidden", "list.next",
					       "inner" };
	struct symbolizer *symbolizer = symbolizer_create();
	struct struct_layout *layout = symbolizer ? struct_layout_create(symbolizer, module) : NULL;
	struct debug_info info;
	remote_addr address;
	uint32_t number;
	uint64_t size;

	fuzz_must(layout);
	info = struct_layout_debug_info(layout);
	for (size_t i = 0; i < sizeof(types) / sizeof(types[0]); i++) {
		(void)info.type_size(info.context, types[i], &number);
		for (size_t k = 0; k < sizeof(members) / sizeof(members[0]); k++)
			(void)info.member_offset(info.context, types[i], members[k], &number);
	}
	(void)info.section(info.context, ".text", &address, &size);
	struct_layout_destroy(layout);
	symbolizer_destroy(symbolizer);
}

/* Takes over the image. */
static void read_image(struct elf_image *image)
{
	struct module module = { .path = "/nowhere/fuzz", .name = "fuzz", .image = image };

	/* Where the seeds' code is. */
	read_lines(&module, NULL, 0x330, 0x3c0);
	read_layouts(&module);
	elf_image_close(image);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	const struct fuzz_input input = { data, size };
	uint8_t *bytes = fuzz_copy(&input);
	struct elf_image *image;
	int fd;

	if (elf_image_open_memory(bytes, size, &image) != 0) {
		free(bytes);
		return 0;
	}
	read_image(image);
	fd = fuzz_file(data, size);
	if (elf_image_open(fd, &image) == 0) {
		fuzz_file_change(fd, data, size);
		read_image(image);
	}
	close(fd);
	return 0;
}

/* SPDX-License-Identifier: Apache-2.0 */
/*
 * An ELF file with DWARF: lines, inlined functions, layouts of structures. What
 * reads the DWARF is libdw, which no sanitizer watches here: what is found is
 * what we make of its answers, and where it crashes or hangs. Then the same as
 * a file that changes between opening and use.
 */
#include "tests/fuzz/changing_image.h"
#include "tests/fuzz/read_dwarf.h"

/* Takes over the image. */
static void read_image(struct elf_image *image)
{
	struct module module = { .path = "/nowhere/fuzz", .name = "fuzz", .image = image };

	/* Where the seeds' code is. */
	read_lines(&module, NULL, 0x330, 0x3c0);
	read_layouts(&module, NULL);
	elf_image_close(image);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	fuzz_changing_image(data, size, read_image);
	return 0;
}

/* SPDX-License-Identifier: Apache-2.0 */
/* The input as an ELF file: first as it is, then as a file that changes between opening and use. */
#ifndef PIEPROFD_TESTS_FUZZ_CHANGING_IMAGE_H
#define PIEPROFD_TESTS_FUZZ_CHANGING_IMAGE_H

#include "symbolize/elf_image.h"
#include "tests/fuzz/fuzz.h"

/* read_image() takes over the image. */
static void fuzz_changing_image(const uint8_t *data, size_t size,
				void (*read_image)(struct elf_image *image))
{
	const struct fuzz_input input = { data, size };
	uint8_t *bytes = fuzz_copy(&input);
	struct elf_image *image;
	int fd;

	if (elf_image_open_memory(bytes, size, &image) != 0) {
		free(bytes);
		return;
	}
	read_image(image);
	fd = fuzz_file(data, size);
	if (elf_image_open(fd, &image) == 0) {
		fuzz_file_change(fd, data, size);
		read_image(image);
	}
	close(fd);
}

#endif

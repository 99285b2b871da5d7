/* SPDX-License-Identifier: Apache-2.0 */
/* Modules without a process, of any ELF image. */
#ifndef PIEPROFD_TESTS_UNIT_IMAGE_MODULE_H
#define PIEPROFD_TESTS_UNIT_IMAGE_MODULE_H

#include "symbolize/elf_image.h"
#include "symbolize/module.h"

#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

/* Bias 0, index as wanted. */
static inline void make_module(struct module *ret_module, struct elf_image *image, uint32_t index)
{
	*ret_module = (struct module){ .image = image, .path = "", .name = "", .index = index };
	memcpy(ret_module->build_id, image->build_id, image->build_id_size);
	ret_module->build_id_size = image->build_id_size;
}

static inline struct elf_image *open_image(const char *path)
{
	struct elf_image *image;
	int fd = open(path, O_RDONLY | O_CLOEXEC);

	assert_true(fd >= 0);
	assert_int_equal(elf_image_open(fd, &image), 0);
	close(fd);
	return image;
}

#endif

/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Mini-symbols: the ELF file that some distributions put, packed with xz, into
 * the section .gnu_debugdata of a stripped one. It holds a .symtab of the
 * functions that .dynsym lacks, and no bytes of code.
 *
 * Hostile input: memory and output of the decoder are limited.
 */
#ifndef PIEPROFD_SYMBOLIZE_MINI_IMAGE_H
#define PIEPROFD_SYMBOLIZE_MINI_IMAGE_H

#include "symbolize/elf_image.h"

#define MINI_IMAGE_BYTES_MAX (128u << 20) /* unpacked; LLVM's is 10 MB */

/*
 * Unpacks the mini-symbols of image; the caller closes what it gets. -ENOENT:
 * it has none (or the program is built without liblzma), -ENOEXEC: they are
 * broken or too large, -ENOMEM.
 */
__attribute__((warn_unused_result)) int mini_image_open(const struct elf_image *image,
							struct elf_image **ret_image);

#endif

/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Functions of which a library has several, and chooses one when it is loaded (STT_GNU_IFUNC):
 * memcpy, for one. Which one it chose stands in the slots through which the library itself calls
 * it; those that were not chosen have no name in a stripped file.
 *
 *   .dynsym: memcpy --> its chooser's address <-- .rela.plt: R_X86_64_IRELATIVE --> slot
 */
#ifndef PIEPROFD_SYMBOLIZE_INDIRECT_FUNCTION_H
#define PIEPROFD_SYMBOLIZE_INDIRECT_FUNCTION_H

#include "symbolize/elf_image.h"

/*
 * ELF virtual addresses of the slots of functions with one of the names, at most maximum; how
 * many. Each holds the chosen one's address in the process.
 */
size_t indirect_function_slots(const struct elf_image *image, const char *const *names,
			       size_t name_count, uint64_t *ret_slots, size_t maximum);

#endif

/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A copy of what libdw reads of an ELF file. libdw counts, makes room, and
 * reads again; where somebody changes the file in between, an assertion ends
 * the process, or worse. So it is shown bytes that stay, unless root alone may
 * change the file. libelf may also patch them, as it does with the headers of
 * sections that it decompresses.
 *
 * The copy is as large as the file, but only headers, notes and debugging
 * sections are in it: the rest is zero, and takes no memory.
 */
#ifndef PIEPROFD_SYMBOLIZE_DWARF_COPY_H
#define PIEPROFD_SYMBOLIZE_DWARF_COPY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/stat.h>

/* Of all copies that this process has at a time, with what libelf unpacks of them. */
#define DWARF_COPIES_MAX_BYTES (512ull << 20)

struct dwarf_copy {
	char *bytes; /* NULL: none */
	size_t size;
	size_t taken; /* bytes that count, unpacked ones too */
};

/* Whether somebody other than root may change a file. */
bool dwarf_copy_is_needed(const struct stat *status);

/*
 * bytes may change meanwhile. 0; -ENOEXEC, no 64-bit little-endian ELF file
 * with sections; -ENOMEM; -E2BIG: copies, and what compressed sections claim to
 * have inside, would be more than DWARF_COPIES_MAX_BYTES.
 */
__attribute__((warn_unused_result)) int dwarf_copy_make(const uint8_t *bytes, size_t size,
							struct dwarf_copy *ret_copy);
/* Nothing happens when there is none. */
void dwarf_copy_free(struct dwarf_copy *copy);

#endif

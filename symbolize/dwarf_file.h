/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The DWARF of one module, opened with libdw: from the module's own file, its
 * separate debug file, and the file of shared entries that dwz split off from
 * either. Only files that the build-id confirms are opened, and libdw is kept
 * from opening any by itself, since it follows whatever path a file names.
 */
#ifndef PIEPROFD_SYMBOLIZE_DWARF_FILE_H
#define PIEPROFD_SYMBOLIZE_DWARF_FILE_H

#include "common/foreign_mapping.h"
#include "symbolize/debug_file.h"
#include "symbolize/dwarf_copy.h"

#include <elfutils/libdw.h>

/* Of all files open at a time; libdw keeps 1 KiB of each that is passed on the way to an entry. */
#define DWARF_UNITS_MAX (1u << 17)

struct dwarf_file;

/* What a file takes of what there may be. */
struct dwarf_units {
	size_t count;
	uint64_t abbreviation_bytes;
};

/* 0, -E2BIG, or -ENODATA when a unit's abbreviations are broken. Given back either way. */
__attribute__((warn_unused_result)) int dwarf_units_take(Dwarf *dwarf,
							 struct dwarf_units *ret_units);
void dwarf_units_give_back(struct dwarf_units *units);

/*
 * -ENODATA: no DWARF, or a part of it is missing or broken; -E2BIG: it is more
 * than is held, see dwarf_copy_make(); -ENOMEM. search
 * may be NULL, see debug_file_find(). Borrows the module's image.
 */
__attribute__((warn_unused_result)) int dwarf_file_open(const struct module *module,
							const struct debug_search *search,
							struct dwarf_file **ret_file);
void dwarf_file_close(struct dwarf_file *file);

/* Addresses in it are ELF virtual addresses of the module. */
Dwarf *dwarf_file_dwarf(const struct dwarf_file *file);

/* The file of shared entries that dwz made, as libdw reads it. */
struct dwarf_shared {
	struct foreign_mapping mapping;
	struct dwarf_copy copy;
	Elf *elf;
	Dwarf *dwarf; /* NULL: none */
	struct dwarf_units units;
};

/* fd (not closed here) is of a regular file. 0, -ENOENT when its build-id is another, -E2BIG as
 * above, or -ENODATA, also when it refers to another such file itself. */
__attribute__((warn_unused_result)) int dwarf_shared_open(int fd, const void *build_id,
							  size_t build_id_size,
							  struct dwarf_shared *ret_shared);
/* Nothing happens when there is none. What refers to it is closed before. */
void dwarf_shared_close(struct dwarf_shared *shared);

#endif

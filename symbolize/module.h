/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Modules: the ELF files mapped executable into the target.
 *
 * A module is created when a mapping list first shows it and lives until the
 * table is destroyed, even after dlclose, so that samples may keep pointers.
 * When its addresses are reused by another file, the new file becomes a new
 * module and the old one is no longer found by address. A file that comes back
 * at the same place is the same module again, so that a loop of dlopen and
 * dlclose does not grow the table; at another place it is a new module that
 * shares the image. Only files with an executable mapping count.
 *
 * The file opened need not be the one mapped (replaced on disk, another mount
 * namespace): its build-id, or without one its ELF header, is compared with
 * the target's memory, and a module whose file differs has no image. Modules
 * that stay are compared again with every update: a file rewritten in place
 * and loaded again has the same inode, and often gets the same addresses.
 */
#ifndef PIEPROFD_SYMBOLIZE_MODULE_H
#define PIEPROFD_SYMBOLIZE_MODULE_H

#include "common/mapping.h"
#include "common/memory.h"

#define BUILD_ID_MAX 20
#define MODULES_MAX  16384 /* ever seen; further files are counted and left out */
/* Of one target, so that it leaves room for others (FOREIGN_MAPPINGS_MAX). */
#define MODULE_IMAGES_MAX 4096

struct elf_image;

struct module {
	struct address_range range; /* first to last mapping of the file, holes included */
	uint64_t bias;              /* address in the target = ELF virtual address + bias */
	const char *path;           /* as the target sees it, "[vdso]" for the vdso */
	const char *name;           /* last component of path */
	uint8_t build_id[BUILD_ID_MAX];
	size_t build_id_size;    /* 0: none */
	struct elf_image *image; /* NULL: see image_error */
	int image_error;         /* 0, or why there is none: a negative errno, see below */
	uint32_t index;          /* position in the table, stable */
};

/*
 * In a few words why a module has no image, for a message; NULL when it has
 * one. image_error: -ESTALE, the file found is not the one that is mapped;
 * -ENOEXEC, it is no ELF file of this machine, or a device; else what opening
 * it said.
 */
const char *module_image_problem(const struct module *module);

struct module_table;

/*
 * opener and reader are borrowed for the table's life. reader is used to copy
 * the vdso, which has no file, and to check files; it may be NULL (no vdso, no
 * checks). NULL when out of memory.
 */
struct module_table *module_table_create(const struct mapping_opener *opener,
					 const struct memory_reader *reader);
void module_table_destroy(struct module_table *table);

/*
 * Takes over a new state of the target's map. Opens the files that are new
 * (this may take milliseconds: never call it while a thread is stopped).
 * Returns 0 or -ENOMEM; a file that cannot be opened becomes a module without
 * image.
 */
__attribute__((warn_unused_result)) int module_table_update(struct module_table *table,
							    const struct mapping_list *mappings);

/* The module an address belongs to now, or NULL. A handful of comparisons, no allocation. */
const struct module *module_find(const struct module_table *table, remote_addr address);

/* Files left out because of MODULES_MAX, summed over all updates. */
uint64_t module_table_dropped(const struct module_table *table);

/* All modules ever seen, in order of index. */
size_t module_table_count(const struct module_table *table);
const struct module *module_table_get(const struct module_table *table, size_t index);

#endif

/* SPDX-License-Identifier: Apache-2.0 */
/*
 * From an address in the target to the FDE that covers it.
 *
 * Nearly every file brings its own search table (eh_frame_hdr.h), in which only
 * the beginnings of blocks are noted down. For the rest a sorted index of the
 * FDEs is made. Both once a file and with a cap, by fde_table_prepare(): finding
 * never allocates.
 */
#ifndef PIEPROFD_SYMBOLIZE_FDE_TABLE_H
#define PIEPROFD_SYMBOLIZE_FDE_TABLE_H

#include "common/address.h"
#include "symbolize/eh_frame.h"
#include "symbolize/module.h"

struct fde_table;

/* modules is borrowed for the table's life. NULL: out of memory. */
struct fde_table *fde_table_create(const struct module_table *modules);
void fde_table_destroy(struct fde_table *table);

/*
 * Indexes the modules that are new since the last call and need it. May take
 * milliseconds. A module that does not fit is left without: its code then
 * counts as code without unwind information.
 */
void fde_table_prepare(struct fde_table *table);

/*
 * Waits until the tables of the modules prepared so far have been read from disk, for
 * limit_ns at most: where no thread of the target waits for it.
 */
void fde_table_await(const struct fde_table *table, uint64_t limit_ns);

/*
 * The FDE covering an address of the target inside module; its own addresses
 * are the ELF file's. -ENOENT: none.
 */
__attribute__((warn_unused_result)) int fde_table_find(const struct fde_table *table,
						       const struct module *module,
						       remote_addr address,
						       struct eh_frame_fde *ret_fde);

/* Whether the code an FDE claims lies where the module is mapped. */
static inline bool fde_is_in_module(const struct eh_frame_fde *fde, const struct module *module)
{
	uint64_t size = module->range.end - module->range.start;
	uint64_t start = fde->start + module->bias - module->range.start;

	return start < size && fde->end - fde->start <= size - start;
}

#endif

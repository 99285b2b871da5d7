/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The separate debug file of a stripped module: found by build-id below
 * /usr/lib/debug, or by the name in .gnu_debuglink beside the file. It is
 * taken only when its build-id is the module's or, for a module without one,
 * when it has the checksum that the link tells.
 *
 * The network is asked only when debug_search.download says so.
 */
#ifndef PIEPROFD_SYMBOLIZE_DEBUG_FILE_H
#define PIEPROFD_SYMBOLIZE_DEBUG_FILE_H

#include "common/root_file.h"
#include "symbolize/module.h"

/* Where to look, in this order. */
struct debug_search {
	int root; /* directory descriptor of the target's root, borrowed; ROOT_OWN: none */
	/* Whose rights serve there and in our own root: the names are the target's. */
	struct file_opener opener;
	/* Then always: our own root. */
	bool download; /* then the servers that DEBUGINFOD_URLS names, see debug_download.h */
};

/*
 * Finds the debug file of module; the caller closes the image. search NULL:
 * our own root only. -ENOENT: none.
 */
__attribute__((warn_unused_result)) int debug_file_find(const struct module *module,
							const struct debug_search *search,
							struct elf_image **ret_image);

/*
 * Opens the file that dwz moved DWARF to which several files share: by its
 * build-id or by path, the two that .gnu_debugaltlink tells. A descriptor the
 * caller closes, or -ENOENT. Its build-id is for the caller to check: such a
 * file has no segments, so that elf_image does not take it.
 * attempt counts up from 0 as long as the files found are not the right one;
 * -ENOENT ends it.
 */
__attribute__((warn_unused_result)) int debug_file_open_shared(const char *path,
							       const uint8_t *build_id,
							       size_t build_id_size,
							       const struct debug_search *search,
							       unsigned int attempt);

#endif

/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The separate debug file of a stripped module: found by build-id below
 * /usr/lib/debug, or by the name in .gnu_debuglink beside the file. It is
 * taken only when its build-id is the module's. Never asks the network.
 */
#ifndef PIEPROFD_SYMBOLIZE_DEBUG_FILE_H
#define PIEPROFD_SYMBOLIZE_DEBUG_FILE_H

#include "symbolize/module.h"

/*
 * Opens the debug file of module in the daemon's own file system; the caller
 * closes the image. -ENOENT: none, or the module has no build-id.
 */
__attribute__((warn_unused_result)) int debug_file_open(const struct module *module,
							struct elf_image **ret_image);

#endif

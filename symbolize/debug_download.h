/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Debug files from the servers that DEBUGINFOD_URLS names, through the client
 * of elfutils. This talks to the network and tells the servers which programs
 * run here: call it only when the user has asked for it.
 *
 * The library is loaded at the first call, as libdw itself does, so that
 * nothing of it (nor of the HTTP client below it) is in the daemon otherwise.
 */
#ifndef PIEPROFD_SYMBOLIZE_DEBUG_DOWNLOAD_H
#define PIEPROFD_SYMBOLIZE_DEBUG_DOWNLOAD_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Is the client installed? Asks no server. */
bool debug_download_possible(void);

/*
 * Opens the debug file of that build-id, from the client's cache or from a
 * server. A descriptor the caller closes, or a negative errno: -ENOSYS when
 * there is no client or no server is named, -ENOENT when none has the file.
 * Its content is not checked. May take as long as DEBUGINFOD_TIMEOUT allows.
 */
__attribute__((warn_unused_result)) int debug_download(const uint8_t *build_id,
						       size_t build_id_size);

#endif

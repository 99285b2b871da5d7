/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Names of code generated at run time, from the perf-PID.map file that JIT
 * compilers and CPython 3.12+ (-X perf) append to:
 *
 *   START SIZE NAME\n        both numbers hexadecimal, NAME up to the line's end
 *
 * Where entries overlap the one written last holds: code memory is reused.
 */
#ifndef PIEPROFD_SYMBOLIZE_PERF_MAP_H
#define PIEPROFD_SYMBOLIZE_PERF_MAP_H

#include "common/address.h"
#include "common/root_file.h"

#include <sys/types.h>

#define PERF_MAP_ENTRIES_MAX (1u << 20)
#define PERF_MAP_BYTES_MAX   (128ull << 20) /* read of one file */

struct perf_map;

/* NULL when out of memory. */
struct perf_map *perf_map_create(void);
void perf_map_destroy(struct perf_map *map);

/*
 * Opens the map file of a process, /tmp/perf-PID.map in its root (a directory
 * descriptor of /proc/PID/root), by the number it has in its own pid
 * namespace. opener NULL: with our own rights. Anybody can write to /tmp: the file must be regular,
 * no link, and belong to owner, as whom the process runs, or to root. A descriptor the caller
 * closes, -ENOENT, -EPERM (somebody else's), or see root_file_open().
 */
__attribute__((warn_unused_result)) int perf_map_open(const struct file_opener *opener, int root,
						      pid_t inner_pid, uid_t owner);

/*
 * Reads what was appended to the file behind fd since the last call; the first
 * call, and one on another or a shortened file, reads it all. A last line that
 * is not ended yet is left for the next call. fd stays open and may be at any
 * position. Lines that make no sense are passed over, those beyond the limits
 * above are counted. 0, -EINVAL (not a regular file), -ENOMEM or what read said.
 */
__attribute__((warn_unused_result)) int perf_map_update(struct perf_map *map, int fd);

/*
 * Name of the code at address, or NULL. It lives as long as the map.
 * *ret_start, when not NULL, gets where that code starts.
 */
const char *perf_map_find(const struct perf_map *map, remote_addr address, remote_addr *ret_start);

size_t perf_map_count(const struct perf_map *map);
/* Lines left out because of the limits. */
uint64_t perf_map_dropped(const struct perf_map *map);

#endif

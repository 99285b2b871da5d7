/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The Python lines from which one process calls, by what the program in the kernel has copied of
 * its frames (attach/bpf/mpi.bpf.c).
 *
 *   a call from lines not seen before: pieces of memory, a mark that they are complete
 *     --> frames, as of a stopped thread --> a path (call_path.h), by the program's number
 *
 * Only names, which the code objects have, are read of the process itself, some milliseconds later
 * and without stopping it. Where it has ended by then, the path stays unknown, and is counted.
 */
#ifndef PIEPROFD_DAEMON_TRACE_PATH_READER_H
#define PIEPROFD_DAEMON_TRACE_PATH_READER_H

#include "attach/bpf/mpi_record.h"
#include "daemon/trace/call_path.h"

#include <stdbool.h>
#include <sys/types.h>

/* Of one process; calls from further ones have none. */
#define PATH_READER_PATHS_MAX (1u << 16)

struct impersonator;
struct path_reader;
struct target;

/*
 * paths and impersonator are borrowed. The places go to the program in the kernel. 0 or a
 * negative errno: -ENODATA: it runs no Python that can be read, or none yet.
 */
__attribute__((warn_unused_result)) int path_reader_create(pid_t pid,
							   struct impersonator *impersonator,
							   struct call_paths *paths,
							   struct path_reader **ret_reader,
							   struct clock_config *ret_places);
void path_reader_destroy(struct path_reader *reader);

/* The process as it reads it. Borrowed; for the thread that takes the chunks. */
struct target *path_reader_target(struct path_reader *reader);

/* Whether such a chunk is for a reader of paths. */
bool path_reader_wants(const struct mpi_chunk *chunk);
void path_reader_take(struct path_reader *reader, const struct mpi_chunk *chunk);

/* By the program's number. CALL_PATH_NONE: it is not known. */
uint32_t path_reader_find(const struct path_reader *reader, uint64_t number);

#endif

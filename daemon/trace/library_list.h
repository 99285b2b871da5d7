/* SPDX-License-Identifier: Apache-2.0 */
/* The MPI libraries of the processes of a trace, each file once; and what a process has loaded. */
#ifndef PIEPROFD_DAEMON_TRACE_LIBRARY_LIST_H
#define PIEPROFD_DAEMON_TRACE_LIBRARY_LIST_H

#include "attach/impersonator.h"
#include "daemon/trace/mpi_library.h"

#include <stdbool.h>
#include <sys/types.h>

#define LIBRARIES_MAX 8

struct library_list { /* all zeros: empty */
	struct mpi_library *items[LIBRARIES_MAX];
	size_t count;
};

void library_list_deinit(struct library_list *list);

/* That of a process, with all that it has mapped. 0, -ENODATA: it has none, or a negative errno. */
__attribute__((warn_unused_result)) int library_list_find(struct library_list *list, pid_t pid,
							  struct impersonator *impersonator,
							  struct mapping_list *ret_mappings,
							  struct mpi_library **ret_library);

/* Nothing can have been sent yet. */
bool mpi_library_is_before_init(const struct mpi_library *library, pid_t pid,
				const struct mapping_list *mappings);

/* Of a launcher's processes, those are meant that run Python, and not the shells between. */
bool mappings_run_python(const struct mapping_list *mappings);

#endif

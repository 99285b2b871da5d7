/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Where a span (span.h) is in a process: the file, and the places in it.
 *
 *   functions               .dynsym or .symtab of the library that the user names
 *   garbage collection      the interpreter's static probes gc__start and gc__done, else the
 *                           function that collects, by its symbol
 *   waits for the GIL       take_gil by its symbol; where that was stripped, the one function
 *                           without a name that both PyEval_RestoreThread and
 *                           PyEval_AcquireThread call
 *
 * A function is seen to return because the kernel changes the return address on the stack. What
 * cannot bear that is refused: functions that return twice or look at their return address, those
 * that C++ exceptions may leave, and, where greenlets switch stacks, all that may run Python code.
 */
#ifndef PIEPROFD_DAEMON_TRACE_SPAN_SITE_H
#define PIEPROFD_DAEMON_TRACE_SPAN_SITE_H

#include "attach/mpi_probes.h"
#include "common/mapping.h"
#include "daemon/trace/span.h"

#define SPAN_PLACES_MAX 8

struct impersonator;

struct span_site {
	int fd; /* owned */
	struct span_place places[SPAN_PLACES_MAX];
	unsigned count;
	const char *limit; /* what is not seen this way; NULL: nothing is missed */
};

/*
 * 0; -ENODATA: the process has not mapped the file, or not yet; else a negative errno. *error is
 * filled unless it is 0.
 */
__attribute__((warn_unused_result)) int span_site_find(const struct span *span, pid_t pid,
						       struct impersonator *impersonator,
						       const struct mapping_list *mappings,
						       struct span_site *ret_site,
						       struct error *error);
void span_site_deinit(struct span_site *site);

/* ---- parts, by themselves for tests ---- */

struct elf_image;

/* Of one file. 0 or a negative errno with *error filled. */
__attribute__((warn_unused_result)) int span_places_find(const struct span *span,
							 const struct elf_image *image,
							 struct span_site *site,
							 struct error *error);

#endif

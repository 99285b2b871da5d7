/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Which lines make the memory that stays, where no length of a container tells: for some
 * milliseconds at a time there are probes at malloc() and its like
 * (daemon/sample/allocation_windows.h); of what is sampled there, looks at the memory say later
 * whether it is still in use (heap_kept.h).
 *
 * Probes are breakpoints in the code of the process: so this is only done where it is asked for. Of
 * the interpreter's own allocator there are none: what is small is watched without them
 * (heap_watch.h).
 */
#ifndef PIEPROFD_DAEMON_HEAP_HEAP_PROBES_H
#define PIEPROFD_DAEMON_HEAP_HEAP_PROBES_H

#include "common/error.h"
#include "daemon/heap/heap_kept.h"
#include "daemon/heap/heap_look.h"
#include "daemon/sample/allocation_figures.h"

struct heap_probes;

/*
 * Begins, by threads of its own. most_overhead: of the CPU time of the process, for probes.
 * impersonator: see target_init(). NULL with *error filled; the process is left as it was.
 */
struct heap_probes *heap_probes_start(pid_t pid, double most_overhead,
				      struct impersonator *impersonator, struct error *error);

/* What the next look is to be asked; until heap_probes_answer(). */
struct heap_questions heap_probes_ask(struct heap_probes *probes);
/* By that look. To be left out where there is none. */
void heap_probes_answer(struct heap_probes *probes, const struct heap_look *look);

/* No probe is left. To be called before anything is asked of it. */
void heap_probes_end(struct heap_probes *probes);
void heap_probes_destroy(struct heap_probes *probes);

/* After its end: heap_kept_sites(). Borrowed, until it is asked for again. */
const struct heap_kept_result *heap_probes_result(struct heap_probes *probes, bool native,
						  double bytes_per_s);
struct allocation_figures heap_probes_figures(const struct heap_probes *probes);
/* Samples for which there was no room, or that ran no Python code. */
const struct heap_kept *heap_probes_kept(const struct heap_probes *probes);

#endif

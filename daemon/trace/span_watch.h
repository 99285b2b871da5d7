/* SPDX-License-Identifier: Apache-2.0 */
/*
 * One span (span.h) in one process: whether its probes are there, and how often it comes. A
 * function that is called too often would be slowed down by them: they are taken out then, and that
 * is said.
 *
 *   sought --> set --> relieved
 *         `--> refused
 */
#ifndef PIEPROFD_DAEMON_TRACE_SPAN_WATCH_H
#define PIEPROFD_DAEMON_TRACE_SPAN_WATCH_H

#include "attach/mpi_probes.h"
#include "common/mapping.h"
#include "daemon/trace/span.h"

/* Of one span in one process, in a second: with an instruction that the kernel has to single-step,
 * 5% of a processor. */
#define SPAN_RATE_MAX 4000
/* Over which that is judged. */
#define SPAN_RATE_NS (100 * 1000000ull)

struct impersonator;

enum span_state {
	SPAN_SOUGHT, /* the process has not mapped its file, or not yet */
	SPAN_SET,
	SPAN_REFUSED,
	SPAN_RELIEVED, /* it came too often */
};

struct span_watch {
	enum span_state state;
	const char *limit;         /* what is not seen; NULL: nothing */
	uint64_t looked_ns;        /* when it was judged */
	uint64_t begun;            /* how often it had begun by then */
	uint64_t relieved_ns;      /* when its probes were taken out */
	struct span_counts counts; /* at the end */
};

/* Whose they are. */
struct span_process {
	struct mpi_probes *probes;
	unsigned slot;
	pid_t pid;
	struct impersonator *impersonator; /* NULL: nobody acts with other rights */
};

/*
 * Looks for those that are sought, and sets their probes. 0: all are there; -ENODATA: some have not
 * been loaded; another negative errno: what was found cannot be probed. *error is filled unless it
 * is 0.
 */
__attribute__((warn_unused_result)) int span_watches_set(struct span_watch *watches,
							 const struct span_list *list,
							 const struct span_process *process,
							 const struct mapping_list *mappings,
							 struct error *error);

/* Does one come too often? Asked every few milliseconds. */
void span_watches_look(struct span_watch *watches, const struct span_list *list,
		       const struct span_process *process, uint64_t now_ns);

/* Nothing is recorded any more: keeps what was counted. */
void span_watches_end(struct span_watch *watches, const struct span_list *list,
		      const struct span_process *process);

#endif

/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Looks at heaps as a file of pprof's, with the values of Go's heap profiles for what is in use:
 * inuse_objects/count and inuse_space/bytes. A sample's stack is a holder path, its root outermost.
 *
 *   init -> add a look, and others -> finish -> deinit
 */
#ifndef PIEPROFD_DAEMON_HEAP_HEAP_PPROF_H
#define PIEPROFD_DAEMON_HEAP_HEAP_PPROF_H

#include "daemon/heap/heap_look.h"
#include "daemon/report/format/pprof_file.h"

#define HEAP_PPROF_COMMENTS_MAX 64

struct heap_pprof {
	struct pprof_file out;
	bool several; /* processes: each is an outermost frame and a label */
	uint64_t comments[HEAP_PPROF_COMMENTS_MAX];
	size_t comment_count;
};

/* 0 or a negative errno. After success, deinit in any case. */
__attribute__((warn_unused_result)) int heap_pprof_init(struct heap_pprof *pprof, FILE *file,
							bool several);
void heap_pprof_deinit(struct heap_pprof *pprof);

/* Failure is remembered. The look is no longer needed then. */
void heap_pprof_add(struct heap_pprof *pprof, const struct heap_look *look);

/* Such as why a process is missing. Nothing of more than HEAP_PPROF_COMMENTS_MAX. */
void heap_pprof_comment(struct heap_pprof *pprof, const char *text);

/* 0 or the first error. */
__attribute__((warn_unused_result)) int heap_pprof_finish(struct heap_pprof *pprof);

#endif

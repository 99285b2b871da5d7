/* SPDX-License-Identifier: Apache-2.0 */
/* The threads of a process that called MPI, the one that did most first. */
#ifndef PIEPROFD_DAEMON_TRACE_TRACE_THREAD_H
#define PIEPROFD_DAEMON_TRACE_TRACE_THREAD_H

#include "daemon/trace/trace_analysis.h"

#define TRACE_THREADS_MAX 256 /* calls of further ones are shown as the first one's */

struct trace_threads {
	uint32_t items[TRACE_THREADS_MAX];
	unsigned count; /* at least 1 */
};

void trace_threads_find(const struct trace_analysis *analysis, size_t place,
			struct trace_threads *ret_threads);

/* Its place among them. */
unsigned trace_threads_place(const struct trace_threads *threads, uint32_t thread);

#endif

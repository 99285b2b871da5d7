/* SPDX-License-Identifier: Apache-2.0 */
/* A process of a trace (trace.h), from when it is met to when the trace is no longer needed. */
#ifndef PIEPROFD_DAEMON_TRACE_TRACE_PROCESS_H
#define PIEPROFD_DAEMON_TRACE_TRACE_PROCESS_H

#include "daemon/trace/trace.h"

/* library (NULL: it has none, or not yet) and events_left are borrowed. 0 or a negative errno. */
__attribute__((warn_unused_result)) int trace_process_create(pid_t pid, uint64_t start_time,
							     const struct mpi_library *library,
							     uint64_t *events_left,
							     struct trace_process **ret_process);
void trace_process_destroy(struct trace_process *process);

/* One that had none has loaded it. */
void trace_process_set_library(struct trace_process *process, const struct mpi_library *library);

void trace_process_add(struct trace_process *process, const struct trace_event *event);

/* Its counters move on; and what is left of that at the end. */
void trace_process_look_at_counters(struct trace_process *process);
void trace_process_end_counters(struct trace_process *process);

/* Asks for its rank, if that is not known: its environment is another one once it runs the
 * program. */
void trace_process_look_at_rank(struct trace_process *process);

#endif

/* SPDX-License-Identifier: Apache-2.0 */
/*
 * How deep calls of Python functions lie in each other. The program in the kernel counts that, too,
 * but some milliseconds go by until it knows which functions are wanted: so the last word is spoken
 * when the trace is complete.
 */
#ifndef PIEPROFD_DAEMON_TRACE_FUNCTION_DEPTH_H
#define PIEPROFD_DAEMON_TRACE_FUNCTION_DEPTH_H

#include "daemon/trace/trace_file.h"

/* Takes calls of that span that lie in depth_max or more others out of a file that has been mapped.
 * 0 with how many those were, or -ENOMEM: then nothing is changed. */
__attribute__((warn_unused_result)) int function_depth_limit(struct trace_file *file, unsigned span,
							     unsigned depth_max,
							     uint64_t *ret_left_out);

#endif

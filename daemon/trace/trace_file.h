/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The events of one process, in a file of its own that grows as they come: memory stays as it is,
 * however long a trace gets. The file has no name, so that nothing is left behind whatever happens.
 */
#ifndef PIEPROFD_DAEMON_TRACE_TRACE_FILE_H
#define PIEPROFD_DAEMON_TRACE_TRACE_FILE_H

#include "daemon/trace/trace_event.h"

#include <stdbool.h>
#include <stddef.h>

#define TRACE_FILE_BUFFERED 512

struct trace_file {
	int fd; /* -1: not open */
	uint64_t count;
	uint64_t left_out; /* events that could not be written, or were one too many */
	int error;         /* 0, or why */
	size_t buffered;
	struct trace_event buffer[TRACE_FILE_BUFFERED];
	struct trace_event *events; /* when it is mapped */
	uint64_t mapped;            /* how many there were then */
};

/* In $TMPDIR or /tmp. 0 or a negative errno. */
__attribute__((warn_unused_result)) int trace_file_open(struct trace_file *file);
void trace_file_close(struct trace_file *file);

void trace_file_add(struct trace_file *file, const struct trace_event *event);

/*
 * What was written, count events, sorted by when they began; nothing is added after that. Valid
 * until the file is closed. 0 or a negative errno.
 */
__attribute__((warn_unused_result)) int trace_file_map(struct trace_file *file);

#endif

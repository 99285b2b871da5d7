/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A trace in a file of our own, ".pietrace", to be merged with those of other nodes (trace_set.h).
 *
 *    0  8 bytes  89 'P' 'I' 'E' 'T' 'R' 'C' 0a
 *    8  u32      version
 *   12  u32      0
 *   16           a block: what is no event, as JSON
 *    .           blocks: events of the first process, then of the second ...
 *
 *   a block: u64 bytes, u64 packed bytes, then these, by zstd with its checksum
 *
 * A block of events is an array of at most TRACE_CHUNK_EVENTS as trace_event.h has them, sorted.
 * Little-endian, and only as long as trace_event.h is: another layout is another version. Functions
 * of MPI are numbered by the names in the JSON. Whoever reads it checks all of it: it may come from
 * anywhere.
 */
#ifndef PIEPROFD_DAEMON_TRACE_TRACE_RECORDING_H
#define PIEPROFD_DAEMON_TRACE_TRACE_RECORDING_H

#include "daemon/trace/trace_analysis.h"

#include <jansson.h>
#include <stdio.h>

#define TRACE_RECORDING_VERSION   2
#define TRACE_RECORDING_EXTENSION ".pietrace"
#define TRACE_CHUNK_EVENTS        4096
#define TRACE_META_BYTES_MAX      (256u << 20)

/* 0, -ENOMEM or -EIO. */
int trace_recording_write(const struct trace_analysis *analysis, FILE *file);

struct trace_recording { /* being read */
	int fd;
	json_t *meta; /* an object */
};

/* 0 or a negative errno: -ENOEXEC: it is none, -EPROTO: of a later version, -EBADMSG: damaged.
 * Close it in any case. */
__attribute__((warn_unused_result)) int trace_recording_open(struct trace_recording *recording,
							     const char *path);
void trace_recording_close(struct trace_recording *recording);

/* The next so many events, at most TRACE_CHUNK_EVENTS, as they are in the file. Likewise. */
__attribute__((warn_unused_result)) int trace_recording_next(struct trace_recording *recording,
							     struct trace_event *ret_events,
							     size_t count);

#endif

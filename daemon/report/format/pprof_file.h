/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A file of pprof's profile.proto being written, gzipped (github.com/google/pprof,
 * proto/profile.proto), whatever its samples are of.
 *
 *   init -> value types, comments, samples ... -> finish: the tables they refer to -> deinit
 *
 * The fields of the outermost message may come in any order: samples are written one by one, the
 * tables that they refer to behind them. Failure is remembered: a writer checks at the end.
 */
#ifndef PIEPROFD_DAEMON_REPORT_FORMAT_PPROF_FILE_H
#define PIEPROFD_DAEMON_REPORT_FORMAT_PPROF_FILE_H

#include "daemon/report/encode/gzip_stream.h"
#include "daemon/report/encode/protobuf.h"
#include "daemon/report/format/pprof_fields.h"
#include "daemon/report/format/pprof_table.h"

#include <stdio.h>

struct pprof_file {
	struct gzip_stream stream;
	struct pprof_table table;
	struct protobuf message,
		inner; /* scratch: fields of the outermost message, and of one in it */
	int error;     /* the first; nothing is written after it */
};

/* 0 or a negative errno. After success, deinit in any case. */
__attribute__((warn_unused_result)) int pprof_file_init(struct pprof_file *pprof, FILE *file);
void pprof_file_deinit(struct pprof_file *pprof);

void pprof_file_fail(struct pprof_file *pprof, int error);

/* Its number, to be referred to by. */
uint32_t pprof_file_string(struct pprof_file *pprof, const char *text);

/* Writes and empties pprof->message. */
void pprof_file_flush(struct pprof_file *pprof);
/* Writes pprof->inner as a submessage, and empties it. */
void pprof_file_put(struct pprof_file *pprof, unsigned field);

/* Values are signed in the file. */
uint64_t pprof_file_bounded(uint64_t value);

/* PROFILE_SAMPLE_TYPE or PROFILE_PERIOD_TYPE. */
void pprof_file_value_type(struct pprof_file *pprof, unsigned field, const char *type,
			   const char *unit);

/* Begins a sample in pprof->inner, of ids of locations, the leaf first; labels may follow, and then
 * pprof_file_put(PROFILE_SAMPLE). */
void pprof_file_begin_sample(struct pprof_file *pprof, const uint64_t *stack, size_t depth,
			     const uint64_t *values, size_t value_count);
void pprof_file_label(struct pprof_file *pprof, const char *key, const char *text);

/* Mappings, locations, functions, strings; the end of the file. 0 or the first error. */
__attribute__((warn_unused_result)) int pprof_file_finish(struct pprof_file *pprof);

#endif

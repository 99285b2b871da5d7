/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A trace in files that viewers read, and what it says in text and JSON. What is the target's in
 * them (names of processes) is escaped as each format needs.
 */
#ifndef PIEPROFD_DAEMON_TRACE_TRACE_WRITER_H
#define PIEPROFD_DAEMON_TRACE_TRACE_WRITER_H

#include "daemon/report/format/writer.h"
#include "daemon/trace/trace_analysis.h"

struct trace_writer {
	const char *name;
	const char *extension; /* by which a file's name chooses */
	int (*write)(const struct trace_analysis *analysis, FILE *file);
	/* Files beside it, with another extension each. */
	struct {
		const char *extension;
		int (*write)(const struct trace_analysis *analysis, FILE *file);
	} companions[2];
};

/* The one for a file's name; NULL: there is none. */
const struct trace_writer *trace_writer_by_path(const char *path);

/* ".html, .json, .perfetto-trace, .prv and .pietrace", for people. */
const char *trace_writer_extensions(void);

/* Writes it and its companions. 0 or a negative errno. */
__attribute__((warn_unused_result)) int trace_writer_write(const struct trace_writer *writer,
							   const struct trace_analysis *analysis,
							   const char *path);

/* One file each. */
int trace_html_write(const struct trace_analysis *analysis, FILE *file);
int trace_chrome_write(const struct trace_analysis *analysis, FILE *file);
int trace_perfetto_write(const struct trace_analysis *analysis, FILE *file);
int trace_prv_write(const struct trace_analysis *analysis, FILE *file);
int trace_pcf_write(const struct trace_analysis *analysis, FILE *file);
int trace_row_write(const struct trace_analysis *analysis, FILE *file);

/* What it says. 0 or a negative errno. */
__attribute__((warn_unused_result)) int trace_text_write(const struct trace_analysis *analysis,
							 const struct writer_options *options,
							 FILE *file);
__attribute__((warn_unused_result)) int trace_json_write(const struct trace_analysis *analysis,
							 FILE *file);

#endif

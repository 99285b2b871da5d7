/* SPDX-License-Identifier: Apache-2.0 */
/* Writers: one file each; writer_table.h names them all. */
#ifndef PIEPROFD_DAEMON_REPORT_FORMAT_WRITER_H
#define PIEPROFD_DAEMON_REPORT_FORMAT_WRITER_H

#include "daemon/report/model/profile.h"

#include <stdio.h>

struct writer_options {
	unsigned columns; /* of the terminal; text only. 0: 100 */
	bool colour;
	unsigned lines_max; /* text: how many lines and pairs to show; 0: as the format sees fit */
	unsigned pairs_max;
	/* html: addresses of a line of source, with {file}, {path} and {line}; NULL: no links. */
	const char *editor_url;
	const char *source_url;
	const char *link_root; /* what {path} begins behind; NULL: "/" */
	bool brief;            /* text: one screen, for a terminal */
	bool verdict_last;     /* text: where a terminal's reader looks first */
	const char *notes;     /* text: sentences on what else was written; NULL: none. Borrowed */
	/* Readers of a repository have paths below it: this folder; NULL: none. Borrowed. */
	const char *source_root;
};

struct writer {
	const char *name;      /* --format NAME */
	const char *extension; /* ".json", by which -o chooses: the longest that fits */
	/* 0 or a negative errno. Target strings are escaped as the format needs. */
	int (*write)(const struct profile *profile, const struct writer_options *options,
		     FILE *file);
};

/*
 * Writes to path beside a temporary file that is renamed at the end, mode
 * 0600, owned by SUDO_UID when run under sudo; "-" is stdout. What the options
 * say of a terminal is for stdout alone. 0 or a negative errno; on failure the
 * old file is untouched.
 */
int writer_write_file(const struct writer *writer, const struct profile *profile,
		      const struct writer_options *options, const char *path);

/* Those of one file; html.h and recording.h have theirs. */
extern const struct writer writer_text;
extern const struct writer writer_json;
extern const struct writer writer_collapsed;
extern const struct writer writer_pprof;
extern const struct writer writer_speedscope;
extern const struct writer writer_firefox;
extern const struct writer writer_sarif;
extern const struct writer writer_github;
extern const struct writer writer_markdown;
extern const struct writer writer_rows;

#endif

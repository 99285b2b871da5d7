/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The report as one HTML file that asks for nothing: daemon/report/html/page/ with
 * @NAMES@ replaced. The policy in its head allows the one script and the one
 * style by their hashes, and no request at all.
 *
 * What needs no JavaScript is HTML (html_sections.h). The rest is made by the
 * script from two blocks of data, the JSON report and the call tree (html_data.h).
 */
#ifndef PIEPROFD_DAEMON_REPORT_HTML_HTML_H
#define PIEPROFD_DAEMON_REPORT_HTML_HTML_H

#include "daemon/report/format/writer.h"

extern const struct writer writer_html;

/* An earlier profile, and what changed since. */
struct html_base {
	const struct profile *profile;
	const char *headline;
	int (*put_diff)(const void *diff, FILE *file); /* as JSON; 0 or a negative errno */
	const void *diff;
};

/* The same of a profile with a flame graph of what changed. */
int html_write_compared(const struct profile *profile, const struct html_base *base,
			const struct writer_options *options, FILE *file);

#endif

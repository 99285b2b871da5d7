/* SPDX-License-Identifier: Apache-2.0 */
/* The difference of two profiles as files: those formats that have one. (html.h has the page's.) */
#ifndef PIEPROFD_DAEMON_REPORT_DIFF_DIFF_WRITERS_H
#define PIEPROFD_DAEMON_REPORT_DIFF_DIFF_WRITERS_H

#include "daemon/report/diff/diff.h"

/* 0 or a negative errno. Strings of the targets are escaped as the format needs. */
typedef int diff_write(const struct diff *diff, const struct writer_options *options, FILE *file);

/* Of a profile's writer, what writes a difference; NULL: its format has none here. */
diff_write *diff_write_of(const struct writer *writer);

diff_write diff_write_text, diff_write_sarif, diff_write_github, diff_write_markdown;
int diff_write_json(const struct diff *diff, FILE *file);

#endif

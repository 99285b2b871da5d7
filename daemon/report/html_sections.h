/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The parts of the HTML report that are there without JavaScript, as HTML.
 * Every string of the target goes through html_text().
 */
#ifndef PIEPROFD_DAEMON_REPORT_HTML_SECTIONS_H
#define PIEPROFD_DAEMON_REPORT_HTML_SECTIONS_H

#include "daemon/report/profile.h"

#include <stdio.h>

/* As printable.h shows it, with what HTML would obey as entities. 0 or -ENOMEM. */
int html_text(FILE *file, const char *text);

/* Each: 0 or -ENOMEM; the caller looks at ferror(). */
int html_title(FILE *file, const struct profile *profile);
int html_command(FILE *file, const struct profile *profile);
int html_verdict(FILE *file, const struct profile *profile);
int html_lines(FILE *file, const struct profile *profile);   /* those with most time of their own */
int html_threads(FILE *file, const struct profile *profile); /* those with most time */
int html_quality(FILE *file, const struct profile *profile);

#endif

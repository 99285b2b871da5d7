/* SPDX-License-Identifier: Apache-2.0 */
/* Parts of a report in Markdown. */
#ifndef PIEPROFD_DAEMON_REPORT_FORMAT_MARKDOWN_H
#define PIEPROFD_DAEMON_REPORT_FORMAT_MARKDOWN_H

#include "daemon/report/model/profile.h"

#include <stdio.h>

/* Of code, in columns of a terminal. */
#define MARKDOWN_CODE_MAX 120

/* `app/model.py:7`, below the root if it is one; without a number when the line is 0. */
void markdown_put_line(FILE *file, const char *path, int line, const char *root);

/* "Profiled: `python3 app.py` (pid 7), ..." and an empty line. */
void markdown_put_target(FILE *file, const char *label, const struct profile *profile);

#endif

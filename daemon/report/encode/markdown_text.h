/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Strings of the target in Markdown (CommonMark with GitHub's tables), on one line each and cut:
 * they are shown as they are and do nothing, neither mark up, link, nor call anybody by name.
 */
#ifndef PIEPROFD_DAEMON_REPORT_ENCODE_MARKDOWN_TEXT_H
#define PIEPROFD_DAEMON_REPORT_ENCODE_MARKDOWN_TEXT_H

#include <stdio.h>

#define MARKDOWN_COLUMNS_MAX 1024

/* As text, anywhere, also in a cell of a table; cut at so many columns of a terminal. */
void markdown_text(FILE *file, const char *text, unsigned columns);

/* As code, likewise; nothing for "". */
void markdown_code(FILE *file, const char *text, unsigned columns);

#endif

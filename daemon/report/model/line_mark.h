/* SPDX-License-Identifier: Apache-2.0 */
/* Where in the source text that is shown of a line the expression of its finding is. */
#ifndef PIEPROFD_DAEMON_REPORT_MODEL_LINE_MARK_H
#define PIEPROFD_DAEMON_REPORT_MODEL_LINE_MARK_H

#include "daemon/report/model/profile.h"

#include <stdbool.h>
#include <stddef.h>

/* Bytes of line->source, which lie between characters; an expression that goes on in further
 * lines is marked up to the end of this one. false: none, or not known. */
bool line_mark(const struct profile_line *line, size_t *ret_from, size_t *ret_to);

/* The same as columns of the line as it stands in the file, in characters (code points) from 1;
 * the second is that behind the expression, or behind the line where it goes on in further ones. */
bool line_mark_columns(const struct profile_line *line, size_t *ret_from, size_t *ret_to);

#endif

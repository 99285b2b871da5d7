/* SPDX-License-Identifier: Apache-2.0 */
/* What a trace says of its spans, for people and for programs. */
#ifndef PIEPROFD_DAEMON_TRACE_SPAN_TEXT_H
#define PIEPROFD_DAEMON_TRACE_SPAN_TEXT_H

#include "daemon/report/format/text_layout.h"
#include "daemon/trace/trace_analysis.h"

#include <jansson.h>

/* rows: of lines and processes of each. */
void span_text_put(const struct text_layout *layout, const struct trace_analysis *analysis,
		   size_t rows);

/* An array; path: what makes JSON of a path. */
json_t *span_json(const struct trace_analysis *analysis,
		  json_t *(*path)(const struct trace_analysis *analysis, uint32_t path));

#endif

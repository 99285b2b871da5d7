/* SPDX-License-Identifier: Apache-2.0 */
/* What a trace says of threads off the processor and of page faults, for people and for programs.
 */
#ifndef PIEPROFD_DAEMON_TRACE_DETAIL_TEXT_H
#define PIEPROFD_DAEMON_TRACE_DETAIL_TEXT_H

#include "daemon/report/format/text_layout.h"
#include "daemon/trace/trace_analysis.h"

#include <jansson.h>

/* Nothing where that was not traced. rows: of reasons, of the lines of each, and of threads. */
void detail_text_put(const struct text_layout *layout, const struct trace_analysis *analysis,
		     const struct detail_analysis *details, size_t rows);

/* null where that was not traced; path: what makes JSON of a path. */
json_t *detail_json(const struct trace_analysis *analysis, const struct detail_analysis *details,
		    json_t *(*path)(const struct trace_analysis *analysis, uint32_t path));

#endif

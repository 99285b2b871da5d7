/* SPDX-License-Identifier: Apache-2.0 */
/* What a trace says of counters, for people and for programs. */
#ifndef PIEPROFD_DAEMON_TRACE_COUNTER_TEXT_H
#define PIEPROFD_DAEMON_TRACE_COUNTER_TEXT_H

#include "daemon/report/format/text_layout.h"
#include "daemon/trace/trace_analysis.h"

#include <jansson.h>

/* Nothing where none were asked for. rows: of threads, of each counter. */
void counter_text_put(const struct text_layout *layout, const struct trace_analysis *analysis,
		      size_t rows);

/* null where none were asked for. */
json_t *counter_json(const struct trace_analysis *analysis);

#endif

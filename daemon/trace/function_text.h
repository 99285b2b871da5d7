/* SPDX-License-Identifier: Apache-2.0 */
/* What a trace says of Python functions, for people and for programs. */
#ifndef PIEPROFD_DAEMON_TRACE_FUNCTION_TEXT_H
#define PIEPROFD_DAEMON_TRACE_FUNCTION_TEXT_H

#include "daemon/report/format/text_layout.h"
#include "daemon/trace/trace_analysis.h"

#include <jansson.h>

/* Nothing where they were not traced. */
void function_text_put(const struct text_layout *layout, const struct trace_analysis *analysis,
		       size_t rows);

/* null where they were not traced. */
json_t *function_json(const struct trace_analysis *analysis);

#endif

/* SPDX-License-Identifier: Apache-2.0 */
/* How the clocks of the nodes of a trace were aligned, in words and JSON. */
#ifndef PIEPROFD_DAEMON_TRACE_CLOCK_TEXT_H
#define PIEPROFD_DAEMON_TRACE_CLOCK_TEXT_H

#include "daemon/report/format/text_layout.h"
#include "daemon/trace/trace.h"

#include <jansson.h>

/* Nothing of a trace of one node. */
void clock_text_put(const struct text_layout *layout, const struct trace *trace, size_t rows);

/* An array, empty of a trace of one node. */
json_t *clock_json(const struct trace *trace);

#endif

/* SPDX-License-Identifier: Apache-2.0 */
/* What the JSON report says of memory. */
#ifndef PIEPROFD_DAEMON_REPORT_FORMAT_JSON_MEMORY_H
#define PIEPROFD_DAEMON_REPORT_FORMAT_JSON_MEMORY_H

#include "daemon/report/format/json_value.h"

/* The object `memory`, of a profile that has it. NULL: out of memory. */
json_t *json_memory(const struct profile *profile);

/* Adds to an object what was touched there, and what was copied. Takes it over, as json_with(). */
json_t *json_with_memory(json_t *object, const struct profile_facts *facts,
			 const struct side_time *side);

#endif

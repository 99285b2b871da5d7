/* SPDX-License-Identifier: Apache-2.0 */
/* Findings (finding.h) and the verdict as JSON values; json_value.h has how these fail. */
#ifndef PIEPROFD_DAEMON_REPORT_FORMAT_JSON_FINDING_H
#define PIEPROFD_DAEMON_REPORT_FORMAT_JSON_FINDING_H

#include "daemon/report/model/finding.h"

#include <jansson.h>

/* An array of objects, what could save most first. */
json_t *json_findings(const struct profile *profile);

/* The verdict (verdict.h), an object. */
json_t *json_verdict(const struct profile *profile);

/* The expression that a line's finding is of; null: the arguments of no expression of the line
 * speak of waste. */
json_t *json_expression(const struct profile_line *line);

/* The object with how sure the finding is, its share and what it could save. */
json_t *json_with_saving(json_t *object, const struct finding *finding);

/* Where a line is; null: NULL. */
json_t *json_place(const struct profile_line *line);

#endif

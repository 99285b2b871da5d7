/* SPDX-License-Identifier: Apache-2.0 */
/* The `timeline` of the JSON report: threads over time, a line of the file for each. */
#ifndef PIEPROFD_DAEMON_REPORT_FORMAT_JSON_TIMELINE_H
#define PIEPROFD_DAEMON_REPORT_FORMAT_JSON_TIMELINE_H

#include "daemon/report/model/profile.h"

#include <stdio.h>

/* The object alone. 0, -ENOMEM or -EIO. */
__attribute__((warn_unused_result)) int json_put_timeline(FILE *file,
							  const struct profile_facts *facts);

#endif

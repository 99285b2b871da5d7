/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Resident memory of several processes over time, added up by the time of day. One that has not
 * begun, or has ended, has none. Of recordings of one process there is one at a time.
 */
#ifndef PIEPROFD_DAEMON_REPORT_MERGE_MERGE_RESIDENT_H
#define PIEPROFD_DAEMON_REPORT_MERGE_MERGE_RESIDENT_H

#include "daemon/sample/resident_figures.h"

/* When a run began, since 1970; of recordings that do not know, 0. */
struct resident_run {
	const struct resident_figures *figures;
	uint64_t started_unix_ns;
};

/*
 * Both as one, whose points are written to points. They may be the first one's own. one_process:
 * both are of the same process.
 */
struct resident_figures merge_resident(const struct resident_run *a, const struct resident_run *b,
				       bool one_process,
				       struct resident_point points[RESIDENT_POINTS_MAX]);

#endif

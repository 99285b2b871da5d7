/* SPDX-License-Identifier: Apache-2.0 */
/* Why a line's avoidable time is what it is, in words. */
#ifndef PIEPROFD_DAEMON_REPORT_MODEL_REASONS_H
#define PIEPROFD_DAEMON_REPORT_MODEL_REASONS_H

#include "daemon/report/model/arena.h"
#include "daemon/report/model/line_stats.h"

#define REASONS_MAX 8 /* as profile_line has room for */

/* None for a line without sampled accesses. Strings are the arena's. Returns how many. */
size_t reasons_write(struct arena *arena, const struct line_entry *line, enum category category,
		     const char *reasons[REASONS_MAX]);

#endif

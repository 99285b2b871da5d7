/* SPDX-License-Identifier: Apache-2.0 */
/* Lines and pairs written into a profile, the same for every maker of one (line_estimate.h). */
#ifndef PIEPROFD_DAEMON_REPORT_MODEL_PROFILE_WRITE_H
#define PIEPROFD_DAEMON_REPORT_MODEL_PROFILE_WRITE_H

#include "daemon/report/model/arena.h"
#include "daemon/report/model/line_stats.h"
#include "daemon/report/model/profile.h"

/* All but the source. Reasons are the arena's; its failure is to be asked for. */
void profile_line_write(struct arena *arena, const struct line_entry *entry,
			struct profile_line *line);

/* Share, interval, category and advice from the counts and support. */
void profile_pair_judge(struct profile_pair *pair);

#endif

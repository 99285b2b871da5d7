/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Charges what the arguments of sampled calls say (detect/argument_rule.h) to
 * lines: each sample's vote to the line of the site that it is for, and to that
 * line the expression and the sentence of the site with most votes.
 */
#ifndef PIEPROFD_DAEMON_REPORT_MODEL_ARGUMENT_STATS_H
#define PIEPROFD_DAEMON_REPORT_MODEL_ARGUMENT_STATS_H

#include "daemon/detect/argument_log.h"
#include "daemon/report/model/arena.h"
#include "daemon/report/model/line_stats.h"
#include "daemon/report/model/source.h"

struct argument_stats_input {
	const struct argument_log *log;
	const struct cct *cct;
	struct call_site_table *sites;
	struct source_cache *sources;
};

/* Strings are the arena's. Once, before lines are estimated; 0 or -ENOMEM. */
__attribute__((warn_unused_result)) int argument_stats_charge(
	const struct argument_stats_input *input, struct arena *arena, struct line_stats *lines);

#endif

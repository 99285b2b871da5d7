/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A change that is not to pass unnoticed, as pieprofd report --fail-if has it:
 *
 *   own+10%   of any line: its own time grew by more than a tenth of what it was
 *   total-5%, could-save+25%
 *
 * A line breaks it whose figure has changed so much both as a share of the CPU time and per second,
 * and by more than chance would have it, as the difference tells (diff.h).
 */
#ifndef PIEPROFD_DAEMON_REPORT_DIFF_THRESHOLD_H
#define PIEPROFD_DAEMON_REPORT_DIFF_THRESHOLD_H

#include "daemon/report/diff/diff.h"

#include <stdbool.h>
#include <stddef.h>

struct threshold {
	enum threshold_metric {
		THRESHOLD_OWN,
		THRESHOLD_TOTAL,
		THRESHOLD_COULD_SAVE,
	} metric;
	bool falls;     /* "-": it is about becoming less */
	double percent; /* of what it was */
};

/* False: it is no such text. */
bool threshold_parse(const char *text, struct threshold *ret_threshold);

/* How many lines break it; *ret_worst is the one that changed most per second, if there is any. */
size_t threshold_broken(const struct threshold *threshold, const struct diff *diff,
			const struct diff_entry **ret_worst);

/*
 * "/app/model.py:7 in score: own time 12.0% (120.3 ms a second) before, 30.1% (301.0 ms a second)
 * now", for a terminal.
 */
void threshold_describe(const struct threshold *threshold, const struct diff_entry *entry,
			char *text, size_t size);

#endif

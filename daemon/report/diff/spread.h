/* SPDX-License-Identifier: Apache-2.0 */
/*
 * How much recordings of a set differ from each other, line by line: what tells a change of a fleet
 * from noise. Samples alone do not: a million of them know each share to a thousandth, while hosts,
 * hours and requests differ by a tenth. So of each line (or function) sums of squares are kept, and
 * the error of its share of all time X/T is that of a ratio of sums over n recordings:
 *
 *   variance = n/(n-1) * (Sxx - 2 R Sxt + R^2 Stt) / T^2        R = X/T
 *
 * where x is the line's time in a recording and t all of it; of the time per second likewise, t
 * being seconds. Recordings without the line count by their t. Memory grows with lines, not with
 * recordings, up to SPREAD_ENTRIES_MAX; a line beyond has no spread.
 *
 * A recording is one draw: recordings of one process one after the other depend on each other, and
 * tell less than the formula has it.
 */
#ifndef PIEPROFD_DAEMON_REPORT_DIFF_SPREAD_H
#define PIEPROFD_DAEMON_REPORT_DIFF_SPREAD_H

#include "daemon/report/model/profile.h"

#define SPREAD_ENTRIES_MAX (1u << 17)

struct spread;

/* NULL: out of memory. */
struct spread *spread_create(void);
void spread_destroy(struct spread *spread);

/* One more recording. 0 or -ENOMEM. */
__attribute__((warn_unused_result)) int spread_add(struct spread *spread,
						   const struct profile *profile);

/* As diff.h knows lines again: by file, function and text, or else by number. Of a function the
 * text is "". */
struct spread_key {
	const char *file, *function, *source; /* source NULL: unreadable */
	int line;
};

/* Standard errors: of the share of all time, and of ms of CPU a second. */
struct spread_error {
	double share, rate;
};

struct spread_errors {
	struct spread_error self, total;
};

/* All 0: of a line that is not known, or of fewer than two recordings. */
struct spread_errors spread_errors_of(const struct spread *spread, const struct spread_key *key);

size_t spread_recordings(const struct spread *spread);
/* Of all recordings, one behind the other. */
double spread_seconds(const struct spread *spread);

#endif

/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Ways to write a line that are known to be slow, by what runs under it: the library
 * function that the program's line calls, known by file and name, or the line's own
 * text. Samples say how much time that is, and nothing says how much another way
 * would save: a pattern alone claims no saving.
 *
 *   app.py:6       for i, row in df.iterrows():     the place
 *   frame.py:1500  DataFrame.iterrows               the pattern: a Series for each row
 *   series.py:480  Series.__init__                  its time
 */
#ifndef PIEPROFD_DAEMON_REPORT_MODEL_SLOW_PATTERN_H
#define PIEPROFD_DAEMON_REPORT_MODEL_SLOW_PATTERN_H

#include "daemon/detect/slow_call.h"
#include "daemon/report/model/profile.h"

/* Under lines with less of the CPU time a pattern is not worth naming. */
#define SLOW_PATTERN_SHARE_MIN 0.1

struct slow_pattern {
	const char *name;     /* for machines: "iterrows" */
	const char *headline; /* without a full stop: "a data frame is gone through row by row" */
	const struct slow_way *way;
	enum category category;
	bool of_the_same; /* it is slow for what is done again alone */
};

struct slow_pattern_hit {
	const struct slow_pattern *pattern;
	const struct profile_line *line; /* of the program itself */
	uint64_t time_ns;                /* of the samples in it */
};

/*
 * Those with at least that share of the CPU time, most time first, a line and a pattern once;
 * at most max of them. Returns how many, or -ENOMEM.
 */
int slow_patterns_find(const struct profile *profile, struct slow_pattern_hit *hits, size_t max);

#endif

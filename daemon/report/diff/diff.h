/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What changed from one profile to another: time by line and by function,
 * redundant accesses by pair of lines, avoidable time.
 *
 * Time is compared as a share of the CPU time and as CPU time per second of
 * wall time: the first is free of how busy the target was, the second of what
 * the other lines do. Both are counts of samples, and have the uncertainty of
 * such. A change stands out when no change is in neither of the two 95%
 * intervals; what is left is noise, or the doing of all the rest: where a line
 * is mended, the shares of the others grow. Of things that did not change one in
 * twenty may stand out all the same.
 *
 * Of sets of recordings, what the recordings of a set differ by from each other counts as well
 * (spread.h), and time per second is that of the recordings one behind the other, so that sets of
 * different sizes can be compared.
 *
 * A line is the same when its file, function and text are: edits above move it.
 * Without text, its number tells. Pairs are those of one kind whose innermost
 * Python lines are the same.
 */
#ifndef PIEPROFD_DAEMON_REPORT_DIFF_DIFF_H
#define PIEPROFD_DAEMON_REPORT_DIFF_DIFF_H

#include "daemon/detect/interval.h"
#include "daemon/report/diff/spread.h"
#include "daemon/report/encode/figure.h"
#include "daemon/report/format/writer.h"

enum diff_side {
	DIFF_BASE,
	DIFF_NOW,
	DIFF_SIDES
};

struct diff_figure {
	uint64_t samples[DIFF_SIDES]; /* or accesses */
	double share[DIFF_SIDES];     /* of all of that side */
	struct interval share_change;
	double rate[DIFF_SIDES]; /* ms of CPU a second; 0 for accesses */
	struct interval rate_change;
	bool noise; /* the change does not stand out */
};

/* A line, or a function, whose source is NULL. */
struct diff_entry {
	const char *file, *function, *source;
	int line[DIFF_SIDES]; /* of a function its first seen */
	bool present[DIFF_SIDES];
	uint64_t self_ns[DIFF_SIDES];
	uint64_t avoidable_ns[DIFF_SIDES];
	struct diff_figure time; /* its own */
	struct diff_figure total;
	/* What it could save: noise if the intervals overlap, of lines; there are no samples. */
	struct diff_figure avoidable;
};

struct diff_place {
	const char *file, *function, *source; /* no Python frame: the native function's */
	int line;
};

struct diff_pair {
	enum pair_kind kind;
	struct diff_place first, second; /* as the later profile has it, if it does */
	bool present[DIFF_SIDES];
	uint64_t sampled[DIFF_SIDES], redundant[DIFF_SIDES];
	uint64_t avoidable_ns[DIFF_SIDES];
	struct diff_figure accesses; /* redundant ones, of all sampled of the kind */
};

struct diff {
	const struct profile *profiles[DIFF_SIDES];
	const struct spread *spreads[DIFF_SIDES]; /* NULL: of one recording */
	double cpu_rate[DIFF_SIDES];              /* ms of CPU a second */
	/* All lines' together, in ms a second, with its 95% interval. */
	double avoidable_rate[DIFF_SIDES];
	struct interval avoidable[DIFF_SIDES];
	bool avoidable_noise; /* the intervals overlap */
	/* What stands out first, by how much time per second changed; pairs by accesses. */
	struct diff_entry *lines;
	size_t line_count;
	struct diff_entry *functions;
	size_t function_count;
	struct diff_pair *pairs;
	size_t pair_count;
};

/* The profiles must outlive it. NULL: out of memory. */
struct diff *diff_create(const struct profile *base, const struct profile *now);
/* The same; either spread, which must outlive it, too, may be NULL. */
struct diff *diff_create_of_sets(const struct profile *const profiles[DIFF_SIDES],
				 const struct spread *const spreads[DIFF_SIDES]);
void diff_destroy(struct diff *diff);

/* A share of one side: in whole percents where it has few samples. */
struct figure diff_share(const struct diff *diff, enum diff_side side, double share);

/* The change to look at first, in a sentence without a full stop: "normalise: 47% to 27% of the
 * CPU time". Names are the target's. Always terminated. */
void diff_headline(const struct diff *diff, char *text, size_t size);

#endif

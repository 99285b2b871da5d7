/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What earlier snapshots said, so that a later one can be compared with them:
 * the figures that add up over time, by what they belong to.
 *
 * Things are told apart by a hash of what they are called (a line's file and
 * number, a thread's id, the frames of a pair's paths): nothing of a profile is
 * kept. Everything is bounded: figures a past, and pasts in the ring.
 */
#ifndef PIEPROFD_DAEMON_TOP_HISTORY_H
#define PIEPROFD_DAEMON_TOP_HISTORY_H

#include "daemon/report/model/profile.h"

enum top_view {
	TOP_LINES,
	TOP_FUNCTIONS,
	TOP_THREADS,
	TOP_PAIRS,
	TOP_VIEW_COUNT
};

/* Of each view, the first of the profile; what comes behind them is not shown. */
#define TOP_ENTRIES_MAX 4096
/* About one a second: enough for the recent window. */
#define TOP_HISTORY_MAX 16

struct top_figures {
	uint64_t self_ns[TIME_CLASS_COUNT]; /* of a thread, all of its time */
	uint64_t total_ns;
	uint64_t charged_ns; /* see profile_line */
	uint64_t watched[PAIR_KIND_COUNT];
	uint64_t redundant[PAIR_KIND_COUNT];
	uint64_t fresh_bytes; /* of pages that it touched first; lines and functions */
};

struct top_totals {
	uint64_t duration_ns;
	uint64_t cpu_ns;
	uint64_t samples;
	uint64_t gil_ns; /* see profile.gil_ns */
	uint64_t time_ns[TIME_CLASS_COUNT];
};

struct top_entry {
	uint64_t key;
	struct top_figures figures;
};

struct top_past {
	struct top_totals totals;
	struct top_entry *entries[TOP_VIEW_COUNT]; /* by key */
	size_t counts[TOP_VIEW_COUNT];
};

/* How many things the profile has for this view; at most TOP_ENTRIES_MAX. */
size_t top_view_count(const struct profile *profile, enum top_view view);
/* The one of that position, in the profile's own order. */
struct top_entry top_view_entry(const struct profile *profile, enum top_view view, size_t index);
/* Of a profile's line; ends in the same key as its entry in the view of lines. */
uint64_t top_line_key(const struct profile_line *line);

struct top_totals top_totals_of(const struct profile *profile);

/* past is empty or of an earlier snapshot. 0 or -ENOMEM: then it is empty. */
__attribute__((warn_unused_result)) int top_past_take(struct top_past *past,
						      const struct profile *profile);
void top_past_deinit(struct top_past *past);
/* NULL: not known then. */
const struct top_figures *top_past_find(const struct top_past *past, enum top_view view,
					uint64_t key);

/* a - b, and 0 where that would be negative; b may be NULL. */
struct top_figures top_figures_since(const struct top_figures *a, const struct top_figures *b);
struct top_totals top_totals_since(const struct top_totals *a, const struct top_totals *b);

struct top_history {
	struct top_past pasts[TOP_HISTORY_MAX];
	size_t next, count; /* of the ring */
};

void top_history_deinit(struct top_history *history);
/* Forgets all pasts. */
void top_history_clear(struct top_history *history);
/* The oldest makes room. 0 or -ENOMEM. */
__attribute__((warn_unused_result)) int top_history_add(struct top_history *history,
							const struct profile *profile);
/* The newest past at or before that moment of the session; NULL: none is that old. */
const struct top_past *top_history_at(const struct top_history *history, uint64_t duration_ns);

#endif

/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What became of the findings (finding.h) of a profile since another one: new, grown, shrunk, as
 * before, gone. A finding is the same when its line is, as the difference of the two profiles tells
 * (diff.h): edits above move it. It has grown or shrunk when what it could save has changed by more
 * than chance would have it, as a share of the CPU time and per second alike; of a slow pattern
 * alone, of which no saving is known, the time under its line.
 *
 * What is near a finding's least share may be one in one profile alone: such a one is new, or gone,
 * by chance.
 */
#ifndef PIEPROFD_DAEMON_REPORT_DIFF_FINDING_CHANGE_H
#define PIEPROFD_DAEMON_REPORT_DIFF_FINDING_CHANGE_H

#include "daemon/report/diff/diff.h"
#include "daemon/report/model/finding.h"

enum finding_change_kind {
	FINDING_NEW,
	FINDING_GROWN,
	FINDING_SHRUNK,
	FINDING_SAME,
	FINDING_GONE,
	FINDING_CHANGE_KIND_COUNT
};

struct finding_change {
	enum finding_change_kind kind;
	bool chance; /* of a new or gone one: it differs by no more */
	/* NULL: that side has none. Each is one of the list of its side. */
	const struct finding *sides[DIFF_SIDES];
	const struct diff_entry *entry; /* its line */
	bool pattern_alone;             /* no saving is known of it: its shares are of its time */
	double share[DIFF_SIDES];       /* of the CPU time: what it could save */
};

struct finding_changes {
	const struct diff *diff;
	struct findings findings[DIFF_SIDES];
	/* Those of now in their own order, then those that are gone. */
	struct finding_change items[2 * FINDINGS_MAX];
	size_t count;
};

/* The difference must outlive it. NULL: out of memory. */
struct finding_changes *finding_changes_find(const struct diff *diff);
void finding_changes_destroy(struct finding_changes *changes);

/* The finding to show: that of now, or the one that is gone. */
const struct finding *finding_change_shown(const struct finding_change *change);
enum diff_side finding_change_side(const struct finding_change *change);

/* The expression that it is about; else its line's text; else its function. The target's. */
const char *finding_change_code(const struct finding_change *change);

/* "new", "grown" ... */
const char *finding_change_name(enum finding_change_kind kind);

/* "New since the base: it could save 2% of the CPU time there." Words are ours. */
void finding_change_sentence(const struct finding_change *change, char *text, size_t size);

#endif

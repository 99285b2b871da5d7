/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What could be done better, line by line, in words and in figures: made once, here, and shown by
 * every format. A finding is a line of which enough was seen to say that it could save a worthwhile
 * share of the CPU time, or one that is written in a way known to be slow (slow_pattern.h), which
 * claims no saving; the words are ours but for names in `what`, which are the target's, as the line
 * itself is.
 */
#ifndef PIEPROFD_DAEMON_REPORT_MODEL_FINDING_H
#define PIEPROFD_DAEMON_REPORT_MODEL_FINDING_H

#include "daemon/report/model/arena.h"
#include "daemon/report/model/own_line.h"
#include "daemon/report/model/profile.h"
#include "daemon/report/model/slow_pattern.h"

#define FINDING_BYTES 1024
/* Each has at least FINDING_SHARE_MIN of time that is charged to no other line. */
#define FINDINGS_MAX 20
/* A line from which less than this share of the time could be saved is no finding. */
#define FINDING_SHARE_MIN 0.05

/* By how sure the figures are; not whether the other way to write it would be faster. */
enum finding_certainty {
	FINDING_POSSIBLE,
	FINDING_PROBABLE,
	FINDING_SURE,
	FINDING_CERTAINTY_COUNT
};

struct finding {
	const struct profile_line *line;
	/* Where that is a library's: the program's own line which calls it most (own_line.h);
	 * own.line is NULL: it is the program's own, or there is none. */
	struct own_line own;
	const struct slow_pattern *pattern; /* NULL: none that is known */
	uint64_t pattern_ns;                /* of its samples */
	enum category category;
	enum finding_certainty certainty;
	uint64_t samples; /* of the profile: how fine its shares are */
	/* Shares of all CPU time, from 0: under the line, and what it could save, which is 0 of a
	 * pattern alone. */
	double share, saving, saving_low, saving_high; /* the last two: 95% interval */
	uint64_t saving_ns, saving_low_ns, saving_high_ns;
	uint64_t support;       /* samples or accesses that speak for it: */
	bool by_arguments;      /* samples whose arguments were compared; else redundant accesses */
	const char *expression; /* its text, or the line's; NULL: it could not be read */
	const char *headline;   /* without a full stop: "one expression does the same work again" */
	char what[FINDING_BYTES];     /* a sentence on the expression; "": none */
	char evidence[FINDING_BYTES]; /* what was seen, in a sentence */
	char gain[FINDING_BYTES];     /* what it could save, in a sentence; "": not known */
	char caution[128];            /* a sentence on how little that rests on; "": it does not */
	char advice[512];             /* what to do, a sentence; "": not known, or in what */
	const char *example;          /* of what to do, in Python, in a line; NULL: none is known */
};

/*
 * The findings of a profile, what could save most first, then patterns alone, most time first; at
 * most max of them. Returns how many, or -ENOMEM. They point into the profile.
 */
int findings_find(const struct profile *profile, struct finding *findings, size_t max);

/* The same for all who write that profile, from the arena. 0 or -ENOMEM. */
__attribute__((warn_unused_result)) int findings_make(struct profile *profile, struct arena *arena);

/* Those that were made with the profile; of one that has none, now. */
struct findings {
	const struct finding *items;
	size_t count;
	struct finding *own; /* NULL: the profile's */
};

/* 0 or -ENOMEM. findings_deinit() takes either. */
int findings_of(const struct profile *profile, struct findings *ret_findings);
void findings_deinit(struct findings *findings);

/* Where to go to change it: the program's own line, if there is one. */
const struct profile_line *finding_place(const struct finding *finding);

/*
 * All of it in one line, for readers that show no more: what, gain, evidence, caution, where the
 * library's line is, advice. Names are the target's; always terminated.
 */
void finding_message(const struct finding *finding, char *text, size_t size);

/* What kind of thing it is, for machines: its category's name; of a pattern alone, the pattern's.
 */
const char *finding_rule(const struct finding *finding);

const char *finding_certainty_name(enum finding_certainty certainty); /* "possible" ... */

/* Are so many nanoseconds of the CPU time worth a finding? */
bool finding_is_worth(uint64_t saved_ns, uint64_t total_ns);

/* The line's redundant accesses, approximate ones included, as its avoidable time counts them. */
uint64_t profile_line_redundant(const struct profile_line *line);

/* Anything that was seen of the line itself speaks for its avoidable time. */
bool profile_line_has_evidence(const struct profile_line *line);

/* And enough of it for a finding; otherwise that time may be nothing. */
bool profile_line_is_supported(const struct profile_line *line);

/* For qsort() of pointers to the lines of one profile; ties keep the profile's own order. */
int profile_line_by_avoidable(const void *left, const void *right);

#endif

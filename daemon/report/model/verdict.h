/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The most important finding of a profile in words, the same in every report
 * that people read. The words are ours but for names in a line's finding, which are
 * the target's, as the line itself is.
 */
#ifndef PIEPROFD_DAEMON_REPORT_MODEL_VERDICT_H
#define PIEPROFD_DAEMON_REPORT_MODEL_VERDICT_H

#include "daemon/report/model/finding.h"
#include "daemon/report/model/profile.h"

#define VERDICT_SENTENCES_MAX  16
#define VERDICT_PLACES_MAX     8
#define VERDICT_SENTENCE_BYTES 1024

enum verdict_kind {
	VERDICT_FINDING,   /* line: from which something could be saved */
	VERDICT_PATTERN,   /* a way to write it that is known to be slow; line: where */
	VERDICT_TOO_FEW,   /* too few accesses to tell; line: about which, or the hottest one */
	VERDICT_NOTHING,   /* nothing to save stands out; line: the hottest one */
	VERDICT_TIME_ONLY, /* no access was watched; likewise */
	VERDICT_DEADLOCK,  /* threads seem to wait for each other for ever; line: NULL */
	VERDICT_WAITING,   /* threads mostly slept; line: where, if it is known */
	VERDICT_IDLE,      /* likewise, for work to do */
	VERDICT_STARVED,   /* ready to run, but mostly without a CPU; line: the hottest one */
	VERDICT_UNSAMPLED,
	VERDICT_KIND_COUNT
};

const char *verdict_kind_name(enum verdict_kind kind); /* "finding", "too-few-accesses" ... */

struct verdict {
	enum verdict_kind kind;
	const char *headline;
	uint64_t samples; /* of the profile: how fine its shares are */
	/* What it is about, a line of the profile or of a place below; NULL: no line. */
	const struct profile_line *line;
	/* Likewise, when that is a library's: the program's own line (own_line.h); NULL: none. */
	const struct profile_line *own_line;
	/* Lines to be shown, each behind so many of the sentences; in that order. */
	struct verdict_place {
		struct profile_line line;
		size_t position;
	} places[VERDICT_PLACES_MAX];
	size_t place_count;
	char sentences[VERDICT_SENTENCES_MAX][VERDICT_SENTENCE_BYTES];
	size_t sentence_count;
	int error; /* as verdict_find() returns it */
};

/* 0; -ENOMEM: something may be missing in it. */
int verdict_find(const struct profile *profile, struct verdict *ret_verdict);

/* For qsort() of pointers to the lines of one profile; ties keep the profile's own order. */
int profile_line_by_self(const void *left, const void *right);

/* Those in which threads slept, longest first, for the caller to free. NULL: no memory. */
const struct profile_line **profile_lines_by_waiting(const struct profile *profile,
						     size_t *ret_count);

#endif

/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The most important finding of a profile in words, the same in every report
 * that people read. The words are ours alone: what is the target's is the line.
 */
#ifndef PIEPROFD_DAEMON_REPORT_MODEL_VERDICT_H
#define PIEPROFD_DAEMON_REPORT_MODEL_VERDICT_H

#include "daemon/report/model/profile.h"

#define VERDICT_SENTENCES_MAX  8
#define VERDICT_SENTENCE_BYTES 512

struct verdict {
	const char *headline;
	const struct profile_line *line; /* what it is about; NULL: no line */
	/* The line is to be shown behind so many of the sentences. */
	size_t line_position;
	/* Likewise, when that is a library's: the program's own line (own_line.h); NULL: none. */
	const struct profile_line *own_line;
	size_t own_line_position;
	char sentences[VERDICT_SENTENCES_MAX][VERDICT_SENTENCE_BYTES];
	size_t sentence_count;
};

/* top_self and top_avoidable: the first lines of either order below, NULL when there are none. */
void verdict_find(const struct profile *profile, const struct profile_line *top_self,
		  const struct profile_line *top_avoidable, struct verdict *ret_verdict);

/* For qsort() of pointers to the lines of one profile; ties keep the profile's own order. */
int profile_line_by_self(const void *left, const void *right);
int profile_line_by_avoidable(const void *left, const void *right);

/* Exactly redundant, loads and stores. */
uint64_t profile_line_redundant(const struct profile_line *line);
uint64_t profile_time_sum(const uint64_t times[TIME_CLASS_COUNT]);

#endif

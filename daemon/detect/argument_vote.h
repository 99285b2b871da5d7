/* SPDX-License-Identifier: Apache-2.0 */
/* What each sample says: one site, and a verdict. */
#ifndef PIEPROFD_DAEMON_DETECT_ARGUMENT_VOTE_H
#define PIEPROFD_DAEMON_DETECT_ARGUMENT_VOTE_H

#include "daemon/detect/argument_facts.h"

struct argument_vote {
	uint32_t site; /* that it is about; the innermost one where nothing was found */
	uint8_t verdict;
	uint8_t frame; /* stack frame of the sample at the site's line */
	bool by_entry; /* for the calls of the site's function, from wherever */
	bool joined;   /* to the site, which is of another line: one fix mends both */
};

struct argument_findings {
	const struct argument_log *log;
	struct argument_vote *votes;        /* of each sample */
	struct argument_summary *summaries; /* of each site */
};

static inline void argument_summary_vote(struct argument_summary *summary,
					 enum argument_verdict verdict, uint64_t time_ns)
{
	summary->votes[verdict]++;
	summary->votes_ns[verdict] += time_ns;
}

/* Of the time of a site with this verdict, what is not needed: the first of equal calls is. */
struct saved_part argument_summary_part(const struct argument_summary *summary,
					enum argument_verdict verdict);

#endif

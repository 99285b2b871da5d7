/* SPDX-License-Identifier: Apache-2.0 */
/* What the rules of argument_rule.c share while they judge a log. */
#ifndef PIEPROFD_DAEMON_DETECT_ARGUMENT_JUDGEMENT_H
#define PIEPROFD_DAEMON_DETECT_ARGUMENT_JUDGEMENT_H

#include "daemon/cct/cct.h"
#include "daemon/detect/argument_inside.h"
#include "daemon/detect/argument_row.h"
#include "daemon/detect/argument_vote.h"

struct judgement {
	struct argument_findings *findings;
	struct argument_facts *facts;
	struct argument_inside *inside; /* of each site */
	double *potential_ns;           /* of each site: what to do away with its repeats saves */
	struct argument_rows rows;
	struct call_site_table *sites;
	const struct cct *cct;
};

static inline const struct argument_site *judgement_site(const struct judgement *judgement,
							 uint32_t id)
{
	return &judgement->findings->log->sites[id];
}

/* Of rows of calls watched: fewer say little. */
#define JUDGEMENT_ROWS_MIN 4

/* In each row of calls that was watched, some come back. */
static inline bool judgement_rows_recur(const struct argument_site *site)
{
	return site->rows >= JUDGEMENT_ROWS_MIN && site->row_recurring == site->rows;
}

/* The contents of what the frame's instruction works on were compared. */
static inline bool judgement_is_compared(const struct argument_frame *frame)
{
	return frame->flags & ARGUMENT_JUDGED && frame->flags & ARGUMENT_DATA;
}

#endif

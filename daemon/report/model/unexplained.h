/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Where to look when nothing was found: the program's own line with most time
 * (own_line.h), its libraries' included. That no waste of a known kind was seen there does not
 * say that there is no better way; all that it takes is what one could save. In 25 of 28 programs
 * that were wasteful in ways unknown to every rule, it was the guilty line, or another that
 * named the waste (docs/MEASURED.md).
 */
#ifndef PIEPROFD_DAEMON_REPORT_MODEL_UNEXPLAINED_H
#define PIEPROFD_DAEMON_REPORT_MODEL_UNEXPLAINED_H

#include "daemon/report/model/profile.h"

struct unexplained {
	const struct profile_line *line; /* NULL: there is none */
	uint64_t time_ns;                /* what it takes with its libraries */
	uint64_t most_ns;                /* that a change could save, with the loop around it */
	/* Of its time, so that it goes before lines with next to nothing: no estimate. */
	uint64_t weight_ns;
};

/* None where a line could save what a finding has to, or where nobody looked for waste. */
struct unexplained unexplained_find(const struct profile *profile);

#endif

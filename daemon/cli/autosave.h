/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Recordings (-o FILE.pieprof) that are written while sampling goes on, so
 * that a daemon that is killed leaves what was known a while ago.
 *
 * Sampling pauses while a profile is made; the waits between two grow with what
 * they cost, 1% of the time or less; the first one, which reads names, costs most.
 */
#ifndef PIEPROFD_DAEMON_CLI_AUTOSAVE_H
#define PIEPROFD_DAEMON_CLI_AUTOSAVE_H

#include "daemon/cli/options.h"
#include "daemon/session/group.h"

struct autosave {
	const struct options *options;
	struct group *group;
	uint64_t next_ns; /* since sampling began */
	bool failed;      /* said once */
};

void autosave_init(struct autosave *autosave, const struct options *options, struct group *group);

/* Writes the recordings when it is time for it; elapsed_ns: since sampling began. */
void autosave_poll(struct autosave *autosave, uint64_t elapsed_ns);

#endif

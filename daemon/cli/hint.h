/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What the reader may have meant instead, where children do the work, or may. On standard
 * error, as it is about the command, not about the target.
 */
#ifndef PIEPROFD_DAEMON_CLI_HINT_H
#define PIEPROFD_DAEMON_CLI_HINT_H

#include "common/error.h"
#include "daemon/cli/options.h"
#include "daemon/report/model/profile.h"

#include <stdio.h>

/* What the processes below a target that is profiled alone have used of the CPU meanwhile. */
struct hint_children {
	pid_t pid; /* 0: nobody asks */
	uint64_t before_ns, now_ns;
	size_t count;     /* there are now */
	uint64_t next_ns; /* when they are looked at again */
};

/* Before sampling begins. Not for profiles that have children, or several processes. */
void hint_children_begin(struct hint_children *hint, const struct options *options);
/* While it goes on, for targets that end before we do; seldom enough to cost 1% of a CPU at most.
 */
void hint_children_look(struct hint_children *hint);
/* After the profile; a last look where the target lives. */
void hint_children_tell(FILE *file, struct hint_children *hint, const struct profile_facts *facts);

/* The process asked for is no Python: the one below it that is becomes part of the error. */
void hint_python_child(const struct options *options, struct error *error);

#endif

/* SPDX-License-Identifier: Apache-2.0 */
/* Python processes by their command line and control group. */
#ifndef PIEPROFD_DAEMON_SESSION_PROCESS_SEARCH_H
#define PIEPROFD_DAEMON_SESSION_PROCESS_SEARCH_H

#include "common/pid_list.h"

#include <stdio.h>

struct process_query {
	const char *name;   /* as of name_pattern.h; NULL: any */
	const char *cgroup; /* as of attach/cgroup.h; NULL: any */
};

/*
 * Processes that run a program called python... or have a libpython, whose
 * command line, words with spaces between them, matches, and that are in the
 * cgroup; by pid, in place of what the list held. Neither we nor those that
 * started us. *ret_others, unless NULL: how many match, but are no Python. 0 or a
 * negative errno.
 */
__attribute__((warn_unused_result)) int process_search(const struct process_query *query,
						       struct pid_list *ret_found,
						       size_t *ret_others);

/* A line for each: pid and command. */
void process_search_print(FILE *file, const struct pid_list *pids);

#endif

/* SPDX-License-Identifier: Apache-2.0 */
/* Python processes by their command line and control group. */
#ifndef PIEPROFD_DAEMON_PROCESS_SEARCH_H
#define PIEPROFD_DAEMON_PROCESS_SEARCH_H

#include <stddef.h>
#include <stdio.h>
#include <sys/types.h>

struct process_query {
	const char *name;   /* extended regular expression; NULL: any */
	const char *cgroup; /* as of attach/cgroup.h; NULL: any */
};

/*
 * Processes that run a program called python... or have a libpython, whose
 * command line, words with spaces between them, matches, and that are in the
 * cgroup; at most maximum, by pid. Neither we nor those that started us.
 * *ret_others, unless NULL: how many match, but are no Python. 0 or a negative
 * errno.
 */
__attribute__((warn_unused_result)) int process_search(const struct process_query *query,
						       pid_t *pids, size_t maximum,
						       size_t *ret_count, size_t *ret_others);

/* A line for each: pid and command. */
void process_search_print(FILE *file, const pid_t *pids, size_t count);

#endif

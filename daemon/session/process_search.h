/* SPDX-License-Identifier: Apache-2.0 */
/* Python processes by their command line and control group. */
#ifndef PIEPROFD_DAEMON_SESSION_PROCESS_SEARCH_H
#define PIEPROFD_DAEMON_SESSION_PROCESS_SEARCH_H

#include "common/pid_list.h"

#include <stdbool.h>
#include <stdio.h>

struct births;
struct strangers;

struct process_query {
	const char *name;   /* as of name_pattern.h; NULL: any */
	const char *cgroup; /* as of attach/cgroup.h; NULL: any */
	/* Those for which it says true are passed over: a look at each costs. NULL: none. */
	bool (*is_known)(const void *context, pid_t pid);
	const void *context;
	/* Of the searches before this one, passed over by what they run; NULL: none. */
	struct strangers *strangers;
};

/*
 * A program called python..., or one that has a libpython: by its look, which takes
 * microseconds. False where its program may not be seen.
 */
bool process_seems_python(pid_t pid);

/* The words of its command line with spaces between them; the caller frees. NULL: none. */
char *process_command_line(pid_t pid);

/*
 * Processes that seem to run Python, whose command line matches, and that are in
 * the cgroup; by pid, in place of what the list held. Neither we nor those that
 * started us. *ret_others, unless NULL: how many match, but are no Python; those passed over apart.
 * 0 or a negative errno.
 */
__attribute__((warn_unused_result)) int process_search(const struct process_query *query,
						       struct pid_list *ret_found,
						       size_t *ret_others);

/* The same of processes that have just begun, as births.h tells them; strangers apart. */
__attribute__((warn_unused_result)) int process_search_births(const struct process_query *query,
							      struct births *births,
							      struct pid_list *ret_found);

/* A line for each: pid and command. */
void process_search_print(FILE *file, const struct pid_list *pids);

#endif

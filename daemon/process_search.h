/* SPDX-License-Identifier: Apache-2.0 */
/* Python processes by their command line. */
#ifndef PIEPROFD_DAEMON_PROCESS_SEARCH_H
#define PIEPROFD_DAEMON_PROCESS_SEARCH_H

#include <stddef.h>
#include <stdio.h>
#include <sys/types.h>

/*
 * Processes that run a program called python... or have a libpython, and whose
 * command line, words with spaces between them, matches the extended regular
 * expression; at most maximum, by pid. Neither we nor those that started us. 0
 * or a negative errno.
 */
__attribute__((warn_unused_result)) int process_search(const char *pattern, pid_t *pids,
						       size_t maximum, size_t *ret_count);

/* A line for each: pid and command. */
void process_search_print(FILE *file, const pid_t *pids, size_t count);

#endif

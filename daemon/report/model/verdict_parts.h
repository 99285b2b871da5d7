/* SPDX-License-Identifier: Apache-2.0 */
/* The verdict's halves: what CPU time is wasted on (verdict.c), and what time is spent waiting
 * for (verdict_waiting.c). */
#ifndef PIEPROFD_DAEMON_REPORT_MODEL_VERDICT_PARTS_H
#define PIEPROFD_DAEMON_REPORT_MODEL_VERDICT_PARTS_H

#include <stdbool.h>

struct profile;
struct profile_line;
struct verdict;

/* What there is no room for is left out. */
void verdict_say(struct verdict *verdict, const char *format, ...)
	__attribute__((format(printf, 2, 3)));
/* Behind the sentences so far; NULL: nothing. */
void verdict_show(struct verdict *verdict, const struct profile_line *line);

/* Behind another verdict: what could be saved of the CPU time, if a line stands out. */
void verdict_add_finding(const struct profile *profile, struct verdict *verdict);

/* The whole verdict, where threads mostly waited and that was looked at; false: it is another. */
bool verdict_find_waiting(const struct profile *profile, struct verdict *verdict);

/* To a verdict on CPU time, what its threads waited for beside. */
void verdict_add_waiting(const struct profile *profile, struct verdict *verdict);

#endif

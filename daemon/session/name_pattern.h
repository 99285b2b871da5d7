/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Regular expressions for command lines, which are hostile input, as PCRE2 reads
 * them: with bounds on what an expression and a match may take. glibc's regcomp()
 * has none: it writes repetitions out, and short expressions take minutes.
 */
#ifndef PIEPROFD_DAEMON_SESSION_NAME_PATTERN_H
#define PIEPROFD_DAEMON_SESSION_NAME_PATTERN_H

#include <stdbool.h>
#include <stddef.h>

#define NAME_PATTERN_MAX 500 /* bytes */

struct name_pattern;

/*
 * 0, or a negative errno with words for people in problem: -EINVAL: not an
 * expression, or one of more than PCRE2's 64 KiB, its repetitions written out.
 */
__attribute__((warn_unused_result)) int name_pattern_new(const char *text,
							 struct name_pattern **ret_pattern,
							 char *problem, size_t problem_size);
void name_pattern_free(struct name_pattern *pattern);

/* Whether it is found in the text; false where a million steps do not tell. */
bool name_pattern_matches(const struct name_pattern *pattern, const char *text);

#endif

/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Extended regular expressions that regcomp(3) can be given. glibc's copies
 * what is repeated, and the copies within: p++++ is 16 of p, and 30 more plus
 * signs take all of the machine's memory. It goes as deep as parentheses do.
 */
#ifndef PIEPROFD_DAEMON_SAMPLE_NAME_PATTERN_H
#define PIEPROFD_DAEMON_SAMPLE_NAME_PATTERN_H

#include <stdbool.h>

/* Characters and groups, with every repetition written out. */
#define NAME_PATTERN_MAX 500

/* Whether it stays within the limit. Whether it is a regular expression is regcomp's to say. */
bool name_pattern_fits(const char *pattern);

#endif

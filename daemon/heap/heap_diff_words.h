/* SPDX-License-Identifier: Apache-2.0 */
/* The difference of two looks at a heap in words: what changed most, and how far to trust it. */
#ifndef PIEPROFD_DAEMON_HEAP_HEAP_DIFF_WORDS_H
#define PIEPROFD_DAEMON_HEAP_HEAP_DIFF_WORDS_H

#include "daemon/heap/heap_diff.h"
#include "daemon/heap/heap_words.h"

/* Names of the target are in them as they are. */
void heap_diff_words_say(const struct heap_diff *diff, struct heap_words *ret_words);

/* From the base to now; negative: the base is the later one. False: not known. */
bool heap_diff_seconds(const struct heap_diff *diff, double *ret_seconds);

#endif

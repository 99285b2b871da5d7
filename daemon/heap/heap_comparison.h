/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Two looks at a heap compared: what changed (heap_diff.h), which of it is worth a row
 * (heap_diff_rows.h), and what it means: of what is in RAM the part that grew most, or where none
 * did, the one that shrank most.
 */
#ifndef PIEPROFD_DAEMON_HEAP_HEAP_COMPARISON_H
#define PIEPROFD_DAEMON_HEAP_HEAP_COMPARISON_H

#include "daemon/heap/heap_diff.h"

/* The files must outlive it; heap_diff_destroy() frees it. NULL: out of memory. */
struct heap_diff *heap_comparison_create(const struct heap_file *base, const struct heap_file *now);

/* The row that grew most; LESS: that shrank most. 0: none. */
uint32_t heap_comparison_first_row(const struct heap_diff *diff);

/* Where nothing grew in all, what grew to speak of all the same, as other things shrank. 0: none.
 */
uint32_t heap_comparison_hidden_row(const struct heap_diff *diff);

/* "objects", as JSON has it. */
const char *heap_comparison_kind_name(enum heap_diff_kind kind);

#endif

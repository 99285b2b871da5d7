/* SPDX-License-Identifier: Apache-2.0 */
/*
 * By which place of an array a sum is, as told by a few numbers: the first time that they are asked
 * for, they get the next place.
 */
#ifndef PIEPROFD_DAEMON_TRACE_SUM_TABLE_H
#define PIEPROFD_DAEMON_TRACE_SUM_TABLE_H

#include <stddef.h>
#include <stdint.h>

#define SUM_KEY_PARTS 5

struct sum_key {
	uint32_t parts[SUM_KEY_PARTS];
};

struct sum_table {            /* all zeros: empty */
	struct sum_key *keys; /* by place */
	size_t count, capacity;
	size_t *slots; /* places, and one more, by hash */
	size_t slot_count;
};

void sum_table_deinit(struct sum_table *table);

/* count, as it was, when the key is new. 0 or -ENOMEM. */
__attribute__((warn_unused_result)) int sum_table_find(struct sum_table *table,
						       const struct sum_key *key,
						       size_t *ret_place);

#endif

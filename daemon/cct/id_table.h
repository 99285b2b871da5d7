/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A hash table from a 64-bit hash to ids (array indices) of things that are
 * stored elsewhere. It compares hashes only; the caller compares the things:
 *
 *   size_t probe = 0;
 *   while ((id = id_table_next(&table, hash, &probe)) != ID_NONE)
 *           if (things_equal(&things[id], wanted))
 *                   return id;
 *
 * Open addressing with linear probing, at most three quarters full; nothing is
 * ever removed. An empty table is all zeros.
 */
#ifndef PIEPROFD_DAEMON_CCT_ID_TABLE_H
#define PIEPROFD_DAEMON_CCT_ID_TABLE_H

#include <stddef.h>
#include <stdint.h>

#define ID_NONE UINT32_MAX

struct id_slot {
	uint32_t hash;
	uint32_t id_plus_one; /* 0: empty */
};

struct id_table {
	struct id_slot *slots;
	size_t capacity; /* a power of two */
	size_t count;
};

void id_table_deinit(struct id_table *table);

/* Makes room for one more id: 0 or -ENOMEM. After it id_table_add cannot fail. */
__attribute__((warn_unused_result)) int id_table_reserve(struct id_table *table);
void id_table_add(struct id_table *table, uint64_t hash, uint32_t id);

/* The next id of this hash, ID_NONE at the end. *probe starts at 0. */
uint32_t id_table_next(const struct id_table *table, uint64_t hash, size_t *probe);

#endif

/* SPDX-License-Identifier: Apache-2.0 */
#include "daemon/session/member_table.h"

#include "common/array.h"
#include "common/hash.h"

#include <string.h>

void member_table_deinit(struct member_table *table)
{
	free(table->items);
	id_table_deinit(&table->index);
	*table = (struct member_table){ 0 };
}

struct member *member_table_find(const struct member_table *table, pid_t pid)
{
	uint64_t hash = hash_mix((uint64_t)pid);
	size_t probe = 0;
	uint32_t id;

	while ((id = id_table_next(&table->index, hash, &probe)) != ID_NONE)
		if (table->items[id].pid == pid && !table->items[id].gone)
			return &table->items[id];
	return NULL;
}

static void index_member(struct member_table *table, size_t at)
{
	id_table_add(&table->index, hash_mix((uint64_t)table->items[at].pid), (uint32_t)at);
}

struct member *member_table_add(struct member_table *table, const struct member *member)
{
	if (!ARRAY_ROOM(table->items, table->count, table->capacity) ||
	    id_table_reserve(&table->index))
		return NULL;
	table->items[table->count] = *member;
	index_member(table, table->count);
	return &table->items[table->count++];
}

void member_table_remove_gone(struct member_table *table)
{
	size_t kept = 0;

	for (size_t i = 0; i < table->count; i++)
		if (!table->items[i].gone)
			table->items[kept++] = table->items[i];
	if (kept == table->count)
		return;
	table->count = kept;
	/* Their places have changed; there is room for all. */
	if (table->index.capacity)
		memset(table->index.slots, 0,
		       table->index.capacity * sizeof(table->index.slots[0]));
	table->index.count = 0;
	for (size_t i = 0; i < kept; i++)
		index_member(table, i);
}

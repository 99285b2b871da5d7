/* SPDX-License-Identifier: Apache-2.0 */
#include "daemon/trace/group_table.h"

const struct rank_group *group_table_find(const struct group_table *table, uint64_t handle)
{
	for (unsigned i = 0; handle && i < table->count; i++)
		if (table->items[i].handle == handle)
			return &table->items[i];
	return NULL;
}

static void add(struct group_table *table, struct rank_group group)
{
	/* The library has used the handle anew. */
	group_table_remove(table, group.handle);
	if (table->count < GROUPS_MAX) {
		table->items[table->count++] = group;
		return;
	}
	table->items[table->oldest] = group;
	table->oldest = (table->oldest + 1) % GROUPS_MAX;
}

void group_table_add_whole(struct group_table *table, uint64_t handle, uint32_t communicator)
{
	if (handle)
		add(table, (struct rank_group){ .handle = handle,
						.communicator = communicator,
						.is_whole = true });
}

void group_table_add_some(struct group_table *table, uint64_t handle, uint64_t of,
			  const int32_t *ranks, size_t count)
{
	const struct rank_group *whole = group_table_find(table, of);
	bool ascending = count > 0 && ranks[0] >= 0;

	if (!handle)
		return;
	for (size_t i = 1; i < count && ascending; i++)
		ascending = ranks[i] > ranks[i - 1];
	if (whole && whole->is_whole && ascending)
		add(table, (struct rank_group){ .handle = handle,
						.communicator = whole->communicator,
						.first = ranks[0] });
	else
		group_table_remove(table, handle);
}

void group_table_remove(struct group_table *table, uint64_t handle)
{
	for (unsigned i = 0; i < table->count; i++)
		if (table->items[i].handle == handle) {
			table->items[i] = table->items[--table->count];
			table->oldest = 0;
			return;
		}
}

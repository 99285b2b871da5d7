/* SPDX-License-Identifier: Apache-2.0 */
#include "daemon/cct/id_table.h"

#include <errno.h>
#include <stdlib.h>

#define FIRST_CAPACITY 64

void id_table_deinit(struct id_table *table)
{
	free(table->slots);
	*table = (struct id_table){ 0 };
}

static void id_table_place(struct id_table *table, struct id_slot slot)
{
	size_t at = slot.hash & (table->capacity - 1);

	while (table->slots[at].id_plus_one)
		at = (at + 1) & (table->capacity - 1);
	table->slots[at] = slot;
}

int id_table_reserve(struct id_table *table)
{
	struct id_table larger = { 0 };

	if (table->count < table->capacity / 4 * 3)
		return 0;
	larger.capacity = table->capacity ? table->capacity * 2 : FIRST_CAPACITY;
	larger.slots = calloc(larger.capacity, sizeof(larger.slots[0]));
	if (!larger.slots)
		return -ENOMEM;
	for (size_t i = 0; i < table->capacity; i++)
		if (table->slots[i].id_plus_one)
			id_table_place(&larger, table->slots[i]);
	larger.count = table->count;
	free(table->slots);
	*table = larger;
	return 0;
}

void id_table_add(struct id_table *table, uint64_t hash, uint32_t id)
{
	id_table_place(table, (struct id_slot){ .hash = (uint32_t)hash, .id_plus_one = id + 1 });
	table->count++;
}

uint32_t id_table_next(const struct id_table *table, uint64_t hash, size_t *probe)
{
	if (!table->capacity)
		return ID_NONE;
	for (;;) {
		size_t at = ((uint32_t)hash + *probe) & (table->capacity - 1);
		const struct id_slot *slot = &table->slots[at];

		if (!slot->id_plus_one)
			return ID_NONE;
		(*probe)++;
		if (slot->hash == (uint32_t)hash)
			return slot->id_plus_one - 1;
	}
}

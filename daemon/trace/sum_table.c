/* SPDX-License-Identifier: Apache-2.0 */
#include "daemon/trace/sum_table.h"

#include "common/array.h"
#include "common/hash.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define SLOTS_FIRST 64

void sum_table_deinit(struct sum_table *table)
{
	free(table->keys);
	free(table->slots);
	*table = (struct sum_table){ 0 };
}

static size_t slot_of(const struct sum_table *table, const struct sum_key *key)
{
	size_t at = hash_bytes(key, sizeof(*key)) % table->slot_count;

	while (table->slots[at] &&
	       memcmp(&table->keys[table->slots[at] - 1], key, sizeof(*key)) != 0)
		at = (at + 1) % table->slot_count;
	return at;
}

static int grow(struct sum_table *table)
{
	struct sum_table larger = *table;

	if (2 * table->count < table->slot_count)
		return 0;
	larger.slot_count = table->slot_count ? 2 * table->slot_count : SLOTS_FIRST;
	larger.slots = calloc(larger.slot_count, sizeof(larger.slots[0]));
	if (!larger.slots)
		return -ENOMEM;
	for (size_t i = 0; i < table->count; i++)
		larger.slots[slot_of(&larger, &table->keys[i])] = i + 1;
	free(table->slots);
	*table = larger;
	return 0;
}

int sum_table_find(struct sum_table *table, const struct sum_key *key, size_t *ret_place)
{
	int error = grow(table);
	size_t slot;

	if (error)
		return error;
	slot = slot_of(table, key);
	if (!table->slots[slot]) {
		if (!ARRAY_ROOM(table->keys, table->count, table->capacity))
			return -ENOMEM;
		table->keys[table->count++] = *key;
		table->slots[slot] = table->count;
	}
	*ret_place = table->slots[slot] - 1;
	return 0;
}

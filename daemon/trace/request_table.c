/* SPDX-License-Identifier: Apache-2.0 */
#include "daemon/trace/request_table.h"

#include <stdlib.h>

#define CAPACITY_FIRST 64

void request_table_deinit(struct request_table *table)
{
	free(table->slots);
	*table = (struct request_table){ 0 };
}

static size_t home_of(const struct request_table *table, uint64_t handle)
{
	/* Handles are addresses, or numbers one behind the other: Fibonacci hashing. */
	return (size_t)(handle * 0x9e3779b97f4a7c15ull >> 20) & (table->capacity - 1);
}

struct request *request_table_find(const struct request_table *table, uint64_t handle)
{
	if (!table->count)
		return NULL;
	for (size_t at = home_of(table, handle); table->slots[at].used;
	     at = (at + 1) & (table->capacity - 1))
		if (table->slots[at].handle == handle)
			return &table->slots[at];
	return NULL;
}

static void insert(struct request_table *table, const struct request *request)
{
	size_t at = home_of(table, request->handle);

	while (table->slots[at].used)
		at = (at + 1) & (table->capacity - 1);
	table->slots[at] = *request;
	table->slots[at].used = true;
	table->count++;
}

static bool grow(struct request_table *table)
{
	struct request_table larger = { .left_out = table->left_out };

	larger.capacity = table->capacity ? 2 * table->capacity : CAPACITY_FIRST;
	larger.slots = calloc(larger.capacity, sizeof(larger.slots[0]));
	if (!larger.slots)
		return false;
	for (size_t i = 0; i < table->capacity; i++)
		if (table->slots[i].used)
			insert(&larger, &table->slots[i]);
	free(table->slots);
	*table = larger;
	return true;
}

void request_table_put(struct request_table *table, const struct request *request)
{
	struct request *known = request_table_find(table, request->handle);

	if (known) {
		*known = *request;
		known->used = true;
		return;
	}
	/* Half of it stays empty, so that searches are short. */
	if (table->count >= REQUESTS_MAX ||
	    (2 * (table->count + 1) > table->capacity && !grow(table))) {
		table->left_out++;
		return;
	}
	insert(table, request);
}

void request_table_remove(struct request_table *table, struct request *request)
{
	size_t hole = (size_t)(request - table->slots), mask = table->capacity - 1;

	table->slots[hole].used = false;
	table->count--;
	/* Those behind it that would no longer be found move up. */
	for (size_t at = (hole + 1) & mask; table->slots[at].used; at = (at + 1) & mask) {
		size_t home = home_of(table, table->slots[at].handle);

		if (((at - home) & mask) < ((at - hole) & mask))
			continue;
		table->slots[hole] = table->slots[at];
		table->slots[at].used = false;
		hole = at;
	}
}

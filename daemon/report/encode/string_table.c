/* SPDX-License-Identifier: Apache-2.0 */
#include "daemon/report/encode/string_table.h"

#include "common/array.h"
#include "common/hash.h"

#include <errno.h>
#include <string.h>

void string_table_deinit(struct string_table *table)
{
	for (size_t i = 0; i < table->count; i++)
		free(table->strings[i]);
	free(table->strings);
	id_table_deinit(&table->ids);
	*table = (struct string_table){ 0 };
}

int string_table_find(struct string_table *table, const char *text, uint32_t *ret_index)
{
	uint64_t hash = hash_mix(hash_add_string(HASH_BASIS, text));
	char *copy;
	size_t probe = 0;
	uint32_t id;

	while ((id = id_table_next(&table->ids, hash, &probe)) != ID_NONE) {
		if (strcmp(table->strings[id], text) == 0) {
			*ret_index = id;
			return 0;
		}
	}
	if (!ARRAY_ROOM(table->strings, table->count, table->capacity) ||
	    id_table_reserve(&table->ids))
		return -ENOMEM;
	copy = strdup(text);
	if (!copy)
		return -ENOMEM;
	*ret_index = (uint32_t)table->count;
	table->strings[table->count++] = copy;
	id_table_add(&table->ids, hash, *ret_index);
	return 0;
}

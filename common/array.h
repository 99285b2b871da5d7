/* SPDX-License-Identifier: Apache-2.0 */
/* Growing arrays: the caller keeps items, count and capacity. */
#ifndef PIEPROFD_COMMON_ARRAY_H
#define PIEPROFD_COMMON_ARRAY_H

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

/* The items, moved if need be, with room for one more. NULL: no memory; they are as they were. */
static inline void *array_reserve(void *items, size_t count, size_t *capacity, size_t item_size)
{
	size_t larger = *capacity ? *capacity * 2 : 16;
	void *grown;

	if (count < *capacity)
		return items;
	grown = reallocarray(items, larger, item_size);
	if (grown)
		*capacity = larger;
	return grown;
}

static inline bool array_make_room(void *items, size_t count, size_t *capacity, size_t item_size)
{
	void *grown;

	memcpy(&grown, items, sizeof(grown));
	grown = array_reserve(grown, count, capacity, item_size);
	if (grown)
		memcpy(items, &grown, sizeof(grown));
	return grown;
}

/* Whether the items, moved if need be, have room for one more. False: no memory. */
#define ARRAY_ROOM(items, count, capacity)                                                         \
	array_make_room(&(items), count, &(capacity), sizeof(*(items)))

#endif

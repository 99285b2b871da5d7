/* SPDX-License-Identifier: Apache-2.0 */
#include "pyintrospect/heap/heap_found.h"

#include "common/array.h"
#include "common/clock.h"
#include "common/hash.h"

#include <errno.h>
#include <stdlib.h>

#define SLOTS_FIRST (1u << 12)

void heap_found_deinit(struct heap_found *found)
{
	free(found->items);
	free(found->slots);
	*found = (struct heap_found){ 0 };
}

static remote_addr key_of(const struct heap_found *found, uint32_t number)
{
	return found->items[number].address + found->items[number].prefix;
}

/* Where it is, or could be. */
static size_t slot_of(const struct heap_found *found, remote_addr at)
{
	size_t slot = hash_mix(at ^ found->salt) & (found->slot_count - 1);

	while (found->slots[slot] && key_of(found, found->slots[slot] - 1) != at)
		slot = (slot + 1) & (found->slot_count - 1);
	return slot;
}

uint32_t heap_found_look(const struct heap_found *found, remote_addr at)
{
	uint32_t number = found->slot_count ? found->slots[slot_of(found, at)] : 0;

	return number ? number - 1 : HEAP_FOUND_NONE;
}

static int grow_slots(struct heap_found *found)
{
	size_t count = found->slot_count ? found->slot_count * 2 : SLOTS_FIRST;
	uint32_t *slots = calloc(count, sizeof(*slots));

	if (!slots)
		return -ENOMEM;
	if (!found->slots)
		found->salt = hash_mix(clock_now_ns() ^ (uintptr_t)slots);
	free(found->slots);
	found->slots = slots;
	found->slot_count = count;
	for (uint32_t i = 0; i < found->count; i++)
		slots[slot_of(found, key_of(found, i))] = i + 1;
	return 0;
}

int heap_found_add(struct heap_found *found, remote_addr at, uint64_t size, uint8_t prefix)
{
	if (found->count >= found->slot_count / 2 && grow_slots(found))
		return -ENOMEM;
	if (!ARRAY_ROOM(found->items, found->count, found->capacity))
		return -ENOMEM;
	found->items[found->count] =
		(struct heap_found_block){ at - prefix, size & ((1ull << 56) - 1), prefix };
	found->slots[slot_of(found, at)] = (uint32_t)++found->count;
	return 0;
}

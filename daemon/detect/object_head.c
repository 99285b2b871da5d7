/* SPDX-License-Identifier: Apache-2.0 */
#include "daemon/detect/object_head.h"

#include "common/hash.h"

#include <errno.h>

/* How far before an address its object is looked for: 16 words hold an array's header. */
#define LOOK_BACK_WORDS        16
#define HEAD_WORDS_MAX         4
#define TYPE_BASIC_SIZE_BEHIND 16 /* tp_basicsize, since Python 3.0: so far behind the head */
#define COUNT_MAX              (1ull << 40)
#define BASIC_SIZE_MAX         4096

/* ob_type */
static uint64_t type_offset(const struct target *target)
{
	return target->object_head - sizeof(remote_addr);
}

static bool plausible_pointer(remote_addr value)
{
	return value >= 4096 && value < (1ull << 47) && value % 8 == 0;
}

static remote_addr *type_slot(struct object_types *types, remote_addr address)
{
	return &types->types[(address >> 4) * HASH_GOLDEN >> 54];
}

/* Is there a type object at address? At most two reads of the target; none once it is known. */
static bool is_type_object(struct object_types *types, const struct target *target,
			   remote_addr address)
{
	remote_addr type = 0, metatype = 0;

	if (!target->type_type || !plausible_pointer(address))
		return false;
	if (address == target->type_type || *type_slot(types, address) == address)
		return true;
	if (memory_read_u64(&target->reader, address + type_offset(target), &type) ||
	    !plausible_pointer(type))
		return false;
	if (type != target->type_type &&
	    (memory_read_u64(&target->reader, type + type_offset(target), &metatype) ||
	     metatype != target->type_type))
		return false;
	*type_slot(types, address) = address;
	return true;
}

bool object_head_at(struct object_types *types, const struct target *target, remote_addr address,
		    uint32_t size)
{
	remote_addr start = address & ~7ull;
	uint64_t words[HEAD_WORDS_MAX] = { 0 };

	/* A wide access copies the whole beginning of something: not a reference count. */
	if (size > 8 || memory_read(&target->reader, start, words, target->object_head))
		return false;
	/* The word itself is a type pointer, or one that has a count and the type behind it. */
	if (is_type_object(types, target, words[0]))
		return true;
	for (size_t i = 1; i < target->object_head / sizeof(words[0]); i++)
		if (words[i - 1] < COUNT_MAX && is_type_object(types, target, words[i]))
			return true;
	return false;
}

enum memory_class object_memory_class(struct object_types *types, const struct target *target,
				      remote_addr address)
{
	uint64_t words[LOOK_BACK_WORDS];
	remote_addr start = (address & ~7ull) - (LOOK_BACK_WORDS - 1) * sizeof(uint64_t);

	if (module_find(target->modules, address))
		return MEMORY_STATIC;
	if (memory_read(&target->reader, start, words, sizeof(words)))
		return mapping_find(&target->mappings, address) ? MEMORY_HEAP : MEMORY_OTHER;
	/* words[i] as an ob_type: its object starts a head earlier, and must reach as far as
	 * address. */
	for (size_t i = LOOK_BACK_WORDS; i-- > 1;) {
		remote_addr object = start + i * sizeof(uint64_t) - type_offset(target);
		uint64_t basic_size;

		if (words[i - 1] >= COUNT_MAX || !is_type_object(types, target, words[i]))
			continue;
		if (memory_read_u64(&target->reader,
				    words[i] + target->object_head + TYPE_BASIC_SIZE_BEHIND,
				    &basic_size))
			continue;
		return basic_size <= BASIC_SIZE_MAX && address < object + basic_size ? MEMORY_OBJECT
										     : MEMORY_HEAP;
	}
	return MEMORY_HEAP;
}

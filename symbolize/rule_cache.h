/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Rules by address: 4,096 sets of two entries, a set being one cache line.
 *
 *   set: | newest {address, module, function, generation, rule} | older {...} |
 *
 * Most stacks of a program go through few places: 95 to 99 of 100 look-ups are
 * answered here. A flush raises the generation, which makes all entries stale.
 * Fixed size, 256 KB, nothing allocated after creation.
 */
#ifndef PIEPROFD_SYMBOLIZE_RULE_CACHE_H
#define PIEPROFD_SYMBOLIZE_RULE_CACHE_H

#include "common/address.h"
#include "symbolize/cfi.h"
#include "symbolize/module.h"

#define RULE_CACHE_SET_BITS 12
#define RULE_CACHE_SETS     (1u << RULE_CACHE_SET_BITS)

struct rule_cache_entry {
	remote_addr address;
	const struct module *module;
	uint32_t function_offset; /* from the function's start to address */
	uint32_t generation;      /* 0: empty */
	struct cfi_rule rule;     /* CFI_RULE_NONE: no function known either */
};

struct rule_cache_set {
	struct rule_cache_entry entries[2];
};
_Static_assert(sizeof(struct rule_cache_set) == 64, "a set is one cache line");

struct rule_cache {
	struct rule_cache_set *sets; /* aligned to cache lines */
	uint32_t generation;
};

__attribute__((warn_unused_result)) int rule_cache_init(struct rule_cache *cache);
void rule_cache_deinit(struct rule_cache *cache);
void rule_cache_flush(struct rule_cache *cache);

static inline struct rule_cache_set *rule_cache_set_of(const struct rule_cache *cache,
						       remote_addr address)
{
	/* Fibonacci hashing: the upper bits of the product depend on all lower ones. */
	return &cache->sets[(address * 0x9e3779b97f4a7c15u) >> (64 - RULE_CACHE_SET_BITS)];
}

/* Borrowed until the next insertion; NULL: not there. */
static inline const struct rule_cache_entry *rule_cache_find(const struct rule_cache *cache,
							     remote_addr address)
{
	const struct rule_cache_set *set = rule_cache_set_of(cache, address);

	for (size_t i = 0; i < 2; i++)
		if (set->entries[i].address == address &&
		    set->entries[i].generation == cache->generation)
			return &set->entries[i];
	return NULL;
}

/* Puts an entry in place of the set's older one; its generation is filled in. */
static inline const struct rule_cache_entry *rule_cache_insert(struct rule_cache *cache,
							       const struct rule_cache_entry *entry)
{
	struct rule_cache_set *set = rule_cache_set_of(cache, entry->address);

	set->entries[1] = set->entries[0];
	set->entries[0] = *entry;
	set->entries[0].generation = cache->generation;
	return &set->entries[0];
}

#endif

/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Rules by address: 2,048 sets of two rows, a set being one cache line.
 *
 *   set: | newest {start, size, module, function, rule} | older {...} |
 *
 * A row is a stretch of code with one rule: most of a function, behind its
 * prologue. It is entered under the block of code that was asked for, so that
 * the next stop in the same loop finds it, whatever the instruction.
 * Fixed size, 128 KB, nothing allocated after creation.
 */
#ifndef PIEPROFD_SYMBOLIZE_RULE_CACHE_H
#define PIEPROFD_SYMBOLIZE_RULE_CACHE_H

#include "common/address.h"
#include "common/hash.h"
#include "symbolize/cfi.h"
#include "symbolize/module.h"

#define RULE_CACHE_SET_BITS   11
#define RULE_CACHE_SETS       (1u << RULE_CACHE_SET_BITS)
#define RULE_CACHE_BLOCK_BITS 8

struct rule_cache_entry {
	remote_addr start;
	const struct module *module;
	uint32_t size;            /* 0: empty */
	uint32_t function_offset; /* from the function's start to the row's */
	struct cfi_rule rule;     /* CFI_RULE_NONE: no function known either */
};

struct rule_cache_set {
	struct rule_cache_entry entries[2];
};
_Static_assert(sizeof(struct rule_cache_set) == 64, "a set is one cache line");

struct rule_cache {
	struct rule_cache_set *sets; /* aligned to cache lines */
};

__attribute__((warn_unused_result)) int rule_cache_init(struct rule_cache *cache);
void rule_cache_deinit(struct rule_cache *cache);
void rule_cache_flush(struct rule_cache *cache);

static inline struct rule_cache_set *rule_cache_set_of(const struct rule_cache *cache,
						       remote_addr address)
{
	/* Fibonacci hashing: the upper bits of the product depend on all lower ones. */
	return &cache->sets[((address >> RULE_CACHE_BLOCK_BITS) * HASH_GOLDEN) >>
			    (64 - RULE_CACHE_SET_BITS)];
}

/* Borrowed until the next insertion; NULL: not there. */
static inline const struct rule_cache_entry *rule_cache_find(const struct rule_cache *cache,
							     remote_addr address)
{
	const struct rule_cache_set *set = rule_cache_set_of(cache, address);

	for (size_t i = 0; i < 2; i++)
		if (address - set->entries[i].start < set->entries[i].size)
			return &set->entries[i];
	return NULL;
}

/* Puts a row, in which address lies, in place of the older one under address's block. */
static inline const struct rule_cache_entry *rule_cache_insert(struct rule_cache *cache,
							       remote_addr address,
							       const struct rule_cache_entry *entry)
{
	struct rule_cache_set *set = rule_cache_set_of(cache, address);

	set->entries[1] = set->entries[0];
	set->entries[0] = *entry;
	return &set->entries[0];
}

#endif

/* SPDX-License-Identifier: Apache-2.0 */
/* Hashes for tables in memory: quick and well spread, no protection against who chooses the keys.
 */
#ifndef PIEPROFD_COMMON_HASH_H
#define PIEPROFD_COMMON_HASH_H

#include <stddef.h>
#include <stdint.h>
#include <string.h>

/* 2^64 divided by the golden ratio. */
#define HASH_GOLDEN 0x9e3779b97f4a7c15ull

/* 32 bits of a word, the upper ones of a product: each depends on all lower ones (Fibonacci
 * hashing). */
static inline uint32_t hash_word(uint64_t word)
{
	return (uint32_t)(word * HASH_GOLDEN >> 32);
}

/* One more word into a hash. */
static inline uint64_t hash_combine(uint64_t hash, uint64_t word)
{
	hash = (hash ^ word) * HASH_GOLDEN;
	return hash ^ hash >> 29;
}

/* Spreads the bits of a value: one step of splitmix64. */
static inline uint64_t hash_mix(uint64_t value)
{
	value += HASH_GOLDEN;
	value = (value ^ (value >> 30)) * 0xbf58476d1ce4e5b9ull;
	value = (value ^ (value >> 27)) * 0x94d049bb133111ebull;
	return value ^ (value >> 31);
}

/* Where FNV-1a begins. */
#define HASH_BASIS 0xcbf29ce484222325ull

/* FNV-1a: more bytes into a hash. */
static inline uint64_t hash_add_bytes(uint64_t hash, const void *bytes, size_t size)
{
	const uint8_t *at = bytes;

	for (size_t i = 0; i < size; i++)
		hash = (hash ^ at[i]) * 0x100000001b3ull;
	return hash;
}

static inline uint64_t hash_add_string(uint64_t hash, const char *string)
{
	return hash_add_bytes(hash, string, strlen(string));
}

/* Of so many bytes, folded. */
static inline uint32_t hash_bytes(const void *bytes, size_t size)
{
	uint64_t hash = hash_add_bytes(HASH_BASIS, bytes, size);

	return (uint32_t)(hash ^ hash >> 32);
}

#endif

/* SPDX-License-Identifier: Apache-2.0 */
/* A seeded generator for property tests (splitmix64): the same numbers on every machine. */
#ifndef PIEPROFD_TESTS_UNIT_UNIT_RANDOM_H
#define PIEPROFD_TESTS_UNIT_UNIT_RANDOM_H

#include <stdint.h>

struct unit_random {
	uint64_t state;
};

__attribute__((unused)) static uint64_t unit_random_next(struct unit_random *random)
{
	uint64_t value = random->state += 0x9e3779b97f4a7c15ull;

	value = (value ^ (value >> 30)) * 0xbf58476d1ce4e5b9ull;
	value = (value ^ (value >> 27)) * 0x94d049bb133111ebull;
	return value ^ (value >> 31);
}

/* From 0 to limit - 1. */
__attribute__((unused)) static uint64_t unit_random_below(struct unit_random *random,
							  uint64_t limit)
{
	return unit_random_next(random) % limit;
}

#endif

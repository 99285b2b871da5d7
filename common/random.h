/* SPDX-License-Identifier: Apache-2.0 */
/* xorshift64*: for choices that must keep step with nothing. Not for secrets. */
#ifndef PIEPROFD_COMMON_RANDOM_H
#define PIEPROFD_COMMON_RANDOM_H

#include "common/hash.h"

/* A state of any seed. */
static inline uint64_t random_seed(uint64_t seed)
{
	return hash_mix(seed) | 1;
}

/* *state must not be 0. */
static inline uint64_t random_next(uint64_t *state)
{
	*state ^= *state >> 12;
	*state ^= *state << 25;
	*state ^= *state >> 27;
	return *state * 0x2545f4914f6cdd1dull;
}

/* 0 to limit - 1; 0 for a limit of 0. */
static inline uint64_t random_below(uint64_t *state, uint64_t limit)
{
	return limit ? (random_next(state) >> 11) % limit : 0;
}

#endif

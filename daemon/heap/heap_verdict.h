/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What the growth of a heap means, as far as the looks can tell. Of what grows (objects that are
 * held, objects that nobody holds, memory of C code, free memory that stays) the one that grew
 * most decides:
 *
 *   held      at an even pace: a leak; more and more slowly, or no longer: a cache that warms up
 *   not held  garbage that waits for the collector
 *   native    a leak outside of Python, or what C code builds up
 *   free      fragmentation: more is in RAM, and no more of it is used
 *   nothing   steady, unless garbage or free memory is a good part of all
 *
 * Growth is what the middle one of the last third of looks has over that of the first: what goes
 * up and down again is none.
 */
#ifndef PIEPROFD_DAEMON_HEAP_HEAP_VERDICT_H
#define PIEPROFD_DAEMON_HEAP_HEAP_VERDICT_H

#include "daemon/heap/heap_grower.h"

#define HEAP_VERDICT_LOOKS_MIN 5

enum heap_verdict_kind {
	HEAP_VERDICT_TOO_FEW_LOOKS,
	HEAP_VERDICT_LEAK,
	HEAP_VERDICT_WARMING,
	HEAP_VERDICT_GARBAGE,
	HEAP_VERDICT_NATIVE,
	HEAP_VERDICT_FRAGMENTATION,
	HEAP_VERDICT_STEADY,
};

struct heap_verdict {
	enum heap_verdict_kind kind;
	double rss_per_s;       /* bytes; negative: less and less */
	double bytes_per_s;     /* of what decided */
	double share_of_growth; /* of that of RSS, 0 to 1; 0 also where RSS did not grow */
	bool grower_decided;    /* the first of the growers is what it is about */
	uint32_t path;          /* else the path that grew most; 0: none */
	bool stood_still;       /* WARMING: it did at the end */
	uint64_t garbage_peak;  /* bytes */
};

/* growers and paths: heap_grower.h's, those that gained most first. Pure. */
struct heap_verdict heap_verdict_find(const struct heap_growth *growth,
				      const struct heap_grower *growers, size_t grower_count,
				      const struct heap_growing_path *paths, size_t path_count);

/* "leak", as JSON has it. */
const char *heap_verdict_name(enum heap_verdict_kind kind);

#endif

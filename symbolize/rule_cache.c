/* SPDX-License-Identifier: Apache-2.0 */
#include "symbolize/rule_cache.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

int rule_cache_init(struct rule_cache *cache)
{
	size_t size = RULE_CACHE_SETS * sizeof(*cache->sets);
	struct rule_cache_set *sets = aligned_alloc(sizeof(*sets), size);

	if (!sets)
		return -ENOMEM;
	memset(sets, 0, size);
	*cache = (struct rule_cache){ .sets = sets, .generation = 1 };
	return 0;
}

void rule_cache_deinit(struct rule_cache *cache)
{
	free(cache->sets);
	*cache = (struct rule_cache){ 0 };
}

void rule_cache_flush(struct rule_cache *cache)
{
	if (++cache->generation == 0) {
		memset(cache->sets, 0, RULE_CACHE_SETS * sizeof(*cache->sets));
		cache->generation = 1;
	}
}

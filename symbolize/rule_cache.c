/* SPDX-License-Identifier: Apache-2.0 */
#include "symbolize/rule_cache.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

int rule_cache_init(struct rule_cache *cache)
{
	cache->sets = aligned_alloc(sizeof(*cache->sets), RULE_CACHE_SETS * sizeof(*cache->sets));
	if (!cache->sets)
		return -ENOMEM;
	rule_cache_flush(cache);
	return 0;
}

void rule_cache_deinit(struct rule_cache *cache)
{
	free(cache->sets);
	cache->sets = NULL;
}

void rule_cache_flush(struct rule_cache *cache)
{
	memset(cache->sets, 0, RULE_CACHE_SETS * sizeof(*cache->sets));
}

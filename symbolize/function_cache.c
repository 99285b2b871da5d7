/* SPDX-License-Identifier: Apache-2.0 */
#include "symbolize/function_cache.h"

#include <pthread.h>
#include <stdlib.h>

struct kept_list {
	struct layout_source source;
	struct function_list *list;
	uint64_t asked; /* the cache's count of questions then */
};

struct function_cache {
	pthread_mutex_t lock;
	struct kept_list lists[FUNCTION_CACHE_LISTS_MAX];
	size_t count, bytes;
	uint64_t asked;
};

struct function_cache *function_cache_create(void)
{
	struct function_cache *cache = calloc(1, sizeof(*cache));

	if (cache)
		pthread_mutex_init(&cache->lock, NULL);
	return cache;
}

void function_cache_destroy(struct function_cache *cache)
{
	if (!cache)
		return;
	for (size_t i = 0; i < cache->count; i++)
		function_list_release(cache->lists[i].list);
	pthread_mutex_destroy(&cache->lock);
	free(cache);
}

static size_t bytes_of(const struct function_list *list)
{
	return sizeof(*list) + list->count * sizeof(list->items[0]);
}

static struct kept_list *find(struct function_cache *cache, const struct layout_source *source)
{
	for (size_t i = 0; i < cache->count; i++)
		if (layout_source_same(&cache->lists[i].source, source))
			return &cache->lists[i];
	return NULL;
}

static void drop_oldest(struct function_cache *cache)
{
	size_t oldest = 0;

	for (size_t i = 1; i < cache->count; i++)
		if (cache->lists[i].asked < cache->lists[oldest].asked)
			oldest = i;
	cache->bytes -= bytes_of(cache->lists[oldest].list);
	function_list_release(cache->lists[oldest].list);
	cache->lists[oldest] = cache->lists[--cache->count];
}

struct function_list *function_cache_find(struct function_cache *cache,
					  const struct layout_source *source)
{
	struct function_list *list = NULL;
	struct kept_list *kept;

	if (!cache || !layout_source_is_known(source))
		return NULL;
	pthread_mutex_lock(&cache->lock);
	kept = find(cache, source);
	if (kept) {
		kept->asked = ++cache->asked;
		list = function_list_hold(kept->list);
	}
	pthread_mutex_unlock(&cache->lock);
	return list;
}

void function_cache_keep(struct function_cache *cache, const struct layout_source *source,
			 struct function_list *list)
{
	size_t bytes = bytes_of(list);

	if (!cache || !layout_source_is_known(source) || bytes > FUNCTION_CACHE_BYTES_MAX)
		return;
	pthread_mutex_lock(&cache->lock);
	if (!find(cache, source)) {
		while (cache->count == FUNCTION_CACHE_LISTS_MAX ||
		       cache->bytes > FUNCTION_CACHE_BYTES_MAX - bytes)
			drop_oldest(cache);
		cache->lists[cache->count++] =
			(struct kept_list){ *source, function_list_hold(list), ++cache->asked };
		cache->bytes += bytes;
	}
	pthread_mutex_unlock(&cache->lock);
}

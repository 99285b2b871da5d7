/* SPDX-License-Identifier: Apache-2.0 */
#include "symbolize/layout_cache.h"

#include "common/hash.h"
#include "symbolize/function_cache.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#define SLOTS (2 * LAYOUT_CACHE_ANSWERS_MAX)

struct kept_answer {
	char *question; /* type, NUL, member; NULL: a free slot */
	size_t size;
	struct layout_answer answer;
};

struct kept_file {
	struct layout_source source;
	struct kept_answer *slots; /* SLOTS of them, open addressing */
	size_t count;
	uint64_t asked; /* the cache's count of questions then */
};

struct layout_cache {
	pthread_mutex_t lock;
	struct function_cache *functions; /* NULL: out of memory */
	struct kept_file files[LAYOUT_CACHE_FILES_MAX];
	size_t count;
	size_t last; /* questions come in rows */
	uint64_t asked;
};

struct layout_cache *layout_cache_create(void)
{
	struct layout_cache *cache = calloc(1, sizeof(*cache));

	if (!cache)
		return NULL;
	pthread_mutex_init(&cache->lock, NULL);
	cache->functions = function_cache_create();
	return cache;
}

static void forget(struct kept_file *file)
{
	for (size_t i = 0; file->slots && i < SLOTS; i++)
		free(file->slots[i].question);
	free(file->slots);
	*file = (struct kept_file){ 0 };
}

void layout_cache_destroy(struct layout_cache *cache)
{
	if (!cache)
		return;
	for (size_t i = 0; i < cache->count; i++)
		forget(&cache->files[i]);
	function_cache_destroy(cache->functions);
	pthread_mutex_destroy(&cache->lock);
	free(cache);
}

struct function_cache *layout_cache_functions(struct layout_cache *cache)
{
	return cache ? cache->functions : NULL;
}

static struct kept_file *find_file(struct layout_cache *cache, const struct layout_source *source)
{
	for (size_t i = 0; i < cache->count; i++) {
		size_t at = (cache->last + i) % cache->count;

		if (!layout_source_same(&cache->files[at].source, source))
			continue;
		cache->last = at;
		cache->files[at].asked = ++cache->asked;
		return &cache->files[at];
	}
	return NULL;
}

/* In place of another one where there are many; NULL: out of memory. */
static struct kept_file *add_file(struct layout_cache *cache, const struct layout_source *source)
{
	struct kept_answer *slots = calloc(SLOTS, sizeof(*slots));
	size_t at = cache->count;

	if (!slots)
		return NULL;
	if (at == LAYOUT_CACHE_FILES_MAX) {
		at = 0;
		for (size_t i = 1; i < cache->count; i++)
			if (cache->files[i].asked < cache->files[at].asked)
				at = i;
		forget(&cache->files[at]);
	} else {
		cache->count++;
	}
	cache->files[at] = (struct kept_file){
		.source = *source,
		.slots = slots,
		.asked = ++cache->asked,
	};
	cache->last = at;
	return &cache->files[at];
}

/* Its bytes into the room given; 0: it is too long. */
static size_t spell(const struct layout_question *question, char room[LAYOUT_CACHE_TEXT_MAX])
{
	size_t type = strlen(question->type) + 1;
	size_t member = question->member ? strlen(question->member) + 1 : 0;

	if (type + member > LAYOUT_CACHE_TEXT_MAX)
		return 0;
	memcpy(room, question->type, type);
	if (member)
		memcpy(room + type, question->member, member);
	return type + member;
}

/* The question's place, taken or free: half of them always are. */
static struct kept_answer *find_answer_slot(const struct kept_file *file, const char *text,
					    size_t size)
{
	size_t slot = hash_bytes(text, size) % SLOTS;

	while (file->slots[slot].question && (file->slots[slot].size != size ||
					      memcmp(file->slots[slot].question, text, size) != 0))
		slot = (slot + 1) % SLOTS;
	return &file->slots[slot];
}

bool layout_cache_find(struct layout_cache *cache, const struct layout_source *source,
		       const struct layout_question *question, struct layout_answer *ret_answer)
{
	char text[LAYOUT_CACHE_TEXT_MAX];
	const struct kept_answer *kept = NULL;
	const struct kept_file *file;
	size_t size = spell(question, text);

	if (!cache || !size || !layout_source_is_known(source))
		return false;
	pthread_mutex_lock(&cache->lock);
	file = find_file(cache, source);
	if (file)
		kept = find_answer_slot(file, text, size);
	if (kept && kept->question)
		*ret_answer = kept->answer;
	else
		kept = NULL;
	pthread_mutex_unlock(&cache->lock);
	return kept != NULL;
}

static void keep(struct layout_cache *cache, const struct layout_source *source, const char *text,
		 size_t size, const struct layout_answer *answer)
{
	struct kept_file *file = find_file(cache, source);
	struct kept_answer *kept;

	if (!file)
		file = add_file(cache, source);
	if (!file || file->count == LAYOUT_CACHE_ANSWERS_MAX)
		return;
	kept = find_answer_slot(file, text, size);
	if (kept->question)
		return;
	kept->question = malloc(size);
	if (!kept->question)
		return;
	memcpy(kept->question, text, size);
	kept->size = size;
	kept->answer = *answer;
	file->count++;
}

void layout_cache_keep(struct layout_cache *cache, const struct layout_source *source,
		       const struct layout_question *question, const struct layout_answer *answer)
{
	char text[LAYOUT_CACHE_TEXT_MAX];
	size_t size = spell(question, text);

	if (!cache || !size || !layout_source_is_known(source))
		return;
	pthread_mutex_lock(&cache->lock);
	keep(cache, source, text, size, answer);
	pthread_mutex_unlock(&cache->lock);
}

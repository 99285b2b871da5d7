/* SPDX-License-Identifier: Apache-2.0 */
#include "daemon/top/holders.h"

#include "common/clock.h"
#include "daemon/heap/heap_grower.h"
#include "daemon/heap/heap_words.h"

#include <errno.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Between two looks: so long at least, and so many times the CPU time of the last one. */
#define PAUSE_NS    (5 * NS_PER_SECOND)
#define FIRST_NS    NS_PER_SECOND /* until there are enough of them */
#define REST_FACTOR 20
/* Looks without a change at the end after which a container is one that grew. */
#define STILL_LOOKS 3

struct top_holders {
	pid_t pid;
	struct impersonator *impersonator;
	struct heap_growth growth; /* the thread's alone */
	pthread_t thread;
	bool ending; /* atomic */
	/* Guarded by lock. */
	pthread_mutex_t lock;
	pthread_cond_t changed;
	struct top_growth known;
};

static bool is_ending(void *context)
{
	const struct top_holders *holders = context;

	return __atomic_load_n(&holders->ending, __ATOMIC_RELAXED);
}

/* Until that moment; true: it is time to end. */
static bool rest(struct top_holders *holders, uint64_t until_ns)
{
	struct timespec until = clock_timespec(until_ns);

	pthread_mutex_lock(&holders->lock);
	while (!is_ending(holders) && pthread_cond_clockwait(&holders->changed, &holders->lock,
							     CLOCK_MONOTONIC, &until) != ETIMEDOUT)
		;
	pthread_mutex_unlock(&holders->lock);
	return is_ending(holders);
}

static void refuse(struct top_holders *holders, const char *words)
{
	pthread_mutex_lock(&holders->lock);
	snprintf(holders->known.refusal, sizeof(holders->known.refusal), "%s", words);
	pthread_mutex_unlock(&holders->lock);
}

/* Those that grow, of what is known after a look. 0 or -ENOMEM. */
static int list(struct top_holders *holders, const struct heap_look *look,
		struct top_growth *growth)
{
	struct heap_grower *growers;
	size_t count;
	int error = heap_growers_find(&holders->growth, &look->snapshot, HEAP_GROWTH_CONTAINERS_MAX,
				      &growers, &count);

	if (error)
		return error;
	for (size_t i = 0; i < count && growth->count < TOP_HOLDERS_MAX; i++) {
		struct top_holder *holder = &growth->items[growth->count];

		if (growers[i].trend.still >= STILL_LOOKS)
			continue;
		holder->per_s = growers[i].trend.per_s;
		holder->length = growers[i].trend.last;
		heap_words_path(look, growers[i].path, holder->words, sizeof(holder->words));
		growth->count++;
	}
	free(growers);
	return 0;
}

/* 0, or -1: there are no more looks. */
static int look_once(struct top_holders *holders, struct heap_looker *looker, uint64_t *ret_next_ns)
{
	struct top_growth growth = { .next_ns = clock_now_ns() };
	struct error error;
	struct heap_look *look = heap_looker_look(looker, NULL, &error);
	uint64_t began_ns = growth.next_ns, rest_ns;
	int failure = 0;

	if (!look) {
		refuse(holders, error.cause);
		return -1;
	}
	if (look->snapshot.holders != HEAP_HOLDERS_KNOWN) {
		heap_look_destroy(look);
		refuse(holders, "a look takes as much memory as the process has, and half as "
				"much again");
		return -1;
	}
	/* One that a list slipped through while it moved says nothing of growth. */
	if (heap_growth_tear(&holders->growth, look) != HEAP_TEAR_THIS)
		failure = heap_growth_add(&holders->growth, look);
	if (!failure)
		failure = list(holders, look, &growth);
	rest_ns = holders->growth.taken < TOP_LOOKS_LEAST ? FIRST_NS : PAUSE_NS;
	if (rest_ns < REST_FACTOR * look->cpu_ns)
		rest_ns = REST_FACTOR * look->cpu_ns;
	heap_look_destroy(look);
	if (failure) {
		refuse(holders, "out of memory");
		return -1;
	}
	growth.looks = holders->growth.taken;
	growth.end_ns = clock_now_ns();
	growth.took_ns = growth.end_ns - began_ns;
	growth.next_ns = growth.end_ns + rest_ns;
	pthread_mutex_lock(&holders->lock);
	holders->known = growth;
	pthread_mutex_unlock(&holders->lock);
	*ret_next_ns = growth.next_ns;
	return 0;
}

static void *look_on(void *argument)
{
	struct top_holders *holders = argument;
	const struct heap_look_options options = { .impersonator = holders->impersonator,
						   .cancelled = is_ending,
						   .cancel_context = holders };
	uint64_t next_ns = clock_now_ns();
	struct error error;
	struct heap_looker *looker = heap_looker_create(holders->pid, &options, &error);

	if (!looker)
		refuse(holders, error.cause);
	while (looker && !rest(holders, next_ns))
		if (look_once(holders, looker, &next_ns))
			break;
	heap_looker_destroy(looker);
	return NULL;
}

struct top_holders *top_holders_create(pid_t pid, struct impersonator *impersonator)
{
	struct top_holders *holders = calloc(1, sizeof(*holders));

	if (!holders)
		return NULL;
	holders->pid = pid;
	holders->impersonator = impersonator;
	pthread_mutex_init(&holders->lock, NULL);
	pthread_cond_init(&holders->changed, NULL);
	if (!heap_growth_init(&holders->growth) &&
	    !pthread_create(&holders->thread, NULL, look_on, holders))
		return holders;
	heap_growth_deinit(&holders->growth);
	pthread_cond_destroy(&holders->changed);
	pthread_mutex_destroy(&holders->lock);
	free(holders);
	return NULL;
}

void top_holders_destroy(struct top_holders *holders)
{
	if (!holders)
		return;
	pthread_mutex_lock(&holders->lock);
	__atomic_store_n(&holders->ending, true, __ATOMIC_RELAXED);
	pthread_cond_broadcast(&holders->changed);
	pthread_mutex_unlock(&holders->lock);
	pthread_join(holders->thread, NULL);
	heap_growth_deinit(&holders->growth);
	pthread_cond_destroy(&holders->changed);
	pthread_mutex_destroy(&holders->lock);
	free(holders);
}

void top_holders_read(struct top_holders *holders, struct top_growth *ret_growth)
{
	pthread_mutex_lock(&holders->lock);
	*ret_growth = holders->known;
	pthread_mutex_unlock(&holders->lock);
}

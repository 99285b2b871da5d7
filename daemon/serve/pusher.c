/* SPDX-License-Identifier: Apache-2.0 */
#include "daemon/serve/pusher.h"

#include "common/clock.h"
#include "daemon/serve/window.h"

#include <pthread.h>
#include <stdlib.h>

/* Until something is sampled again. */
#define RETRY_NS (NS_PER_SECOND / 4)

struct pusher {
	struct sampler *sampler;
	struct push *push;
	uint64_t every_ns;
	int (*confine)(void);
	pthread_t thread;
	bool stopping;
};

static bool is_stopping(void *context)
{
	const struct pusher *pusher = context;

	return __atomic_load_n(&pusher->stopping, __ATOMIC_RELAXED);
}

static int put(const struct profile *profile, void *context)
{
	struct pusher *pusher = context;

	/* It is counted, and the next one may do better. */
	(void)push_profile(pusher->push, profile);
	return 0;
}

/* Until the sessions end, or all does. */
static void push_windows(struct pusher *pusher, struct window *window)
{
	uint64_t began_ns = clock_now_ns();

	/* One that is over is so at once. */
	while (!window_wait(window, pusher->every_ns, is_stopping, pusher) &&
	       clock_now_ns() - began_ns >= pusher->every_ns / 2 &&
	       sampler_state(pusher->sampler) == SAMPLER_RUNNING) {
		began_ns = clock_now_ns();
		if (window_renew(window, put, pusher))
			break;
	}
	(void)window_close(window, put, pusher);
}

static void *run(void *context)
{
	struct pusher *pusher = context;
	struct timespec pause = clock_timespec(RETRY_NS);
	struct window *window;

	if (pusher->confine && pusher->confine())
		return NULL;
	while (!is_stopping(pusher))
		if (!window_open(pusher->sampler, &window))
			push_windows(pusher, window);
		else
			(void)nanosleep(&pause, NULL);
	return NULL;
}

struct pusher *pusher_start(struct sampler *sampler, struct push *push, uint64_t every_ns,
			    int (*confine)(void))
{
	struct pusher *pusher = malloc(sizeof(*pusher));

	if (!pusher)
		return NULL;
	*pusher = (struct pusher){
		.sampler = sampler, .push = push, .every_ns = every_ns, .confine = confine
	};
	if (!pthread_create(&pusher->thread, NULL, run, pusher))
		return pusher;
	free(pusher);
	return NULL;
}

void pusher_stop(struct pusher *pusher)
{
	if (!pusher)
		return;
	__atomic_store_n(&pusher->stopping, true, __ATOMIC_RELAXED);
	pthread_join(pusher->thread, NULL);
	free(pusher);
}

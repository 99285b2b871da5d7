/* SPDX-License-Identifier: Apache-2.0 */
#include "daemon/serve/window.h"

#include "common/clock.h"
#include "daemon/serve/sampler_parts.h"

#include <errno.h>
#include <stdlib.h>

#define LOOK_NS (250 * NS_PER_MS) /* whether anybody still wants it */

/* A free place; NULL: none. */
static struct window **window_find_place(struct sampler *sampler)
{
	for (size_t i = 0; i < WINDOWS_MAX; i++)
		if (!sampler->windows[i])
			return &sampler->windows[i];
	return NULL;
}

static void free_window(struct window *window)
{
	profile_merge_destroy(window->merged);
	for (size_t i = 0; i < SAMPLER_SESSIONS_MAX; i++)
		session_mark_destroy(window->parts[i].mark);
	free(window);
}

static int mark_all(struct window *window)
{
	const struct sampler *sampler = window->sampler;

	window->refused = cohort_losses(sampler);
	for (size_t i = 0; i < SAMPLER_SESSIONS_MAX; i++) {
		struct window_part *part = &window->parts[i];

		if (!sampler->slots[i].session)
			continue;
		part->live = true;
		part->mark = session_mark_create(sampler->slots[i].session);
		if (!part->mark)
			return -ENOMEM;
	}
	return 0;
}

static int open_window(struct sampler *sampler, struct window **ret_window)
{
	struct window **place = window_find_place(sampler);
	struct window *window;

	if (sampler_state(sampler) != SAMPLER_RUNNING || sampler->refusing)
		return -EAGAIN;
	if (!place)
		return -EBUSY;
	window = calloc(1, sizeof(*window));
	if (!window)
		return -ENOMEM;
	window->sampler = sampler;
	if (mark_all(window)) {
		free_window(window);
		return -ENOMEM;
	}
	window->opened_ns = clock_now_ns();
	*place = window;
	*ret_window = window;
	return 0;
}

int window_open(struct sampler *sampler, struct window **ret_window)
{
	int result;

	pthread_mutex_lock(&sampler->work);
	result = open_window(sampler, ret_window);
	pthread_mutex_unlock(&sampler->work);
	return result;
}

void window_end(struct window *window)
{
	struct sampler *sampler = window->sampler;

	pthread_mutex_lock(&sampler->lock);
	window->over = true;
	pthread_cond_broadcast(&sampler->changed);
	pthread_mutex_unlock(&sampler->lock);
}

/* true: it is over. */
static bool rest_until(struct window *window, uint64_t until_ns)
{
	struct sampler *sampler = window->sampler;
	struct timespec until = clock_timespec(until_ns);
	bool over;

	pthread_mutex_lock(&sampler->lock);
	while (!window->over && pthread_cond_clockwait(&sampler->changed, &sampler->lock,
						       CLOCK_MONOTONIC, &until) != ETIMEDOUT)
		;
	over = window->over;
	pthread_mutex_unlock(&sampler->lock);
	return over;
}

int window_wait(struct window *window, uint64_t duration_ns, bool (*gone)(void *context),
		void *context)
{
	uint64_t end_ns = window->opened_ns + duration_ns, now_ns;

	while ((now_ns = clock_now_ns()) < end_ns) {
		if (gone(context))
			return -ECANCELED;
		if (rest_until(window, end_ns - now_ns < LOOK_NS ? end_ns : now_ns + LOOK_NS))
			break;
	}
	return 0;
}

/* ret_next: NULL: no window follows. */
static struct profile *make_profile(const struct window *window, size_t slot, bool all_pairs,
				    struct session_mark **ret_next)
{
	const struct session_window_options options = {
		.version = PIEPROFD_VERSION,
		.mark = window->parts[slot].mark,
		.all_pairs = all_pairs,
		.ret_next = ret_next,
	};

	return session_window(window->sampler->slots[slot].session, &options);
}

static int merge_part(struct window *window, size_t slot, struct session_mark **ret_next)
{
	struct profile *profile;
	int result = -ENOMEM;

	if (!window->merged) {
		window->merged = profile_merge_create();
		if (!window->merged)
			return -ENOMEM;
		if (!window->sampler->several)
			profile_merge_set_one_process(window->merged);
	}
	profile = make_profile(window, slot, true, ret_next);
	if (profile)
		result = profile_merge_add(window->merged, profile);
	profile_destroy(profile);
	return result;
}

void window_keep_part(struct window *window, size_t slot)
{
	struct window_part *part = &window->parts[slot];

	if (!part->live)
		return;
	if (!window->failed && merge_part(window, slot, NULL))
		window->failed = true;
	session_mark_destroy(part->mark);
	/* Live again with the session that begins there. */
	*part = (struct window_part){ 0 };
}

void window_keep_parts(struct window *window)
{
	for (size_t i = 0; i < SAMPLER_SESSIONS_MAX; i++)
		window_keep_part(window, i);
}

/* Those that were refused or came and went meanwhile. */
static void add_refused(const struct window *window, struct profile *profile)
{
	struct losses now = cohort_losses(window->sampler);

	for (size_t i = 0; i < LOSS_COUNT; i++)
		if (now.counts[i] > window->refused.counts[i])
			profile->facts.losses.counts[i] +=
				now.counts[i] - window->refused.counts[i];
}

static int put_window(struct window *window, sampler_put *put, void *context)
{
	struct profile *profile;
	int result = -ENOMEM;

	if (window->sampler->several || window->merged)
		window_keep_parts(window);
	if (window->failed)
		return -ENOMEM;
	if (!window->merged && !window->parts[0].live)
		return -EAGAIN;
	profile = window->merged ? profile_merge_build(window->merged, false)
				 : make_profile(window, 0, false, NULL);
	if (profile) {
		add_refused(window, profile);
		result = put(profile, context);
	}
	profile_destroy(profile);
	return result;
}

int window_close(struct window *window, sampler_put *put, void *context)
{
	struct sampler *sampler = window->sampler;
	int result = 0;

	pthread_mutex_lock(&sampler->work);
	if (put)
		result = put_window(window, put, context);
	for (size_t i = 0; i < WINDOWS_MAX; i++)
		if (sampler->windows[i] == window)
			sampler->windows[i] = NULL;
	pthread_mutex_unlock(&sampler->work);
	free_window(window);
	return result;
}

/* Its parts go on from where what is put ends. What it borrows from is destroyed behind it; NULL:
 * from nothing. */
static struct profile *take_window(struct window *window, struct profile_merge **ret_merged)
{
	struct sampler *sampler = window->sampler;
	bool one = !sampler->several && !window->merged;
	struct profile *profile = NULL;

	for (size_t i = 0; i < SAMPLER_SESSIONS_MAX && !window->failed; i++) {
		struct window_part *part = &window->parts[i];
		struct session_mark *next = NULL;

		if (!part->live)
			continue;
		if (one)
			profile = make_profile(window, i, false, &next);
		else
			(void)merge_part(window, i, &next);
		window->failed = !next;
		if (next) {
			session_mark_destroy(part->mark);
			part->mark = next;
		}
	}
	if (!window->failed && window->merged)
		profile = profile_merge_build(window->merged, false);
	*ret_merged = window->merged;
	window->merged = NULL;
	return profile;
}

int window_renew(struct window *window, sampler_put *put, void *context)
{
	struct sampler *sampler = window->sampler;
	struct profile_merge *merged;
	struct profile *profile;
	int result = 0;

	pthread_mutex_lock(&sampler->work);
	profile = take_window(window, &merged);
	window->opened_ns = clock_now_ns();
	if (profile) {
		add_refused(window, profile);
		window->refused = cohort_losses(sampler);
		result = put(profile, context);
	} else if (window->failed) {
		result = -ENOMEM;
	}
	profile_destroy(profile);
	profile_merge_destroy(merged);
	pthread_mutex_unlock(&sampler->work);
	return result;
}

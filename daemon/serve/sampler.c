/* SPDX-License-Identifier: Apache-2.0 */
#include "daemon/serve/sampler_parts.h"

#include "attach/procfs.h"
#include "common/clock.h"
#include "daemon/thread_times.h"

#include <errno.h>
#include <malloc.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#define COUNT_NS NS_PER_SECOND
/* A target whose tree is full at once loses samples rather than be attached to all the time. */
#define ROTATE_MIN_NS (60 * NS_PER_SECOND)
#define ROTATE_SHARE  0.75
#define RETRY_NS      (5 * NS_PER_SECOND)
#define DETACH_TRIES  10

const char *sampler_state_name(enum sampler_state state)
{
	static const char *const names[] = {
		[SAMPLER_STOPPED] = "stopped",
		[SAMPLER_RUNNING] = "sampling",
		[SAMPLER_ENDED] = "ended",
	};

	return names[state];
}

struct sampler *sampler_create(const struct sampler_options *options)
{
	struct sampler *sampler = calloc(1, sizeof(*sampler));

	if (!sampler)
		return NULL;
	sampler->options = *options;
	sampler->options.session.node_limit = SAMPLER_NODES_MAX;
	sampler->options.session.pair_limit = SAMPLER_PAIRS_MAX;
	pthread_mutex_init(&sampler->work, NULL);
	pthread_mutex_init(&sampler->lock, NULL);
	pthread_cond_init(&sampler->changed, NULL);
	pthread_cond_init(&sampler->started, NULL);
	return sampler;
}

void sampler_destroy(struct sampler *sampler)
{
	if (!sampler)
		return;
	session_destroy(sampler->session);
	pthread_cond_destroy(&sampler->started);
	pthread_cond_destroy(&sampler->changed);
	pthread_mutex_destroy(&sampler->lock);
	pthread_mutex_destroy(&sampler->work);
	free(sampler);
}

enum sampler_state sampler_state(const struct sampler *sampler)
{
	return (enum sampler_state)__atomic_load_n(&sampler->state, __ATOMIC_RELAXED);
}

static void set_state(struct sampler *sampler, enum sampler_state state)
{
	__atomic_store_n(&sampler->state, state, __ATOMIC_RELAXED);
}

/* Into past: all but sizes and the period, and what is not a count. */
static void add_counters(struct session_counters *past, const struct session_counters *more)
{
	past->samples += more->samples;
	past->lost_ns += more->lost_ns;
	past->cpu_ns += more->cpu_ns;
	past->sampled_ns += more->sampled_ns;
	for (size_t i = 0; i < LOSS_COUNT; i++)
		past->losses.counts[i] += more->losses.counts[i];
	stop_histogram_merge(&past->stops, &more->stops);
	for (size_t c = 0; c < TIME_CLASS_COUNT; c++)
		past->time_ns[c] += more->time_ns[c];
	side_time_add(&past->side, &more->side);
	past->gil_ns += more->gil_ns;
}

/* Every open window keeps what it has seen of the session, which is then at its end. */
static void keep_parts(struct sampler *sampler)
{
	for (size_t i = 0; i < WINDOWS_MAX; i++)
		if (sampler->windows[i])
			window_keep_part(sampler->windows[i]);
}

static void end_windows(struct sampler *sampler)
{
	for (size_t i = 0; i < WINDOWS_MAX; i++)
		if (sampler->windows[i])
			window_end(sampler->windows[i]);
}

static void drop_session(struct sampler *sampler)
{
	struct session_counters counters;

	if (!sampler->session)
		return;
	if (!session_count(sampler->session, &counters)) {
		/* These say how things are; the next session finds that out again. */
		counters.losses.counts[LOSS_STOP_SIGNAL_BLOCKED] = 0;
		counters.losses.counts[LOSS_THREAD_EVENTS] = 0;
		counters.losses.counts[LOSS_MEMORY_EVENTS] = 0;
		add_counters(&sampler->past, &counters);
	}
	session_destroy(sampler->session);
	sampler->session = NULL;
	/* Otherwise the heap keeps all of it. */
	malloc_trim(0);
}

/* Whether there is another process by this number now, or none. */
static bool is_gone(struct sampler *sampler)
{
	struct process_times times;

	if (procfs_read_times(sampler->options.session.pid, 0, &times))
		return true;
	if (!sampler->start_time)
		sampler->start_time = times.start_time;
	return times.start_time != sampler->start_time;
}

/* NULL with *error filled. */
static struct session *open_session(struct sampler *sampler, struct error *error)
{
	struct session *session = session_create(&sampler->options.session, error);

	if (!session || !session_start(session, error))
		return session;
	session_destroy(session);
	return NULL;
}

/*
 * A thread can be joined a moment before the kernel lets go of what it traced:
 * until then the target seems to be traced by somebody else.
 */
static struct session *open_session_again(struct sampler *sampler, struct error *error)
{
	const struct timespec pause = { .tv_nsec = 20 * (long)NS_PER_MS };
	struct session *session = open_session(sampler, error);

	for (unsigned i = 0; i < DETACH_TRIES && !session; i++) {
		(void)nanosleep(&pause, NULL);
		session = open_session(sampler, error);
	}
	return session;
}

static int begin_session(struct sampler *sampler, struct error *error)
{
	bool again = sampler->session != NULL;
	struct session *session;

	/* Who was never there is refused below, by the words for that. */
	if (is_gone(sampler) && sampler->start_time) {
		error_set(error, EXIT_NO_TARGET, "process %d has ended",
			  (int)sampler->options.session.pid);
		set_state(sampler, SAMPLER_ENDED);
		return -1;
	}
	drop_session(sampler);
	session = again ? open_session_again(sampler, error) : open_session(sampler, error);
	if (!session)
		return -1;
	sampler->session = session;
	sampler->began_ns = sampler->counted_ns = clock_now_ns();
	sampler->retry_ns = 0;
	set_state(sampler, SAMPLER_RUNNING);
	for (size_t i = 0; i < WINDOWS_MAX; i++)
		if (sampler->windows[i] && !sampler->windows[i]->over)
			sampler->windows[i]->live = true;
	return 0;
}

static int start(struct sampler *sampler, struct error *error)
{
	switch (sampler_state(sampler)) {
	case SAMPLER_ENDED:
		error_set(error, EXIT_NO_TARGET, "process %d has ended",
			  (int)sampler->options.session.pid);
		return -1;
	case SAMPLER_STOPPED:
		return begin_session(sampler, error);
	case SAMPLER_RUNNING:
		break;
	}
	return 0;
}

int sampler_start(struct sampler *sampler, struct error *error)
{
	int result;

	pthread_mutex_lock(&sampler->work);
	result = start(sampler, error);
	pthread_mutex_unlock(&sampler->work);
	return result;
}

int sampler_start_later(struct sampler *sampler, struct error *error)
{
	int result = 0;

	pthread_mutex_lock(&sampler->work);
	/* Starts, or says why not. */
	sampler->start_wanted = true;
	while (sampler->start_wanted && !sampler->refusing)
		pthread_cond_wait(&sampler->started, &sampler->work);
	if (sampler->start_wanted) {
		error_set(error, EXIT_INTERNAL, "pieprofd is about to end");
		result = -1;
	} else if (sampler->start_failed) {
		*error = sampler->start_error;
		result = -1;
	}
	pthread_mutex_unlock(&sampler->work);
	return result;
}

/* The session goes no further, but can be read. */
static void end_session(struct sampler *sampler, enum sampler_state state)
{
	session_finish(sampler->session);
	set_state(sampler, state);
	keep_parts(sampler);
	end_windows(sampler);
}

void sampler_stop(struct sampler *sampler)
{
	pthread_mutex_lock(&sampler->work);
	sampler->retry_ns = 0;
	if (sampler_state(sampler) == SAMPLER_RUNNING)
		end_session(sampler, SAMPLER_STOPPED);
	pthread_mutex_unlock(&sampler->work);
}

void sampler_refuse(struct sampler *sampler)
{
	pthread_mutex_lock(&sampler->work);
	sampler->refusing = true;
	pthread_cond_broadcast(&sampler->started);
	end_windows(sampler);
	pthread_mutex_unlock(&sampler->work);
}

static bool is_full(const struct session_counters *counters)
{
	return (double)counters->nodes > ROTATE_SHARE * SAMPLER_NODES_MAX ||
	       (double)counters->pairs > ROTATE_SHARE * SAMPLER_PAIRS_MAX ||
	       (double)counters->origins > ROTATE_SHARE * SAMPLER_PAIRS_MAX ||
	       (double)counters->threads > ROTATE_SHARE * THREAD_TIMES_MAX;
}

static bool is_due(struct sampler *sampler, uint64_t now_ns)
{
	uint64_t age_ns = now_ns - sampler->began_ns;
	struct session_counters counters;

	if (sampler->options.rotate_ns && age_ns >= sampler->options.rotate_ns)
		return true;
	if (age_ns < ROTATE_MIN_NS || now_ns - sampler->counted_ns < COUNT_NS)
		return false;
	sampler->counted_ns = now_ns;
	return !session_count(sampler->session, &counters) && is_full(&counters);
}

static void begin_again(struct sampler *sampler, char *notice, size_t size)
{
	struct error error;

	if (!begin_session(sampler, &error))
		return;
	end_windows(sampler);
	if (sampler_state(sampler) == SAMPLER_ENDED)
		return;
	set_state(sampler, SAMPLER_STOPPED);
	sampler->retry_ns = clock_now_ns() + RETRY_NS;
	snprintf(notice, size, "sampling has stopped, and is tried again in %llu s: %s",
		 RETRY_NS / NS_PER_SECOND, error.cause);
}

static void rotate(struct sampler *sampler, char *notice, size_t size)
{
	session_finish(sampler->session);
	keep_parts(sampler);
	sampler->rotations++;
	begin_again(sampler, notice, size);
}

void sampler_poll(struct sampler *sampler, char *notice, size_t size)
{
	uint64_t now_ns;

	*notice = '\0';
	pthread_mutex_lock(&sampler->work);
	if (sampler->start_wanted) {
		sampler->start_failed = start(sampler, &sampler->start_error) != 0;
		sampler->start_wanted = false;
		pthread_cond_broadcast(&sampler->started);
	}
	/* Not before the session's begin. */
	now_ns = clock_now_ns();
	if (sampler_state(sampler) == SAMPLER_RUNNING) {
		if (!session_progress(sampler->session).running)
			end_session(sampler, SAMPLER_ENDED);
		else if (is_due(sampler, now_ns))
			rotate(sampler, notice, size);
	} else if (sampler->retry_ns && now_ns >= sampler->retry_ns) {
		begin_again(sampler, notice, size);
	}
	pthread_mutex_unlock(&sampler->work);
}

void sampler_copy_notes(struct sampler *sampler, char *notes, size_t size)
{
	pthread_mutex_lock(&sampler->work);
	snprintf(notes, size, "%s", sampler->session ? session_notes(sampler->session) : "");
	pthread_mutex_unlock(&sampler->work);
}

int sampler_count(struct sampler *sampler, struct sampler_counters *ret_counters)
{
	struct session_counters now = { 0 };
	int error = 0;

	pthread_mutex_lock(&sampler->work);
	if (sampler->session)
		error = session_count(sampler->session, &now);
	*ret_counters = (struct sampler_counters){
		.all = sampler->past,
		.rotations = sampler->rotations,
	};
	add_counters(&ret_counters->all, &now);
	ret_counters->all.period_ns = now.period_ns;
	ret_counters->all.nodes = now.nodes;
	ret_counters->all.pairs = now.pairs;
	ret_counters->all.threads = now.threads;
	if (sampler_state(sampler) == SAMPLER_RUNNING)
		ret_counters->session_ns = clock_now_ns() - sampler->began_ns;
	for (size_t i = 0; i < WINDOWS_MAX; i++)
		ret_counters->windows += sampler->windows[i] != NULL;
	pthread_mutex_unlock(&sampler->work);
	return error;
}

int sampler_write(struct sampler *sampler, sampler_put *put, void *context)
{
	const struct session_window_options options = {
		.version = PIEPROFD_VERSION,
		.source = true,
	};
	struct profile *profile = NULL;
	int result = -EAGAIN;

	pthread_mutex_lock(&sampler->work);
	if (sampler->session) {
		profile = session_window(sampler->session, &options);
		result = profile ? put(profile, context) : -ENOMEM;
	}
	profile_destroy(profile);
	pthread_mutex_unlock(&sampler->work);
	return result;
}

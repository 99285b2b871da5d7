/* SPDX-License-Identifier: Apache-2.0 */
#include "daemon/serve/sampler.h"

#include "attach/procfs.h"
#include "common/clock.h"
#include "daemon/sample/thread_times.h"
#include "daemon/serve/sampler_parts.h"

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
		[SAMPLER_WAITING] = "waiting",
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
	sampler->several = options->several;
	sampler->options.session.node_limit =
		options->several ? SAMPLER_NODES_OF_EACH : SAMPLER_NODES_MAX;
	sampler->options.session.pair_limit =
		options->several ? SAMPLER_PAIRS_OF_EACH : SAMPLER_PAIRS_MAX;
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
	if (sampler->several)
		cohort_destroy(sampler);
	else
		session_destroy(sampler->slots[0].session);
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

void sampler_set_state(struct sampler *sampler, enum sampler_state state)
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
	past->user_ns += more->user_ns;
	side_time_add(&past->side, &more->side);
	past->gil_ns += more->gil_ns;
}

/* What a session has counted; what says how things are, the next session finds out again. */
static void keep_counters(struct sampler *sampler, struct session *session)
{
	struct session_counters counters;

	if (session_count(session, &counters))
		return;
	counters.losses.counts[LOSS_STOP_SIGNAL_BLOCKED] = 0;
	counters.losses.counts[LOSS_THREAD_EVENTS] = 0;
	counters.losses.counts[LOSS_MEMORY_EVENTS] = 0;
	add_counters(&sampler->past, &counters);
}

void slot_begin(struct sampler *sampler, size_t slot, struct session *session)
{
	uint64_t now_ns = clock_now_ns();

	sampler->slots[slot] = (struct slot){ session, now_ns, now_ns };
	sampler->sessions_begun++;
	for (size_t i = 0; i < WINDOWS_MAX; i++)
		if (sampler->windows[i] && !sampler->windows[i]->over)
			sampler->windows[i]->parts[slot].live = true;
}

void slot_end(struct sampler *sampler, size_t slot)
{
	struct session *session = sampler->slots[slot].session;

	if (!session)
		return;
	for (size_t i = 0; i < WINDOWS_MAX; i++)
		if (sampler->windows[i])
			window_keep_part(sampler->windows[i], slot);
	keep_counters(sampler, session);
	sampler->slots[slot] = (struct slot){ 0 };
}

void windows_end(struct sampler *sampler)
{
	for (size_t i = 0; i < WINDOWS_MAX; i++)
		if (sampler->windows[i])
			window_end(sampler->windows[i]);
}

static void drop_session(struct sampler *sampler)
{
	struct session *session = sampler->slots[0].session;

	slot_end(sampler, 0);
	session_destroy(session);
	/* Otherwise the heap keeps all of it. */
	if (session)
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
	bool again = sampler->slots[0].session != NULL;
	struct session *session;

	/* session_create() reports a pid that never existed. */
	if (is_gone(sampler) && sampler->start_time) {
		error_set(error, EXIT_NO_TARGET, "process %d has ended",
			  (int)sampler->options.session.pid);
		sampler_set_state(sampler, SAMPLER_ENDED);
		return -1;
	}
	drop_session(sampler);
	session = again ? open_session_again(sampler, error) : open_session(sampler, error);
	if (!session)
		return -1;
	sampler->retry_ns = 0;
	slot_begin(sampler, 0, session);
	sampler_set_state(sampler, SAMPLER_RUNNING);
	return 0;
}

static int begin(struct sampler *sampler, struct error *error)
{
	enum sampler_state state = sampler_state(sampler);

	if (state == SAMPLER_RUNNING || state == SAMPLER_WAITING)
		return 0;
	if (state == SAMPLER_STOPPED)
		return sampler->several ? cohort_begin(sampler, error)
					: begin_session(sampler, error);
	if (sampler->several)
		error_set(error, EXIT_NO_TARGET, "the processes have ended");
	else
		error_set(error, EXIT_NO_TARGET, "process %d has ended",
			  (int)sampler->options.session.pid);
	return -1;
}

int sampler_start(struct sampler *sampler, struct error *error)
{
	int result;

	pthread_mutex_lock(&sampler->work);
	result = begin(sampler, error);
	pthread_mutex_unlock(&sampler->work);
	return result;
}

int sampler_ask_start(struct sampler *sampler, struct error *error)
{
	uint64_t ticket;
	int result = -1;

	error_set(error, EXIT_INTERNAL, "pieprofd is about to end");
	pthread_mutex_lock(&sampler->work);
	ticket = ++sampler->starts_wanted;
	while (sampler->starts_done < ticket && !sampler->refusing)
		pthread_cond_wait(&sampler->started, &sampler->work);
	if (sampler->starts_done >= ticket) {
		result = sampler->start_result;
		*error = sampler->start_error;
	}
	pthread_mutex_unlock(&sampler->work);
	return result;
}

static void answer_starts(struct sampler *sampler)
{
	if (sampler->starts_done == sampler->starts_wanted)
		return;
	memset(&sampler->start_error, 0, sizeof(sampler->start_error));
	sampler->start_result = begin(sampler, &sampler->start_error);
	sampler->starts_done = sampler->starts_wanted;
	pthread_cond_broadcast(&sampler->started);
}

/* The session goes no further, but can be read. */
static void sampler_end_session(struct sampler *sampler, enum sampler_state state)
{
	session_finish(sampler->slots[0].session);
	sampler_set_state(sampler, state);
	for (size_t i = 0; i < WINDOWS_MAX; i++)
		if (sampler->windows[i])
			window_keep_parts(sampler->windows[i]);
	windows_end(sampler);
}

void sampler_stop(struct sampler *sampler)
{
	pthread_mutex_lock(&sampler->work);
	sampler->retry_ns = 0;
	if (sampler_state(sampler) == SAMPLER_RUNNING ||
	    sampler_state(sampler) == SAMPLER_WAITING) {
		if (sampler->several)
			cohort_stop(sampler);
		else
			sampler_end_session(sampler, SAMPLER_STOPPED);
	}
	pthread_mutex_unlock(&sampler->work);
}

void sampler_refuse(struct sampler *sampler)
{
	pthread_mutex_lock(&sampler->work);
	sampler->refusing = true;
	pthread_cond_broadcast(&sampler->started);
	windows_end(sampler);
	pthread_mutex_unlock(&sampler->work);
}

bool sampler_is_nearly_full(const struct session_options *limits,
			    const struct session_counters *counters)
{
	double nodes = ROTATE_SHARE * (double)limits->node_limit;
	double pairs = ROTATE_SHARE * (double)limits->pair_limit;

	return (double)counters->nodes > nodes || (double)counters->pairs > pairs ||
	       (double)counters->origins > pairs ||
	       (double)counters->threads > ROTATE_SHARE * THREAD_TIMES_MAX;
}

bool slot_is_due(const struct sampler *sampler, struct slot *slot, uint64_t now_ns)
{
	uint64_t age_ns = now_ns - slot->began_ns;
	struct session_counters counters;

	if (sampler->options.rotate_ns && age_ns >= sampler->options.rotate_ns)
		return true;
	if (age_ns < ROTATE_MIN_NS || now_ns - slot->counted_ns < COUNT_NS)
		return false;
	slot->counted_ns = now_ns;
	return !session_count(slot->session, &counters) &&
	       sampler_is_nearly_full(&sampler->options.session, &counters);
}

static void begin_again(struct sampler *sampler, char *notice, size_t size)
{
	struct error error;

	if (!begin_session(sampler, &error))
		return;
	windows_end(sampler);
	if (sampler_state(sampler) == SAMPLER_ENDED)
		return;
	sampler_set_state(sampler, SAMPLER_STOPPED);
	sampler->retry_ns = clock_now_ns() + RETRY_NS;
	snprintf(notice, size, "sampling has stopped, and is tried again in %llu s: %s",
		 RETRY_NS / NS_PER_SECOND, error.cause);
}

static void sampler_rotate(struct sampler *sampler, char *notice, size_t size)
{
	session_finish(sampler->slots[0].session);
	sampler->rotations++;
	begin_again(sampler, notice, size);
}

static void poll_session(struct sampler *sampler, uint64_t now_ns, char *notice, size_t size)
{
	struct slot *slot = &sampler->slots[0];

	if (sampler_state(sampler) == SAMPLER_RUNNING) {
		if (!session_progress(slot->session).running)
			sampler_end_session(sampler, SAMPLER_ENDED);
		else if (slot_is_due(sampler, slot, now_ns))
			sampler_rotate(sampler, notice, size);
	} else if (sampler->retry_ns && now_ns >= sampler->retry_ns) {
		begin_again(sampler, notice, size);
	}
}

void sampler_poll(struct sampler *sampler, char *notice, size_t size)
{
	uint64_t now_ns;

	*notice = '\0';
	pthread_mutex_lock(&sampler->work);
	answer_starts(sampler);
	/* Not before a session that has begun just now. */
	now_ns = clock_now_ns();
	if (sampler->several)
		cohort_poll(sampler, now_ns, notice, size);
	else
		poll_session(sampler, now_ns, notice, size);
	pthread_mutex_unlock(&sampler->work);
}

void sampler_copy_notes(struct sampler *sampler, char *notes, size_t size)
{
	const struct session *session;

	pthread_mutex_lock(&sampler->work);
	session = sampler->slots[0].session;
	if (sampler->several)
		cohort_copy_notes(sampler, notes, size);
	else
		snprintf(notes, size, "%s", session ? session_notes(session) : "");
	pthread_mutex_unlock(&sampler->work);
}

/* Of a process that is sampled now. */
static void count_container(struct sampler_counters *counters,
			    const struct profile_container *container)
{
	size_t i = 0;

	if (!container->id[0])
		return;
	while (i < counters->container_count &&
	       (strcmp(counters->containers[i].container.id, container->id) != 0 ||
		strcmp(counters->containers[i].container.name, container->name) != 0 ||
		strcmp(counters->containers[i].container.runtime, container->runtime) != 0))
		i++;
	if (i == counters->container_count)
		counters->containers[counters->container_count++].container = *container;
	counters->containers[i].processes++;
}

static bool same_labels(const struct process_labels *a, const struct process_labels *b)
{
	return !strcmp(a->service, b->service) && !strcmp(a->version, b->version) &&
	       !strcmp(a->revision, b->revision) && !strcmp(a->namespace, b->namespace) &&
	       !strcmp(a->pod, b->pod);
}

static void count_service(struct sampler_counters *counters, const struct process_labels *labels)
{
	const struct process_labels unknown = { .service = "" };
	size_t i = 0;

	if (same_labels(labels, &unknown))
		return;
	while (i < counters->service_count && !same_labels(&counters->services[i].labels, labels))
		i++;
	if (i == counters->service_count)
		counters->services[counters->service_count++].labels = *labels;
	counters->services[i].processes++;
}

/* Of the session in a slot, into all. */
static int count_slot(const struct slot *slot, struct sampler_counters *counters)
{
	struct session_counters now;
	uint64_t age_ns = clock_now_ns() - slot->began_ns;
	int error = session_count(slot->session, &now);

	if (error)
		return error;
	add_counters(&counters->all, &now);
	if (now.period_ns > counters->all.period_ns)
		counters->all.period_ns = now.period_ns;
	counters->all.nodes += now.nodes;
	counters->all.pairs += now.pairs;
	counters->all.threads += now.threads;
	if (!session_progress(slot->session).running)
		return 0;
	counters->processes++;
	count_container(counters, session_container(slot->session));
	count_service(counters, session_labels(slot->session));
	if (age_ns > counters->session_ns)
		counters->session_ns = age_ns;
	return 0;
}

static int count_all(const struct sampler *sampler, struct sampler_counters *counters)
{
	size_t places = sampler->several ? SAMPLER_SESSIONS_MAX : 1;
	struct losses refused = cohort_losses(sampler);
	int error = 0;

	*counters = (struct sampler_counters){
		.all = sampler->past,
		.rotations = sampler->rotations,
		.sessions_begun = sampler->sessions_begun,
		.sessions_limit = places,
		.nodes_limit = places * sampler->options.session.node_limit,
		.pairs_limit = places * sampler->options.session.pair_limit,
	};
	for (size_t i = 0; i < places && !error; i++)
		if (sampler->slots[i].session)
			error = count_slot(&sampler->slots[i], counters);
	for (size_t i = 0; i < LOSS_COUNT; i++)
		counters->all.losses.counts[i] += refused.counts[i];
	cohort_count(sampler, counters);
	for (size_t i = 0; i < WINDOWS_MAX; i++)
		counters->windows += sampler->windows[i] != NULL;
	return error;
}

int sampler_count(struct sampler *sampler, struct sampler_counters *ret_counters)
{
	int error;

	pthread_mutex_lock(&sampler->work);
	error = count_all(sampler, ret_counters);
	pthread_mutex_unlock(&sampler->work);
	return error;
}

size_t sampler_processes(struct sampler *sampler, pid_t ret_pids[SAMPLER_SESSIONS_MAX])
{
	size_t count = 0;

	pthread_mutex_lock(&sampler->work);
	for (size_t i = 0; i < SAMPLER_SESSIONS_MAX; i++) {
		struct session *session = sampler->slots[i].session;

		if (session && session_progress(session).running)
			ret_pids[count++] = session_pid(session);
	}
	pthread_mutex_unlock(&sampler->work);
	return count;
}

bool sampler_is_of_several(const struct sampler *sampler)
{
	return sampler->several;
}

/* NULL with *ret_error: why. */
static struct profile *merge_sessions(const struct sampler *sampler, struct profile_merge *merge,
				      int *ret_error)
{
	const struct session_window_options options = {
		.version = PIEPROFD_VERSION,
		.all_pairs = true,
		.source = true,
	};
	struct profile *profile;
	bool any = false;

	*ret_error = -ENOMEM;
	for (size_t i = 0; i < SAMPLER_SESSIONS_MAX; i++) {
		int error;

		if (!sampler->slots[i].session)
			continue;
		profile = session_window(sampler->slots[i].session, &options);
		error = profile ? profile_merge_add(merge, profile) : -ENOMEM;
		profile_destroy(profile);
		if (error)
			return NULL;
		any = true;
	}
	if (!any)
		*ret_error = -EAGAIN;
	return any ? profile_merge_build(merge, false) : NULL;
}

static int write_several(const struct sampler *sampler, sampler_put *put, void *context)
{
	struct profile_merge *merge = profile_merge_create();
	struct profile *profile;
	int result = -ENOMEM;

	if (!merge)
		return -ENOMEM;
	profile = merge_sessions(sampler, merge, &result);
	if (profile)
		result = put(profile, context);
	profile_destroy(profile);
	profile_merge_destroy(merge);
	return result;
}

static int write_session(struct session *session, sampler_put *put, void *context)
{
	const struct session_window_options options = {
		.version = PIEPROFD_VERSION,
		.source = true,
	};
	struct profile *profile;
	int result;

	if (!session)
		return -EAGAIN;
	profile = session_window(session, &options);
	result = profile ? put(profile, context) : -ENOMEM;
	profile_destroy(profile);
	return result;
}

int sampler_write(struct sampler *sampler, sampler_put *put, void *context)
{
	int result;

	pthread_mutex_lock(&sampler->work);
	result = sampler->several ? write_several(sampler, put, context)
				  : write_session(sampler->slots[0].session, put, context);
	pthread_mutex_unlock(&sampler->work);
	return result;
}

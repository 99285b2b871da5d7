/* SPDX-License-Identifier: Apache-2.0 */
#include "daemon/serve/heap_looks.h"

#include "daemon/heap/heap_pprof.h"

#include <errno.h>
#include <malloc.h>
#include <pthread.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

struct heap_looks {
	uint64_t memory_bytes;
	struct impersonator *impersonator;
	bool refusing; /* atomic */
	/* Guards what follows; never held for long. */
	pthread_mutex_t lock;
	bool busy;
	uint64_t not_before_ns;
	struct heap_looks_counters counters;
};

/* One request's. */
struct looking {
	struct heap_looks *looks;
	const struct heap_asker *asker;
	uint64_t began_ns;
	struct heap_pprof pprof;
	size_t processes;
	struct heap_regions regions;
};

struct heap_looks *heap_looks_create(uint64_t memory_bytes, struct impersonator *impersonator)
{
	struct heap_looks *looks = calloc(1, sizeof(*looks));

	if (!looks)
		return NULL;
	looks->memory_bytes = memory_bytes;
	looks->impersonator = impersonator;
	pthread_mutex_init(&looks->lock, NULL);
	return looks;
}

void heap_looks_destroy(struct heap_looks *looks)
{
	if (!looks)
		return;
	pthread_mutex_destroy(&looks->lock);
	free(looks);
}

void heap_looks_refuse(struct heap_looks *looks)
{
	__atomic_store_n(&looks->refusing, true, __ATOMIC_RELAXED);
}

struct heap_looks_counters heap_looks_count(struct heap_looks *looks)
{
	struct heap_looks_counters counters;

	pthread_mutex_lock(&looks->lock);
	counters = looks->counters;
	pthread_mutex_unlock(&looks->lock);
	return counters;
}

__attribute__((format(printf, 4, 5))) static int refuse(struct heap_refusal *refusal,
							unsigned status, unsigned retry_s,
							const char *format, ...)
{
	va_list arguments;

	refusal->status = status;
	refusal->retry_s = retry_s;
	va_start(arguments, format);
	vsnprintf(refusal->words, sizeof(refusal->words), format, arguments);
	va_end(arguments);
	return -1;
}

/* ---- whether and when */

static bool is_ending(const struct heap_looks *looks)
{
	return __atomic_load_n(&looks->refusing, __ATOMIC_RELAXED);
}

static bool is_late(const struct looking *looking)
{
	return clock_now_ns() - looking->began_ns > HEAP_LOOKS_NS_MAX;
}

static bool is_cancelled(void *context)
{
	const struct looking *looking = context;

	return is_ending(looking->looks) || is_late(looking) ||
	       looking->asker->gone(looking->asker->context);
}

/* With the lock held. */
static int begin(struct heap_looks *looks, uint64_t now_ns, struct heap_refusal *refusal)
{
	uint64_t pause_ns = now_ns < looks->not_before_ns ? looks->not_before_ns - now_ns : 0;
	unsigned pause_s = (unsigned)(pause_ns / NS_PER_SECOND) + 1;

	if (is_ending(looks))
		return refuse(refusal, 503, 0, "the server ends");
	if (looks->busy)
		return refuse(refusal, 503, 5,
			      "a look at the heap is under way: there is one at a time");
	if (pause_ns)
		return refuse(refusal, 429, pause_s,
			      "looks at the heap take a tenth of a processor at most: try again in "
			      "%u s",
			      pause_s);
	looks->busy = true;
	return 0;
}

static void end(struct heap_looks *looks, const struct looking *looking, bool done)
{
	uint64_t now_ns = clock_now_ns(), duration_ns = now_ns - looking->began_ns;
	uint64_t pause_ns = HEAP_LOOKS_PAUSE * duration_ns;

	pthread_mutex_lock(&looks->lock);
	looks->busy = false;
	looks->not_before_ns =
		now_ns + (pause_ns > HEAP_LOOKS_PAUSE_NS ? pause_ns : HEAP_LOOKS_PAUSE_NS);
	if (done) {
		looks->counters.done++;
		looks->counters.done_ns = now_ns;
		looks->counters.duration_ns = duration_ns;
		looks->counters.processes = looking->processes;
		looks->counters.regions = looking->regions;
	} else {
		looks->counters.failed++;
	}
	pthread_mutex_unlock(&looks->lock);
}

/* ---- a look */

static void add_regions(struct heap_regions *sum, const struct heap_regions *more)
{
	sum->rss_bytes += more->rss_bytes;
	sum->objects_bytes += more->objects_bytes;
	sum->pool_free_bytes += more->pool_free_bytes;
	sum->malloc_held_bytes += more->malloc_held_bytes;
	sum->malloc_unheld_bytes += more->malloc_unheld_bytes;
	sum->free_bytes += more->free_bytes;
	sum->libraries_bytes += more->libraries_bytes;
	sum->stacks_bytes += more->stacks_bytes;
	sum->other_bytes += more->other_bytes;
}

static int look_at(struct looking *looking, pid_t pid, struct error *error)
{
	const struct heap_look_options options = {
		.memory_bytes = looking->looks->memory_bytes,
		.memory_most = HEAP_LOOKS_MEMORY_MAX,
		.impersonator = looking->looks->impersonator,
		.cancelled = is_cancelled,
		.cancel_context = looking,
	};
	struct heap_look *look = heap_look_take(pid, &options, error);

	if (!look)
		return -1;
	heap_pprof_add(&looking->pprof, look);
	add_regions(&looking->regions, &look->snapshot.regions);
	looking->processes++;
	heap_look_destroy(look);
	return 0;
}

static int explain(const struct looking *looking, const struct error *error,
		   struct heap_refusal *refusal)
{
	unsigned status = error->exit_code == EXIT_NO_TARGET            ? 503
			  : error->exit_code == EXIT_UNSUPPORTED_PYTHON ? 501
									: 500;

	if (is_ending(looking->looks))
		return refuse(refusal, 503, 0, "the server ends");
	if (is_late(looking))
		return refuse(refusal, 503, 0, "a look at the heap took more than %llu s",
			      (unsigned long long)(HEAP_LOOKS_NS_MAX / NS_PER_SECOND));
	if (looking->asker->gone(looking->asker->context))
		return refuse(refusal, 0, 0, "nobody waits for it");
	return refuse(refusal, status, 0, "%s%s%s", error->cause, error->cure[0] ? "\n" : "",
		      error->cure);
}

/* Those that can be looked at: of several, what is wrong with the others is a comment. */
static int look_at_all(struct looking *looking, const pid_t *pids, size_t count,
		       struct heap_refusal *refusal)
{
	struct error error = { .exit_code = EXIT_NO_TARGET, .cause = "there is no process now" };

	for (size_t i = 0; i < count; i++) {
		char words[sizeof(error.cause) + 32];

		if (!look_at(looking, pids[i], &error))
			continue;
		if (!looking->pprof.several || is_cancelled(looking))
			return explain(looking, &error, refusal);
		snprintf(words, sizeof(words), "process %d: %s", (int)pids[i], error.cause);
		heap_pprof_comment(&looking->pprof, words);
	}
	return looking->processes ? 0 : explain(looking, &error, refusal);
}

static int write_looks(struct looking *looking, struct sampler *sampler, FILE *file,
		       struct heap_refusal *refusal)
{
	pid_t pids[SAMPLER_SESSIONS_MAX];
	size_t count = sampler_processes(sampler, pids);
	int error = heap_pprof_init(&looking->pprof, file, sampler_is_of_several(sampler));
	int result;

	if (error)
		return refuse(refusal, 500, 0, "no profile: %s", strerror(-error));
	result = look_at_all(looking, pids, count, refusal);
	error = heap_pprof_finish(&looking->pprof);
	if (!result && error)
		result = refuse(refusal, 500, 0, "no profile: %s", strerror(-error));
	heap_pprof_deinit(&looking->pprof);
	return result;
}

int heap_looks_write(struct heap_looks *looks, struct sampler *sampler,
		     const struct heap_asker *asker, FILE *file, struct heap_refusal *refusal)
{
	struct looking looking = {
		.looks = looks,
		.asker = asker,
		.began_ns = clock_now_ns(),
	};
	int result;

	pthread_mutex_lock(&looks->lock);
	result = begin(looks, looking.began_ns, refusal);
	looks->counters.refused += result != 0;
	pthread_mutex_unlock(&looks->lock);
	if (result)
		return result;
	result = write_looks(&looking, sampler, file, refusal);
	/* Otherwise the heap keeps all of it. */
	malloc_trim(0);
	end(looks, &looking, !result);
	return result;
}

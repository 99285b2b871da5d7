/* SPDX-License-Identifier: Apache-2.0 */
#include "daemon/sample/allocation_windows.h"

#include "attach/allocation_probes.h"
#include "attach/thread_schedule.h"
#include "common/clock.h"
#include "daemon/capture/clock_places.h"

#include <pthread.h>
#include <sched.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

/* Of a probe's hit, where it cannot be measured. */
#define HIT_NS     700u
#define STEPPED_NS 8000u
/* In a program whose caches a hit disturbs it costs up to so many times what a trial shows. The
 * limit counts with that, and rates with the trial: these are then rather too low. */
#define DEAR_HITS 2
/* Of a window, what the process feels of probes that come and go. */
#define WINDOW_COST_NS (60 * NS_PER_US)
#define LOOK_NS        (2 * NS_PER_MS)
#define WINDOW_NS_MAX  (200 * NS_PER_MS)
#define PAUSE_NS_MIN   (50 * NS_PER_MS)
#define PAUSE_NS_MAX   (5 * NS_PER_SECOND)
/* A window ends when it has cost that. */
#define COST_NS_MOST   (1500 * NS_PER_US)
#define SAMPLES_WANTED 48u
#define SAMPLES_MOST   128u
#define INTERVAL_FIRST 16384u
#define OBJECT_FIRST   256u
#define INTERVAL_MIN   64u
#define INTERVAL_MAX   (64u << 20)

struct allocation_windows {
	struct allocation_probes *probes;
	struct allocator_places places;
	pid_t pid;
	clockid_t cpu_clock;
	bool has_cpu_clock;
	int schedule; /* the main thread's; -1: not known */
	double most_overhead;
	uint64_t hit_ns, stepped_ns;
	struct allocation_sampling sampling;
	pthread_t thread;
	bool thread_exists;
	pthread_mutex_t lock;
	pthread_cond_t changed;
	/* Guarded by lock. */
	bool wanted, ending, open;
	struct allocation_figures figures;
};

/* ---- arithmetic ---- */

/* Of a window, the process had so much for itself in any case: the cost is an average's. */
#define OWN_PART_LEAST 0.05

uint64_t allocation_observed_ns(const struct allocation_times *times)
{
	double wall_ns = (double)times->wall_ns, cpu_ns = (double)times->cpu_ns;
	double threads = wall_ns > 0 ? cpu_ns / wall_ns : 1;
	double lost_ns = (double)times->cost_ns;

	if (cpu_ns > 0)
		lost_ns *= (cpu_ns + (double)times->queued_ns) / cpu_ns;
	if (threads > 1)
		lost_ns /= threads;
	if (lost_ns > (1 - OWN_PART_LEAST) * wall_ns)
		lost_ns = (1 - OWN_PART_LEAST) * wall_ns;
	return times->wall_ns - (uint64_t)lost_ns;
}

uint64_t allocation_pause_ns(uint64_t wall_ns, uint64_t cost_ns, double most_overhead)
{
	double whole_ns = most_overhead > 0 ? (double)cost_ns / most_overhead : 1e18;
	double pause_ns = whole_ns - (double)wall_ns;

	return pause_ns < (double)PAUSE_NS_MIN   ? PAUSE_NS_MIN
	       : pause_ns > (double)PAUSE_NS_MAX ? PAUSE_NS_MAX
						 : (uint64_t)pause_ns;
}

struct allocation_sampling allocation_next_sampling(const struct allocation_sampling *sampling,
						    uint64_t bytes, uint64_t objects)
{
	struct allocation_sampling next = { .object_bytes = objects ? bytes / objects : 0 };

	/* Half way, as windows differ. */
	next.object_bytes = (sampling->object_bytes + next.object_bytes) / 2;
	if (next.object_bytes > INTERVAL_MAX)
		next.object_bytes = INTERVAL_MAX;
	next.interval_bytes = (sampling->interval_bytes + 2 * bytes / SAMPLES_WANTED) / 2;
	if (next.interval_bytes < INTERVAL_MIN)
		next.interval_bytes = INTERVAL_MIN;
	if (next.interval_bytes > INTERVAL_MAX)
		next.interval_bytes = INTERVAL_MAX;
	return next;
}

/* ---- windows ---- */

static uint64_t cpu_ns_of(const struct allocation_windows *windows)
{
	struct timespec used;

	if (!windows->has_cpu_clock || clock_gettime(windows->cpu_clock, &used))
		return 0;
	return (uint64_t)used.tv_sec * NS_PER_SECOND + (uint64_t)used.tv_nsec;
}

/* Of the main thread: mostly it is the one that works. */
static uint64_t queued_ns_of(const struct allocation_windows *windows)
{
	struct thread_schedule schedule;

	if (windows->schedule < 0 || thread_schedule_read(windows->schedule, &schedule))
		return 0;
	return schedule.queued_ns;
}

static uint64_t cost_since(const struct allocation_windows *windows,
			   const struct allocation_counts *before,
			   const struct allocation_counts *now)
{
	uint64_t stepped = now->stepped - before->stepped;

	return WINDOW_COST_NS + (now->hits - before->hits - stepped) * windows->hit_ns +
	       stepped * windows->stepped_ns + now->cost_ns - before->cost_ns;
}

/* Until then, or until it is no longer wanted; with the lock held. */
static void wait_until(struct allocation_windows *windows, uint64_t then_ns)
{
	struct timespec then = clock_timespec(then_ns);

	while (windows->wanted && !windows->ending && clock_now_ns() < then_ns)
		if (pthread_cond_timedwait(&windows->changed, &windows->lock, &then))
			break;
}

/* With the lock held, but while probes come and go. How long there are to be none. */
static uint64_t one_window(struct allocation_windows *windows)
{
	struct allocation_counts before = allocation_probes_counts(windows->probes), now = before;
	struct allocation_counts_sum *sum = &windows->figures.counts;
	struct allocation_times times = { 0 };
	uint64_t began_ns, began_cpu_ns, began_queued_ns, whole_ns;
	int error;

	allocation_probes_set_interval(windows->probes, windows->sampling.interval_bytes,
				       windows->sampling.object_bytes, SAMPLES_MOST);
	windows->open = true;
	pthread_mutex_unlock(&windows->lock);
	error = allocation_probes_open(windows->probes);
	pthread_mutex_lock(&windows->lock);
	began_ns = clock_now_ns();
	began_cpu_ns = cpu_ns_of(windows);
	began_queued_ns = queued_ns_of(windows);
	while (!error && windows->wanted && !windows->ending) {
		wait_until(windows, clock_now_ns() + LOOK_NS);
		now = allocation_probes_counts(windows->probes);
		if (cost_since(windows, &before, &now) >= COST_NS_MOST ||
		    clock_now_ns() - began_ns >= WINDOW_NS_MAX)
			break;
	}
	times.wall_ns = clock_now_ns() - began_ns;
	times.cpu_ns = cpu_ns_of(windows) - began_cpu_ns;
	times.queued_ns = queued_ns_of(windows) - began_queued_ns;
	pthread_mutex_unlock(&windows->lock);
	allocation_probes_close(windows->probes);
	pthread_mutex_lock(&windows->lock);
	windows->open = false;
	pthread_cond_broadcast(&windows->changed);
	if (error) {
		sum->refused++;
		return PAUSE_NS_MAX;
	}
	now = allocation_probes_counts(windows->probes);
	times.cost_ns = cost_since(windows, &before, &now);
	/* Hits before and behind the window are paid for, too. */
	whole_ns =
		DEAR_HITS * (times.cost_ns + (now.idle_hits - before.idle_hits) * windows->hit_ns);
	sum->windows++;
	sum->probed_ns += times.wall_ns;
	sum->observed_ns += allocation_observed_ns(&times);
	sum->cost_ns += whole_ns;
	sum->hits += now.hits - before.hits;
	sum->objects += now.objects - before.objects;
	sum->bytes += now.bytes - before.bytes;
	sum->samples += now.samples - before.samples;
	sum->missed_bytes += now.missed_bytes - before.missed_bytes;
	windows->sampling = allocation_next_sampling(&windows->sampling, now.bytes - before.bytes,
						     now.objects - before.objects);
	return allocation_pause_ns(times.wall_ns, whole_ns, windows->most_overhead);
}

/*
 * With the lock held. The limit is one of the process's CPU time: one that waits for a processor,
 * or for its requests, earns a window more slowly than time passes.
 */
static void wait_for_next(struct allocation_windows *windows, uint64_t began_cpu_ns,
			  uint64_t pause_ns)
{
	uint64_t due_cpu_ns = began_cpu_ns + pause_ns, used_ns;

	do {
		wait_until(windows, clock_now_ns() + pause_ns);
		used_ns = cpu_ns_of(windows);
		if (!used_ns || used_ns >= due_cpu_ns)
			return;
		pause_ns = due_cpu_ns - used_ns;
		if (pause_ns < PAUSE_NS_MIN)
			pause_ns = PAUSE_NS_MIN;
	} while (windows->wanted && !windows->ending);
}

static void *work(void *context)
{
	struct allocation_windows *windows = context;
	struct sched_param parameter = { .sched_priority = 1 };
	uint64_t began_cpu_ns, pause_ns;

	/* Without the privilege it stays as it is. */
	(void)pthread_setschedparam(pthread_self(), SCHED_RR, &parameter);
	pthread_mutex_lock(&windows->lock);
	while (!windows->ending) {
		if (!windows->wanted) {
			pthread_cond_wait(&windows->changed, &windows->lock);
			continue;
		}
		began_cpu_ns = cpu_ns_of(windows);
		pause_ns = one_window(windows);
		wait_for_next(windows, began_cpu_ns, pause_ns);
	}
	pthread_mutex_unlock(&windows->lock);
	return NULL;
}

/* The thread is made here, as capabilities and filters are a thread's own. */
void allocation_windows_begin(struct allocation_windows *windows)
{
	if (!windows->thread_exists)
		windows->thread_exists = !pthread_create(&windows->thread, NULL, work, windows);
	pthread_mutex_lock(&windows->lock);
	windows->wanted = true;
	pthread_cond_broadcast(&windows->changed);
	pthread_mutex_unlock(&windows->lock);
}

void allocation_windows_end(struct allocation_windows *windows)
{
	pthread_mutex_lock(&windows->lock);
	windows->wanted = false;
	pthread_cond_broadcast(&windows->changed);
	while (windows->open)
		pthread_cond_wait(&windows->changed, &windows->lock);
	pthread_mutex_unlock(&windows->lock);
}

void allocation_windows_set_stack(struct allocation_windows *windows, unsigned pages)
{
	allocation_probes_set_stack(windows->probes, pages);
}

struct allocation_figures allocation_windows_figures(struct allocation_windows *windows)
{
	struct allocation_figures figures;

	pthread_mutex_lock(&windows->lock);
	figures = windows->figures;
	pthread_mutex_unlock(&windows->lock);
	return figures;
}

/* ---- life ---- */

static void init_lock(struct allocation_windows *windows)
{
	pthread_condattr_t attributes;

	pthread_condattr_init(&attributes);
	pthread_condattr_setclock(&attributes, CLOCK_MONOTONIC);
	pthread_mutex_init(&windows->lock, NULL);
	pthread_cond_init(&windows->changed, &attributes);
	pthread_condattr_destroy(&attributes);
}

struct allocation_windows *allocation_windows_create(struct target *target,
						     enum allocator_scope scope, int ring_fd,
						     double most_overhead, struct error *error)
{
	struct allocation_windows *windows = calloc(1, sizeof(*windows));
	struct clock_config config;

	if (!windows) {
		error_set(error, EXIT_INTERNAL, "out of memory");
		return NULL;
	}
	*windows = (struct allocation_windows){
		.pid = target->pid,
		.has_cpu_clock = !clock_getcpuclockid(target->pid, &windows->cpu_clock),
		.cpu_clock = windows->cpu_clock,
		.schedule = thread_schedule_open(target->pid, target->pid),
		.most_overhead = most_overhead,
		.sampling = { .interval_bytes = INTERVAL_FIRST, .object_bytes = OBJECT_FIRST },
	};
	init_lock(windows);
	allocator_places_find(target, scope, &windows->places);
	windows->figures.python = windows->places.python;
	windows->figures.library = windows->places.library;
	config = clock_places_of(target);
	if (!windows->places.count)
		error_set(error, EXIT_UNSUPPORTED_PYTHON,
			  "no allocator was found in the process that probes could see");
	else
		windows->probes = allocation_probes_create(target->pid, &config, ring_fd,
							   windows->places.items,
							   windows->places.count, error);
	if (windows->probes) {
		windows->hit_ns = allocation_probes_hit_ns(windows->probes, false);
		windows->stepped_ns = allocation_probes_hit_ns(windows->probes, true);
		if (!windows->hit_ns)
			windows->hit_ns = HIT_NS;
		if (windows->stepped_ns < windows->hit_ns)
			windows->stepped_ns = STEPPED_NS;
		return windows;
	}
	allocation_windows_destroy(windows);
	return NULL;
}

void allocation_windows_destroy(struct allocation_windows *windows)
{
	if (!windows)
		return;
	if (windows->thread_exists) {
		pthread_mutex_lock(&windows->lock);
		windows->ending = true;
		pthread_cond_broadcast(&windows->changed);
		pthread_mutex_unlock(&windows->lock);
		pthread_join(windows->thread, NULL);
	}
	pthread_cond_destroy(&windows->changed);
	pthread_mutex_destroy(&windows->lock);
	allocation_probes_destroy(windows->probes);
	allocator_places_deinit(&windows->places);
	if (windows->schedule >= 0)
		close(windows->schedule);
	free(windows);
}

void allocation_windows_blocks(const struct allocation_windows *windows,
			       void (*take)(void *context, uint64_t address, uint32_t number),
			       void *context)
{
	allocation_probes_blocks(windows->probes, take, context);
}

/* There is no other thread: closed one by one. */
void allocation_windows_let_go(struct allocation_windows *windows)
{
	allocation_probes_close(windows->probes);
}

/* SPDX-License-Identifier: Apache-2.0 */
#include "daemon/heap/heap_probes.h"

#include "attach/clock_hub.h"
#include "attach/clock_ring.h"
#include "attach/procfs.h"
#include "common/clock.h"
#include "daemon/capture/capture.h"
#include "daemon/sample/allocation_windows.h"
#include "daemon/sample/passing_stack.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

/* Between two looks at the ring: a window of many samples fills it within some milliseconds. */
#define TURN_NS (2 * NS_PER_MS)

struct heap_probes {
	struct target target; /* one of its own: the looks go on, by another thread */
	bool has_target;
	struct capture capture;
	struct clock_ring *ring;
	struct allocation_windows *windows;
	struct clock_sample sample;
	uint64_t began_ns;
	pthread_t thread;
	bool thread_exists;
	bool end_wanted; /* across threads */
	pthread_mutex_t lock;
	struct heap_kept kept; /* guarded by it */
	struct heap_kept_result result;
};

/* ---- samples */

static int take_record(void *context, void *data, size_t size)
{
	struct heap_probes *probes = context;
	struct clock_sample *sample = &probes->sample;
	const struct python_stack *python = &probes->capture.python;

	if (clock_sample_parse(data, size, sample) || !sample->allocation || sample->released)
		return 0;
	capture_load(&probes->capture, &probes->target, sample);
	pthread_mutex_lock(&probes->lock);
	(void)heap_kept_note(&probes->kept, sample->allocation, sample->allocated_bytes,
			     sample->allocation_bytes,
			     probes->capture.python_error ? NULL : python);
	pthread_mutex_unlock(&probes->lock);
	capture_unload(&probes->target);
	return 0;
}

static void *work(void *context)
{
	const struct timespec pause = clock_timespec(TURN_NS);
	struct heap_probes *probes = context;

	while (!__atomic_load_n(&probes->end_wanted, __ATOMIC_ACQUIRE)) {
		clock_ring_read(probes->ring, take_record, probes);
		(void)nanosleep(&pause, NULL);
	}
	return NULL;
}

/* ---- questions */

static void mark(void *context, uint64_t address, uint32_t number)
{
	heap_kept_mark(context, address, number);
}

struct heap_questions heap_probes_ask(struct heap_probes *probes)
{
	struct heap_questions questions = { .addresses = probes->kept.asked };

	pthread_mutex_lock(&probes->lock);
	allocation_windows_blocks(probes->windows, mark, &probes->kept);
	heap_kept_ask(&probes->kept);
	questions.count = probes->kept.asked_count;
	pthread_mutex_unlock(&probes->lock);
	return questions;
}

void heap_probes_answer(struct heap_probes *probes, const struct heap_look *look)
{
	uint64_t observed_ns = allocation_windows_figures(probes->windows).counts.observed_ns;

	pthread_mutex_lock(&probes->lock);
	if (!probes->kept.asked_count || look->snapshot.answers)
		heap_kept_answer(&probes->kept, look->snapshot.answers, look->time_ns, observed_ns);
	pthread_mutex_unlock(&probes->lock);
}

/* ---- life */

static void refuse_ring(int failure, struct error *error)
{
	error_set(error, failure == -ENOMEM ? EXIT_INTERNAL : EXIT_PERMISSION,
		  "the kernel refuses a ring for samples of allocations: %s", strerror(-failure));
	error_set_cure(error, "Run it as root, or with CAP_BPF, CAP_PERFMON and CAP_SYS_PTRACE; "
			      "without --allocations the rest is to be had.");
}

static int prepare(struct heap_probes *probes, pid_t pid, double most_overhead,
		   struct impersonator *impersonator, struct error *error)
{
	struct process_status status;
	struct losses unused = { 0 };
	int failure;

	probes->has_target = true;
	if (target_init(&probes->target, pid, false, impersonator, NULL, error))
		return -1;
	if (!probes->target.runtime) {
		*error = probes->target.python_refusal;
		return -1;
	}
	/* By a look at the main thread it is found out which ids can be believed. */
	if (!procfs_read_status(pid, 0, &status))
		passing_stack_read(&probes->target, status.inner_pid, &probes->capture.python,
				   &unused);
	failure = clock_ring_open(clock_hub_ring_bytes(), &probes->ring);
	if (failure) {
		refuse_ring(failure, error);
		return -1;
	}
	probes->windows =
		allocation_windows_create(&probes->target, ALLOCATORS_OF_LIBRARY,
					  clock_ring_fd(probes->ring), most_overhead, error);
	return probes->windows ? 0 : -1;
}

struct heap_probes *heap_probes_start(pid_t pid, double most_overhead,
				      struct impersonator *impersonator, struct error *error)
{
	struct heap_probes *probes = calloc(1, sizeof(*probes));

	if (!probes || capture_init(&probes->capture)) {
		error_set(error, EXIT_INTERNAL, "out of memory");
		free(probes);
		return NULL;
	}
	pthread_mutex_init(&probes->lock, NULL);
	if (prepare(probes, pid, most_overhead, impersonator, error)) {
		heap_probes_destroy(probes);
		return NULL;
	}
	if (pthread_create(&probes->thread, NULL, work, probes)) {
		error_set(error, EXIT_INTERNAL, "out of threads");
		heap_probes_destroy(probes);
		return NULL;
	}
	probes->thread_exists = true;
	probes->began_ns = clock_now_ns();
	allocation_windows_begin(probes->windows);
	return probes;
}

void heap_probes_end(struct heap_probes *probes)
{
	if (!probes->thread_exists)
		return;
	allocation_windows_end(probes->windows);
	__atomic_store_n(&probes->end_wanted, true, __ATOMIC_RELEASE);
	(void)pthread_join(probes->thread, NULL);
	probes->thread_exists = false;
}

void heap_probes_destroy(struct heap_probes *probes)
{
	if (!probes)
		return;
	heap_probes_end(probes);
	allocation_windows_destroy(probes->windows);
	clock_ring_close(probes->ring);
	if (probes->has_target)
		target_deinit(&probes->target);
	capture_deinit(&probes->capture);
	pthread_mutex_destroy(&probes->lock);
	free(probes);
}

const struct heap_kept_result *heap_probes_result(struct heap_probes *probes, bool native,
						  double bytes_per_s)
{
	heap_kept_sites(&probes->kept, probes->began_ns, native, bytes_per_s, &probes->result);
	return &probes->result;
}

struct allocation_figures heap_probes_figures(const struct heap_probes *probes)
{
	return allocation_windows_figures(probes->windows);
}

const struct heap_kept *heap_probes_kept(const struct heap_probes *probes)
{
	return &probes->kept;
}

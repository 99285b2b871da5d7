/* SPDX-License-Identifier: Apache-2.0 */
#include "daemon/heap/heap_watch.h"

#include "attach/preflight.h"
#include "attach/tracer.h"
#include "attach/watchdog.h"
#include "common/clock.h"
#include "daemon/capture/target.h"
#include "daemon/detect/governor.h"
#include "daemon/heap/heap_fill.h"
#include "daemon/heap/heap_trial.h"
#include "daemon/heap/heap_watched.h"
#include "pyintrospect/field.h"
#include "pyintrospect/heap/heap_layout.h"
#include "pyintrospect/heap/heap_used_pools.h"
#include "pyintrospect/python_stack.h"

#include <pthread.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* The breakpoints stop nobody while the clock that they share a ring with is off (seen with Linux
 * 6.18); its own stops are of no use here. */
#define PERIOD_NS (600 * NS_PER_SECOND)
#define TURN_NS   (10 * NS_PER_MS)
/* Between two hits of one container: they shall not all be of one loop. */
#define PAUSE_NS (20 * NS_PER_MS)
/* Of a type: how often it is looked where the next block is, and what may be in one that is none.
 */
#define AIM_NS         (20 * NS_PER_MS)
#define MISSES_A_BLOCK 8
/* Objects may come in an order that repeats: not each time the same one of it is to be met. */
#define LEADS 7
/* In all, whatever the stops are for; bar what is armed when these are used up. */
#define STOPS_MAX (4 * HEAP_WATCH_AIMS_MAX * HEAP_WATCH_HITS_MAX)
#define HEAD_SIZE 48 /* of a container: its type and its length */

/* Of one container or type: its slot in every thread. */
struct aim {
	remote_addr address; /* of the word that is watched */
	uint64_t aimed_ns;   /* a type: when that was found */
	unsigned misses;     /* a type: others that were put there */
	unsigned turns;      /* a type: blocks that were aimed at */
	uint64_t length;     /* when it was last looked at */
	uint64_t rests_until_ns;
	bool armed;
	bool hit;   /* since it was armed: some threads are not, any more */
	bool spent; /* enough was seen */
	struct heap_trials trials;
};

/* What a stop has seen. */
struct hit {
	bool noted;
	unsigned slot;
	uint64_t length;
	int error; /* of reading the stack */
	struct python_stack stack;
};

struct heap_watch {
	pid_t pid;
	struct heap_watch_options options;
	struct target target;
	struct preflight preflight;
	struct tracer_hooks hooks;
	struct tracer *tracer;
	struct watchdog watchdog;
	pthread_t thread;
	bool thread_exists, unguarded;
	bool attach_failed;
	struct error attach_error;
	struct governor governor;
	struct governor_bucket bucket;
	uint64_t began_cpu_ns;
	unsigned processors;
	struct aim aims[HEAP_WATCH_AIMS_MAX];
	struct heap_watched watched[HEAP_WATCH_AIMS_MAX];
	size_t count;
	struct hit hit; /* of the stop in hand */
	uint64_t stops, stopped_ns;
	bool end_wanted, done;   /* across threads */
	struct heap_fills fills; /* of the slots of ends */
};

/* ---- slots; in the tracer's thread */

static bool all_spent(const struct heap_watch *watch)
{
	for (size_t i = 0; i < watch->count; i++)
		if (!watch->aims[i].spent || !heap_trials_are_over(&watch->aims[i].trials))
			return false;
	return true;
}

/* Of all ends: where they were written. NULL: there are none. */
static struct heap_watched *ends_of(struct heap_watch *watch)
{
	for (size_t i = 0; i < watch->count; i++)
		if (watch->watched[i].end)
			return &watch->watched[i];
	return NULL;
}

/* No breakpoint is needed for that, and nobody is stopped. How long until one is due, or a turn. */
static uint64_t look_at_trials(struct heap_watch *watch)
{
	uint64_t pause_ns = TURN_NS;

	for (size_t i = 0; i < watch->count; i++) {
		struct heap_trials *trials = &watch->aims[i].trials;

		heap_trials_look(trials, &watch->target.reader, clock_now_ns());
		if (heap_trials_unsettled(trials))
			pause_ns = HEAP_TRIAL_SETTLE_NS;
	}
	return pause_ns;
}

static void arm_thread(struct heap_watch *watch, struct tracee *tracee, unsigned slot)
{
	struct heap_watched *watched = &watch->watched[slot];

	if (tracee->events.clock_fd < 0 || tracee->unstopped)
		return;
	/* Of a word that is written byte by byte, behind an end, each would be a stop. */
	if (breakpoint_arm(&tracee->events, slot, BREAKPOINT_WRITE, watch->aims[slot].address,
			   watched->end ? 1 : WORD_SIZE))
		watched->refused = true;
}

struct change {
	struct heap_watch *watch;
	unsigned slot;
	bool arm;
	unsigned threads;
};

static void change_thread(void *context, struct tracee *tracee)
{
	struct change *change = context;

	change->threads++;
	if (change->arm)
		arm_thread(change->watch, tracee, change->slot);
	else
		breakpoint_disarm(&tracee->events, change->slot);
}

/*
 * A thread that runs is held up for some microseconds by its own change; one that sleeps, not at
 * all, and no more run than there are processors.
 */
static void change_all(struct heap_watch *watch, unsigned slot, bool arm)
{
	struct change change = { .watch = watch, .slot = slot, .arm = arm };
	uint64_t start_ns = clock_now_ns(), changed_ns;

	watch->aims[slot].armed = arm;
	tracer_for_each(watch->tracer, change_thread, &change);
	changed_ns = clock_now_ns() - start_ns;
	if (change.threads > watch->processors)
		changed_ns = changed_ns * watch->processors / change.threads;
	governor_charge(&watch->bucket, changed_ns);
}

/* Is it still there, of the same type? Its length; of a type, what was written. */
static bool read_length(struct heap_watch *watch, unsigned slot, uint64_t *ret_length)
{
	const struct heap_container *container = &watch->watched[slot].container;
	uint8_t head[HEAD_SIZE];

	if (watch->watched[slot].made.type || watch->watched[slot].end)
		return !memory_read_u64(&watch->target.reader, watch->aims[slot].address,
					ret_length);
	if (memory_read(&watch->target.reader, container->address, head, sizeof(head)) ||
	    field_u64(head, (int32_t)python_runtime_object_head(watch->target.runtime) -
				    WORD_SIZE) != container->type)
		return false;
	*ret_length = field_u64(head, (int32_t)(container->length_at - container->address));
	return true;
}

static void spend(struct heap_watch *watch, unsigned slot)
{
	watch->aims[slot].spent = true;
	if (watch->aims[slot].armed)
		change_all(watch, slot, false);
}

/* Where the word is. False: not now. */
static bool take_aim(struct heap_watch *watch, unsigned slot, uint64_t now_ns)
{
	const struct heap_watch_type *made = &watch->watched[slot].made;
	struct aim *aim = &watch->aims[slot];
	remote_addr block, end;

	if (watch->watched[slot].end) {
		if (memory_read_u64(&watch->target.reader, watch->watched[slot].end, &end))
			return false;
		heap_fill_aim(&watch->fills.items[slot], end, slot, now_ns);
		aim->address = watch->fills.items[slot].word;

		return true;
	}
	if (!made->type) {
		aim->address = watch->watched[slot].container.length_at;
		if (read_length(watch, slot, &aim->length))
			return true;
		watch->watched[slot].gone = true;
		spend(watch, slot);
		return false;
	}
	aim->aimed_ns = now_ns;
	if (!heap_used_pools_fresh(&watch->target.reader, made->link, made->pool_bytes,
				   made->block_bytes, made->lead + aim->turns % LEADS, &block))
		return false;
	block += made->prefix + OBJECT_TYPE;
	aim->address = block;
	aim->misses = 0;
	aim->turns++;
	return true;
}

/* The block may have been handed out before anybody was armed; behind an end, enough was seen. */
static bool is_stale(struct heap_watch *watch, unsigned slot, uint64_t now_ns)
{
	struct heap_fill *fill = &watch->fills.items[slot];

	if (watch->watched[slot].end) {
		heap_fill_keep(fill, &watch->target.reader, now_ns);
		return heap_fill_is_over(fill, now_ns);
	}
	return watch->watched[slot].made.type && now_ns - watch->aims[slot].aimed_ns >= AIM_NS;
}

/* Arms what has rested, where there is credit for its stop. */
static void take_turn(struct heap_watch *watch)
{
	uint64_t cpu_ns = 0, now_ns = clock_now_ns();
	clockid_t clock;

	if (!clock_getcpuclockid(watch->pid, &clock))
		cpu_ns = clock_read_ns(clock);
	if (cpu_ns > watch->began_cpu_ns)
		governor_fill(&watch->governor, &watch->bucket,
			      watch->options.earned_cpu_ns + cpu_ns - watch->began_cpu_ns);
	for (unsigned slot = 0; slot < watch->count; slot++) {
		struct aim *aim = &watch->aims[slot];

		if (aim->spent)
			continue;
		if (watch->stops >= STOPS_MAX || heap_fill_is_full(&watch->fills.items[slot]) ||
		    (watch->watched[slot].made.type &&
		     watch->watched[slot].others >= HEAP_WATCH_MISSES_MAX)) {
			spend(watch, slot);
			continue;
		}
		if (aim->hit)
			change_all(watch, slot, false);
		aim->hit = false;
		if (aim->armed && !is_stale(watch, slot, now_ns))
			continue;
		if (now_ns < aim->rests_until_ns ||
		    !governor_allows_stop(&watch->governor, &watch->bucket))
			continue;
		if (take_aim(watch, slot, now_ns))
			change_all(watch, slot, true);
	}
}

/* ---- stops */

static void watch_thread_started(void *context, struct tracee *tracee)
{
	struct heap_watch *watch = context;

	for (unsigned slot = 0; slot < watch->count; slot++)
		if (watch->aims[slot].armed)
			arm_thread(watch, tracee, slot);
}

static void watch_thread_ended(void *context, struct tracee *tracee)
{
	(void)context;
	(void)tracee;
}

/* A block is cleared before its object gets its type: that store is the next one. */
static bool is_cleared(struct heap_watch *watch, unsigned slot)
{
	uint64_t word;

	return watch->watched[slot].made.type && !watch->aims[slot].spent &&
	       read_length(watch, slot, &word) && !word;
}

/* Of another type: the next one may be of that which is looked for. */
static bool is_missed(struct heap_watch *watch, unsigned slot)
{
	struct heap_watched *watched = &watch->watched[slot];
	struct aim *aim = &watch->aims[slot];
	uint64_t word;

	if (!watched->made.type || aim->spent || !read_length(watch, slot, &word) ||
	    word == watched->made.type)
		return false;
	watched->others++;
	return ++aim->misses < MISSES_A_BLOCK && watched->others < HEAP_WATCH_MISSES_MAX;
}

/* Others of the same stop tell nothing that this one does not. */
static void watch_stopped(void *context, struct tracee *tracee, const struct registers *registers,
			  const struct event_record *records, size_t count)
{
	struct heap_watch *watch = context;
	uint64_t start_ns = clock_now_ns();
	struct hit *hit = &watch->hit;

	(void)registers;
	hit->noted = false;
	watch->stops++;
	for (size_t i = 0; i < count; i++) {
		unsigned slot = records[i].source;
		struct aim *aim = &watch->aims[slot < watch->count ? slot : 0];

		if (slot >= watch->count || is_cleared(watch, slot) || is_missed(watch, slot))
			continue;
		if (!watch->watched[slot].end || heap_fill_is_last(&watch->fills.items[slot])) {
			breakpoint_disarm(&tracee->events, slot);
			aim->hit = true;
			aim->rests_until_ns = start_ns + PAUSE_NS;
		}
		if (hit->noted || aim->spent)
			continue;
		hit->slot = slot;
		if (!read_length(watch, slot, &hit->length)) {
			watch->watched[slot].gone = true;
			continue;
		}
		hit->error = python_stack_read(watch->target.runtime, tracee->inner_tid, NULL,
					       &hit->stack);
		hit->noted = true;
	}
	watch->stopped_ns += clock_now_ns() - start_ns;
	governor_charge(&watch->bucket, clock_now_ns() - start_ns);
}

static void watch_abandoned(void *context, struct tracee *tracee)
{
	struct heap_watch *watch = context;

	(void)tracee;
	watch->hit.noted = false;
}

static void note_write(struct heap_watch *watch, const struct hit *hit)
{
	struct heap_watched *ends = ends_of(watch);
	const struct heap_watch_site *site = NULL;

	if (!ends)
		return;
	if (!hit->error && hit->stack.count)
		site = heap_watched_site(ends, &hit->stack);
	ends->hits++;
	ends->beyond += !site;
	heap_fill_write(&watch->fills.items[hit->slot], site ? (int)(site - ends->sites) : -1,
			clock_now_ns());
}

static void watch_resumed(void *context, struct tracee *tracee)
{
	struct heap_watch *watch = context;
	const struct hit *hit = &watch->hit;
	struct heap_watched *watched = &watch->watched[hit->slot];
	struct aim *aim = &watch->aims[hit->slot];
	struct heap_watch_site *site;
	bool grown;

	(void)tracee;
	if (!hit->noted)
		return;
	if (watched->end) {
		note_write(watch, hit);
		return;
	}
	if (hit->error || !hit->stack.count ||
	    (watched->made.type ? hit->length != watched->made.type : hit->length == aim->length)) {
		aim->length = hit->length;
		if (++watched->others >=
		    (watched->made.type ? HEAP_WATCH_MISSES_MAX : HEAP_WATCH_OTHERS_MAX))
			spend(watch, hit->slot);
		return;
	}
	grown = watched->made.type || hit->length > aim->length;
	site = heap_watched_site(watched, &hit->stack);
	watched->hits++;
	watched->grown += grown;
	watched->beyond += !site;
	if (site && grown)
		site->grown++;
	else if (site)
		site->shrunk++;
	if (site && watched->made.sized)
		heap_trials_add(&aim->trials, aim->address - OBJECT_TYPE,
				(unsigned)(site - watched->sites), clock_now_ns());
	aim->length = hit->length;
	/* More come of one that shrinks as well, within the limit of stops. */
	if (watched->grown >= HEAP_WATCH_HITS_MAX || watched->hits >= 2 * HEAP_WATCH_HITS_MAX)
		spend(watch, hit->slot);
}

/* ---- the tracer's thread */

static void *trace(void *context)
{
	struct heap_watch *watch = context;
	struct sched_param parameter = { .sched_priority = 1 };

	/* A stopped thread waits for this one; without the privilege it stays as it is. */
	(void)pthread_setschedparam(pthread_self(), SCHED_RR, &parameter);
	watch->attach_failed = tracer_attach(watch->tracer, &watch->attach_error);
	if (!watch->attach_failed) {
		tracer_enable_clocks(watch->tracer, true);
		while (!__atomic_load_n(&watch->end_wanted, __ATOMIC_ACQUIRE) &&
		       !all_spent(watch)) {
			take_turn(watch);
			if (tracer_poll(watch->tracer, look_at_trials(watch)) != TRACER_RUNNING)
				break;
		}
		tracer_quiesce(watch->tracer);
	}
	__atomic_store_n(&watch->done, true, __ATOMIC_RELEASE);
	return NULL;
}

static int prepare(struct heap_watch *watch, struct error *error)
{
	if (preflight_check(watch->pid, watch->options.stop_signal, &watch->preflight, error))
		return -1;
	if (!watch->preflight.breakpoints) {
		preflight_explain_breakpoints(watch->pid, watch->preflight.breakpoint_errno, error);
		return -1;
	}
	if (watch->count > watch->preflight.breakpoints)
		watch->count = watch->preflight.breakpoints;
	/* One of its own: the looks go on, by another thread. */
	if (target_init(&watch->target, watch->pid, false, watch->options.impersonator, NULL,
			error))
		return -1;
	if (watch->target.runtime)
		return 0;
	*error = watch->target.python_refusal;
	return -1;
}

static int begin(struct heap_watch *watch, struct error *error)
{
	clockid_t clock;

	watch->hooks = (struct tracer_hooks){
		.context = watch,
		.thread_started = watch_thread_started,
		.thread_ended = watch_thread_ended,
		.stopped = watch_stopped,
		.resumed = watch_resumed,
		.abandoned = watch_abandoned,
	};
	watch->processors = (unsigned)sysconf(_SC_NPROCESSORS_ONLN);
	governor_init(&watch->governor, watch->options.max_overhead, false);
	governor_bucket_init(&watch->governor, &watch->bucket);
	if (!clock_getcpuclockid(watch->pid, &clock))
		watch->began_cpu_ns = clock_read_ns(clock);
	watch->tracer =
		tracer_create(watch->pid, watch->preflight.stop_signal, PERIOD_NS, &watch->hooks);
	if (watch->tracer) {
		tracer_limit_threads(watch->tracer, HEAP_WATCH_THREADS_MAX);
		tracer_leave_kernel_time(watch->tracer);
	}
	if (!watch->tracer || pthread_create(&watch->thread, NULL, trace, watch)) {
		error_set(error, EXIT_INTERNAL, "out of memory, or of threads");
		return -1;
	}
	watch->thread_exists = true;
	/* Without one the target is no worse off than with a daemon that works. */
	watch->unguarded = watchdog_start(&watch->watchdog, watch->pid, watch->thread,
					  tracer_relief(watch->tracer), NULL, NULL) != 0;
	return 0;
}

static void take_aims(struct heap_watch *watch, const struct heap_watch_aims *aims)
{
	for (size_t i = 0; i < aims->container_count && watch->count < HEAP_WATCH_AIMS_MAX; i++)
		watch->watched[watch->count++].container = aims->containers[i];
	for (size_t i = 0; i < aims->type_count && watch->count < HEAP_WATCH_AIMS_MAX; i++) {
		const struct heap_watch_type *made = &aims->types[i];

		watch->aims[watch->count].trials =
			(struct heap_trials){ .type = made->type,
					      .object_bytes = made->block_bytes - made->prefix };
		watch->watched[watch->count++].made = *made;
	}
	for (size_t i = 0; i < aims->end_count && watch->count < HEAP_WATCH_AIMS_MAX; i++)
		watch->watched[watch->count++].end = aims->ends[i];
}

struct heap_watch *heap_watch_start(pid_t pid, const struct heap_watch_aims *aims,
				    const struct heap_watch_options *options, struct error *error)
{
	struct heap_watch *watch = calloc(1, sizeof(*watch));

	if (!watch) {
		error_set(error, EXIT_INTERNAL, "out of memory");
		return NULL;
	}
	watch->pid = pid;
	watch->options = *options;
	take_aims(watch, aims);
	if (prepare(watch, error) || begin(watch, error)) {
		heap_watch_destroy(watch);
		return NULL;
	}
	return watch;
}

bool heap_watch_is_done(const struct heap_watch *watch)
{
	return __atomic_load_n(&watch->done, __ATOMIC_ACQUIRE);
}

struct heap_questions heap_watch_ask(struct heap_watch *watch)
{
	struct heap_questions questions = { .addresses = watch->fills.asked, .within = true };

	questions.count = heap_fills_ask(&watch->fills);
	return questions;
}

void heap_watch_answer(struct heap_watch *watch, const struct heap_look *look)
{
	if (look->snapshot.answers)
		heap_fills_answer(&watch->fills, look->snapshot.answers);
}

void heap_watch_end(struct heap_watch *watch)
{
	if (!watch->thread_exists)
		return;
	__atomic_store_n(&watch->end_wanted, true, __ATOMIC_RELEASE);
	if (!watch->unguarded)
		watchdog_expect_end(&watch->watchdog, WATCHDOG_END_LOOKS);
	(void)pthread_join(watch->thread, NULL);
	if (!watch->unguarded)
		watchdog_end(&watch->watchdog);
	watch->thread_exists = false;
	for (size_t i = 0; i < watch->count; i++) {
		if (watch->watched[i].made.sized)
			heap_watched_keep_tried(&watch->watched[i], &watch->aims[i].trials);
		if (&watch->watched[i] == ends_of(watch))
			heap_watched_keep_filled(&watch->watched[i], &watch->fills,
						 &watch->target.reader);
	}
}

void heap_watch_destroy(struct heap_watch *watch)
{
	if (!watch)
		return;
	heap_watch_end(watch);
	tracer_destroy(watch->tracer);
	target_deinit(&watch->target);
	free(watch);
}

const struct heap_watched *heap_watch_results(const struct heap_watch *watch, size_t *ret_count)
{
	*ret_count = watch->count;
	return watch->watched;
}

const struct error *heap_watch_error(const struct heap_watch *watch)
{
	return watch->attach_failed ? &watch->attach_error : NULL;
}

uint64_t heap_watch_stops(const struct heap_watch *watch)
{
	return watch->stops;
}

uint64_t heap_watch_stopped_ns(const struct heap_watch *watch)
{
	return watch->stopped_ns;
}

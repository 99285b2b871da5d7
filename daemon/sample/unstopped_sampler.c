/* SPDX-License-Identifier: Apache-2.0 */
#include "daemon/sample/unstopped_sampler.h"

#include "attach/procfs.h"
#include "common/clock.h"
#include "common/hash.h"
#include "common/random.h"
#include "daemon/sample/passing_stack.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#define THREADS_MAX   4096
#define BUCKETS       1024u
#define COST_PART     20 /* at most one part in so many of a processor */
#define PROGRAM_NS    NS_PER_SECOND
#define ADVANCED_PART 2 /* of the time a reading took */
#define PLACES        4096u

struct unstopped_thread {
	pid_t tid;
	pid_t inner_tid;
	uint64_t start_time;
	uint64_t tick; /* when it was last there */
	size_t times;  /* its entry among the thread times */
	/* The kernel's counts when last looked at, and what of them is yet to be charged. */
	uint64_t user_ns, system_ns;
	uint64_t user_left_ns, system_left_ns;
	struct cct_node *last; /* NULL: not seen running yet */
	struct unstopped_thread *next;
};

/* An instruction, and how often a thread that ran stayed there, or did not. */
struct passed_place {
	const struct python_code *code;
	int instruction_offset;
	uint32_t native, python;
};

struct unstopped_sampler {
	struct target *target;
	struct unstopped_sink sink;
	uint64_t period_ns;
	uint64_t random;
	uint64_t tick;
	uint64_t program_seen_ns;
	struct stat program; /* st_ino 0: unknown */
	clockid_t cpu_clock;
	bool has_cpu_clock;
	bool counting; /* time is charged, and threads that are new have begun since */
	struct unstopped_thread *buckets[BUCKETS];
	size_t thread_count;
	struct passed_place places[PLACES];
	pid_t tids[THREADS_MAX + 1];
	bool has_beyond;
	struct python_stack stack;
	struct frame frames[PYTHON_STACK_FRAMES_MAX];
};

static bool unstopped_read_program(const struct unstopped_sampler *sampler,
				   struct stat *ret_program)
{
	char path[PROCFS_PATH_SIZE];

	procfs_living_path(path, sampler->target->pid, "exe");
	return stat(path, ret_program) == 0;
}

struct unstopped_sampler *unstopped_sampler_create(struct target *target, uint64_t period_ns,
						   const struct unstopped_sink *sink)
{
	struct unstopped_sampler *sampler = calloc(1, sizeof(*sampler));

	if (!sampler)
		return NULL;
	sampler->target = target;
	sampler->period_ns = period_ns;
	sampler->sink = *sink;
	sampler->random = clock_now_ns() | 1;
	if (!unstopped_read_program(sampler, &sampler->program))
		sampler->program.st_ino = 0;
	sampler->has_cpu_clock = !clock_getcpuclockid(target->pid, &sampler->cpu_clock);
	return sampler;
}

/* ---- threads ---- */

static void charge_class(struct unstopped_sampler *sampler, struct unstopped_thread *thread,
			 struct cct_node *node, enum time_class time_class, uint64_t samples,
			 uint64_t time_ns)
{
	uint64_t now_ns = clock_now_ns();

	cct_node_charge(node, time_class, samples, time_ns);
	thread_times_charge(sampler->sink.threads, thread->times, time_class, time_ns);
	timeline_charge(sampler->sink.node_timeline, node->id, now_ns, time_class, time_ns);
	timeline_charge(sampler->sink.thread_timeline, thread->times, now_ns, time_class, time_ns);
}

static void unstopped_charge(struct unstopped_sampler *sampler, struct unstopped_thread *thread,
			     struct cct_node *node, enum time_class user_class, uint64_t samples)
{
	/* A sample is counted where most of its time goes. */
	bool in_system = thread->system_left_ns > thread->user_left_ns;

	charge_class(sampler, thread, node, user_class, in_system ? 0 : samples,
		     thread->user_left_ns);
	charge_class(sampler, thread, node, TIME_SYSTEM, in_system ? samples : 0,
		     thread->system_left_ns);
	thread->user_left_ns = thread->system_left_ns = 0;
}

static void charge_rest(struct unstopped_sampler *sampler, struct unstopped_thread *thread)
{
	if (thread->user_left_ns || thread->system_left_ns)
		unstopped_charge(sampler, thread,
				 thread->last ? thread->last : cct_root(sampler->sink.cct),
				 TIME_PYTHON, 0);
}

static void forget(struct unstopped_sampler *sampler, struct unstopped_thread **slot)
{
	struct unstopped_thread *thread = *slot;

	*slot = thread->next;
	sampler->thread_count--;
	free(thread);
}

void unstopped_sampler_destroy(struct unstopped_sampler *sampler)
{
	if (!sampler)
		return;
	for (unsigned bucket = 0; bucket < BUCKETS; bucket++)
		while (sampler->buckets[bucket])
			forget(sampler, &sampler->buckets[bucket]);
	free(sampler);
}

/* NULL: there is no room, or it has just ended. */
static struct unstopped_thread *unstopped_find_thread(struct unstopped_sampler *sampler, pid_t tid,
						      const struct process_times *times)
{
	struct unstopped_thread **slot = &sampler->buckets[(unsigned)tid % BUCKETS], *thread;
	struct process_status status;

	while (*slot && (*slot)->tid != tid)
		slot = &(*slot)->next;
	if (*slot && (*slot)->start_time != times->start_time) {
		charge_rest(sampler, *slot);
		forget(sampler, slot);
		return unstopped_find_thread(sampler, tid, times);
	}
	if (*slot)
		return *slot;
	if (sampler->thread_count == THREADS_MAX ||
	    procfs_read_status(sampler->target->pid, tid, &status))
		return NULL;
	thread = calloc(1, sizeof(*thread));
	if (!thread)
		return NULL;
	thread->tid = tid;
	thread->inner_tid = status.inner_pid;
	thread->start_time = times->start_time;
	thread->times = thread_times_add(sampler->sink.threads, tid, status.name);
	*slot = thread;
	sampler->thread_count++;
	return thread;
}

static void count_time(struct unstopped_thread *thread, const struct process_times *times)
{
	/* The kernel scales both so that their sum is right: one may step back. */
	if (times->user_ns > thread->user_ns) {
		thread->user_left_ns += times->user_ns - thread->user_ns;
		thread->user_ns = times->user_ns;
	}
	if (times->system_ns > thread->system_ns) {
		thread->system_left_ns += times->system_ns - thread->system_ns;
		thread->system_ns = times->system_ns;
	}
}

/* ---- one sample ---- */

static uint64_t cpu_clock_ns(const struct unstopped_sampler *sampler)
{
	return sampler->has_cpu_clock ? clock_read_ns(sampler->cpu_clock) : 0;
}

static struct passed_place *unstopped_find_place(struct unstopped_sampler *sampler,
						 const struct python_frame *frame)
{
	uint32_t hash =
		hash_word((uint64_t)(uintptr_t)frame->code ^ (uint64_t)frame->instruction_offset);
	struct passed_place *place = &sampler->places[hash % PLACES];

	if (place->code != frame->code || place->instruction_offset != frame->instruction_offset)
		*place = (struct passed_place){ .code = frame->code,
						.instruction_offset = frame->instruction_offset };
	return place;
}

/*
 * A thread that ran all the while and stayed where it was is in native code.
 * One that waited for a processor stands still in any case: it is taken for
 * what threads do that run at the same place.
 */
static enum time_class class_of(struct unstopped_sampler *sampler, bool ran)
{
	const struct python_stack *stack = &sampler->stack;
	bool still = stack->flags & PYTHON_STACK_STILL;
	struct passed_place *place;

	if (!stack->count)
		return TIME_NATIVE;
	if (stack->flags & PYTHON_STACK_UNLOCKED)
		return TIME_NATIVE;
	place = unstopped_find_place(sampler, &stack->frames[0]);
	if (still && !ran)
		return place->native > place->python ? TIME_NATIVE : TIME_PYTHON;
	if (still)
		place->native++;
	else
		place->python++;
	return still ? TIME_NATIVE : TIME_PYTHON;
}

static void sample_thread(struct unstopped_sampler *sampler, struct unstopped_thread *thread)
{
	uint64_t cpu_ns = cpu_clock_ns(sampler), began_ns = clock_now_ns(), ran_ns, took_ns;

	passing_stack_read(sampler->target, thread->inner_tid, &sampler->stack,
			   sampler->sink.losses);
	ran_ns = cpu_clock_ns(sampler) - cpu_ns;
	took_ns = clock_now_ns() - began_ns;
	thread->last = passing_stack_insert(&sampler->stack, sampler->sink.cct, sampler->frames,
					    sampler->sink.losses);
	__atomic_add_fetch(sampler->sink.samples, 1, __ATOMIC_RELAXED);
	unstopped_charge(sampler, thread, thread->last,
			 class_of(sampler, ran_ns > took_ns / ADVANCED_PART), 1);
}

static void unstopped_look_at(struct unstopped_sampler *sampler, pid_t tid)
{
	struct unstopped_thread *thread;
	struct process_times times;

	if (procfs_read_times(sampler->target->pid, tid, &times))
		return;
	thread = unstopped_find_thread(sampler, tid, &times);
	if (!thread)
		return;
	thread->tick = sampler->tick;
	if (!sampler->counting) {
		thread->user_ns = times.user_ns;
		thread->system_ns = times.system_ns;
		return;
	}
	count_time(thread, &times);
	if (times.state == 'R')
		sample_thread(sampler, thread);
}

static void forget_ended(struct unstopped_sampler *sampler)
{
	for (unsigned bucket = 0; bucket < BUCKETS; bucket++) {
		struct unstopped_thread **slot = &sampler->buckets[bucket];

		while (*slot) {
			if ((*slot)->tick == sampler->tick) {
				slot = &(*slot)->next;
				continue;
			}
			charge_rest(sampler, *slot);
			forget(sampler, slot);
		}
	}
}

/* 0 or -ESRCH. */
static int unstopped_look_at_all(struct unstopped_sampler *sampler)
{
	size_t count;
	int error =
		procfs_read_threads(sampler->target->pid, sampler->tids, THREADS_MAX + 1, &count);

	if (error)
		return error;
	if (count > THREADS_MAX) {
		count = THREADS_MAX;
		sampler->sink.losses->counts[LOSS_TARGET_LIMIT] += !sampler->has_beyond;
		sampler->has_beyond = true;
	}
	sampler->tick++;
	for (size_t i = 0; i < count; i++)
		unstopped_look_at(sampler, sampler->tids[i]);
	forget_ended(sampler);
	return 0;
}

void unstopped_sampler_begin(struct unstopped_sampler *sampler)
{
	sampler->counting = false;
	(void)unstopped_look_at_all(sampler);
	sampler->counting = true;
}

void unstopped_sampler_end(struct unstopped_sampler *sampler)
{
	for (unsigned bucket = 0; bucket < BUCKETS; bucket++)
		for (struct unstopped_thread *thread = sampler->buckets[bucket]; thread;
		     thread = thread->next)
			charge_rest(sampler, thread);
}

static bool replaced(struct unstopped_sampler *sampler, uint64_t now_ns)
{
	struct stat now;

	if (now_ns - sampler->program_seen_ns < PROGRAM_NS || !sampler->program.st_ino)
		return false;
	sampler->program_seen_ns = now_ns;
	return unstopped_read_program(sampler, &now) &&
	       (now.st_ino != sampler->program.st_ino || now.st_dev != sampler->program.st_dev);
}

/* Between half a period and one and a half: what the target does in a rhythm is met anywhere. */
static uint64_t next_delay_ns(struct unstopped_sampler *sampler)
{
	return sampler->period_ns / 2 + random_below(&sampler->random, sampler->period_ns + 1);
}

enum unstopped_state unstopped_sampler_tick(struct unstopped_sampler *sampler,
					    uint64_t *ret_next_ns)
{
	uint64_t began_ns = clock_now_ns(), cost_ns, delay_ns;
	struct process_status status;

	if (replaced(sampler, began_ns))
		return UNSTOPPED_REPLACED;
	/* A zombie still has its threads' folder. */
	if (unstopped_look_at_all(sampler) ||
	    procfs_read_status(sampler->target->pid, 0, &status) ||
	    procfs_has_ended(sampler->target->pid, status.state))
		return UNSTOPPED_EXITED;
	cost_ns = clock_now_ns() - began_ns;
	delay_ns = next_delay_ns(sampler);
	if (delay_ns < COST_PART * cost_ns)
		delay_ns = COST_PART * cost_ns;
	*ret_next_ns = began_ns + delay_ns;
	return UNSTOPPED_RUNNING;
}

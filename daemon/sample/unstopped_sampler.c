/* SPDX-License-Identifier: Apache-2.0 */
#include "daemon/sample/unstopped_sampler.h"

#include "attach/procfs.h"
#include "common/clock.h"
#include "common/random.h"
#include "daemon/sample/passing_stack.h"
#include "daemon/sample/program_watch.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define THREADS_MAX 4096
#define BUCKETS     1024u
#define COST_PART   20 /* at most one part in so many of a processor */

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

struct unstopped_sampler {
	struct target *target;
	struct unstopped_sink sink;
	uint64_t period_ns;
	uint64_t random;
	uint64_t tick;
	struct program_watch program;
	bool counting; /* time is charged, and threads that are new have begun since */
	struct unstopped_thread *buckets[BUCKETS];
	size_t thread_count;
	pid_t tids[THREADS_MAX + 1];
	bool has_beyond;
	struct python_stack stack;
	struct frame frames[PYTHON_STACK_FRAMES_MAX];
};

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
	program_watch_begin(&sampler->program, target->pid);
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
	thread_stacks_charge(sampler->sink.stacks, thread->times, node->id, now_ns, time_class,
			     samples, time_ns);
}

static void unstopped_charge(struct unstopped_sampler *sampler, struct unstopped_thread *thread,
			     struct cct_node *node, uint64_t samples)
{
	/* A sample is counted where most of its time goes. */
	bool in_system = thread->system_left_ns > thread->user_left_ns;

	/* Python's or native, see the header. */
	charge_class(sampler, thread, node, TIME_PYTHON, in_system ? 0 : samples,
		     thread->user_left_ns);
	charge_class(sampler, thread, node, TIME_SYSTEM, in_system ? samples : 0,
		     thread->system_left_ns);
	thread->user_left_ns = thread->system_left_ns = 0;
}

static void charge_rest(struct unstopped_sampler *sampler, struct unstopped_thread *thread)
{
	if (thread->user_left_ns || thread->system_left_ns)
		unstopped_charge(sampler, thread,
				 thread->last ? thread->last : cct_root(sampler->sink.cct), 0);
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

static void sample_thread(struct unstopped_sampler *sampler, struct unstopped_thread *thread)
{
	passing_stack_read(sampler->target, thread->inner_tid, &sampler->stack,
			   sampler->sink.losses);
	thread->last = passing_stack_insert(&sampler->stack, sampler->sink.cct, sampler->frames,
					    sampler->sink.losses);
	__atomic_add_fetch(sampler->sink.samples, 1, __ATOMIC_RELAXED);
	unstopped_charge(sampler, thread, thread->last, 1);
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

/* Between half a period and one and a half: what the target does in a rhythm is met anywhere. */
static uint64_t next_delay_ns(struct unstopped_sampler *sampler)
{
	return sampler->period_ns / 2 + random_below(&sampler->random, sampler->period_ns + 1);
}

enum unstopped_state unstopped_sampler_tick(struct unstopped_sampler *sampler,
					    uint64_t *ret_next_ns)
{
	uint64_t began_ns = clock_now_ns(), cost_ns, delay_ns;
	enum program_state state;

	if (unstopped_look_at_all(sampler))
		return UNSTOPPED_EXITED;
	state = program_watch_look(&sampler->program, sampler->target->pid, began_ns);
	if (state != PROGRAM_RUNS)
		return state == PROGRAM_EXITED ? UNSTOPPED_EXITED : UNSTOPPED_REPLACED;
	cost_ns = clock_now_ns() - began_ns;
	delay_ns = next_delay_ns(sampler);
	if (delay_ns < COST_PART * cost_ns)
		delay_ns = COST_PART * cost_ns;
	*ret_next_ns = began_ns + delay_ns;
	return UNSTOPPED_RUNNING;
}

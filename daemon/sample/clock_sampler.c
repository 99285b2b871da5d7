/* SPDX-License-Identifier: Apache-2.0 */
#include "daemon/sample/clock_sampler.h"

#include "attach/kernel_clocks.h"
#include "attach/procfs.h"
#include "common/hash.h"
#include "daemon/capture/clock_places.h"
#include "daemon/sample/allocation_samples.h"
#include "daemon/sample/kernel_stack.h"
#include "daemon/sample/passing_stack.h"
#include "pyintrospect/thread_list.h"

#include <limits.h>
#include <stdlib.h>
#include <string.h>

#define THREADS_MAX THREAD_TIMES_MAX
#define SLOTS       (2 * THREADS_MAX)
/* Of the sampling interrupt, on the virtual machine where it was measured: docs/MEASURED.md. */
#define INTERRUPT_NS 18000u
/* The period is looked after, and varied: what the target does in a rhythm is met anywhere. */
#define VARY_NS       (100 * NS_PER_MS)
#define PERIOD_MAX_NS NS_PER_SECOND
/* A first guess at what a sample costs. */
#define COST_FIRST_NS 28000u
#define COST_WEIGHT   16
/* Of a stack, at first: more where some did not fit. */
#define STACK_PAGES        8
#define STACK_PAGES_NESTED 16

struct clock_thread {
	pid_t tid;           /* 0: a free slot */
	uint64_t started_ns; /* 0: not known yet */
	size_t times;
};

struct clock_sampler {
	struct clock_sink sink;
	struct kernel_clocks *clocks;
	struct kernel_symbols symbols; /* the clocks' */
	uint64_t asked_ns;             /* the period */
	uint64_t period_ns;            /* as it is, on average */
	double most_overhead;
	uint64_t cost_ns; /* of a sample, on average */
	uint64_t varied_ns;
	unsigned stack_pages;
	/* The process's CPU time since sampling began or went on, and what of it is charged. */
	uint64_t began_cpu_ns, spent_ns, charged_ns;
	uint64_t dropped; /* of the clocks', counted already */
	/* A sample of a fault costs that, on average. */
	uint64_t fault_cost_ns;
	struct allocation_windows *allocations; /* NULL: not asked for */
	struct allocation_samples *allocation_samples;
	uint64_t allocation_cost_ns; /* counted already */
	size_t thread_count;
	struct clock_thread threads[SLOTS];
};

/* To 3.10 each Python frame has native ones of its own, and stacks are deeper. */
static bool nests_frames(const struct target *target)
{
	return target->runtime && python_runtime_version(target->runtime).minor <= 10;
}

/* As its own namespace numbers it. */
static pid_t main_thread(pid_t pid)
{
	struct process_status status;

	return procfs_read_status(pid, 0, &status) ? 0 : status.inner_pid;
}

/* Of the limit, what the clocks get at most beside samples of faults. */
#define CLOCKS_PART_BESIDE 0.75

static double clocks_limit(const struct clock_sampler *sampler)
{
	return sampler->most_overhead * (sampler->sink.memory ? CLOCKS_PART_BESIDE : 1);
}

static double clocks_share(const struct clock_sampler *sampler)
{
	double share = (double)sampler->cost_ns / (double)sampler->period_ns;

	return share < clocks_limit(sampler) ? share : clocks_limit(sampler);
}

/* Faults may take what the clocks leave, while they come all the time. */
static uint64_t fault_interval_ns(const struct clock_sampler *sampler)
{
	double left = sampler->most_overhead - clocks_share(sampler);

	return left > 0 ? (uint64_t)((double)sampler->fault_cost_ns / left) : UINT64_MAX;
}

static void add_faults(struct clock_sampler *sampler)
{
	sampler->fault_cost_ns = COST_FIRST_NS;
	if (kernel_clocks_add_faults(sampler->clocks, fault_interval_ns(sampler)))
		sampler->sink.memory = NULL;
	else
		sampler->sink.memory->kernel_seen = true;
}

static int ask_symbol(void *context, uint64_t address, char *ret_text, size_t size)
{
	return kernel_clocks_symbol(context, address, ret_text, size);
}

struct clock_sampler *clock_sampler_create(const struct clock_sink *sink, uint64_t period_ns,
					   double most_overhead, struct error *error)
{
	struct clock_sampler *sampler = calloc(1, sizeof(*sampler));
	struct losses unused = { 0 };
	struct clock_config config;

	if (!sampler) {
		error_set(error, EXIT_INTERNAL, "out of memory");
		return NULL;
	}
	/* By a look at the main thread it is found out which ids can be believed. */
	passing_stack_read(sink->target, main_thread(sink->target->pid), &sink->capture->python,
			   &unused);
	config = clock_places_of(sink->target);
	*sampler = (struct clock_sampler){
		.sink = *sink,
		.asked_ns = period_ns,
		.period_ns = period_ns,
		.most_overhead = most_overhead,
		.cost_ns = COST_FIRST_NS,
	};
	sampler->clocks = kernel_clocks_create(sink->target->pid, &config, period_ns, error);
	if (sampler->clocks) {
		if (sink->memory)
			add_faults(sampler);
		sampler->stack_pages =
			nests_frames(sink->target) ? STACK_PAGES_NESTED : STACK_PAGES;
		kernel_clocks_set_stack(sampler->clocks, sampler->stack_pages);
		kernel_clocks_set_kernel_frames(sampler->clocks, sink->kernel);
		sampler->symbols = (struct kernel_symbols){ ask_symbol, sampler->clocks };
		return sampler;
	}
	free(sampler);
	return NULL;
}

void clock_sampler_destroy(struct clock_sampler *sampler)
{
	if (!sampler)
		return;
	/* Its ring is the clocks'. */
	allocation_windows_destroy(sampler->allocations);
	kernel_clocks_destroy(sampler->clocks);
	free(sampler->allocation_samples);
	free(sampler);
}

int clock_sampler_add_allocations(struct clock_sampler *sampler, double most_overhead,
				  struct error *error)
{
	sampler->allocation_samples = calloc(1, sizeof(*sampler->allocation_samples));
	if (!sampler->allocation_samples) {
		error_set(error, EXIT_INTERNAL, "out of memory");
		return -1;
	}
	sampler->allocations = allocation_windows_create(sampler->sink.target, ALLOCATORS_ALL,
							 kernel_clocks_ring(sampler->clocks),
							 most_overhead, error);
	if (sampler->allocations)
		allocation_windows_set_stack(sampler->allocations, sampler->stack_pages);
	return sampler->allocations ? 0 : -1;
}

struct allocation_figures clock_sampler_allocations(const struct clock_sampler *sampler)
{
	return sampler->allocations ? allocation_windows_figures(sampler->allocations)
				    : (struct allocation_figures){ .python = ALLOCATOR_NOT_FOUND };
}

void clock_sampler_let_go(struct clock_sampler *sampler)
{
	if (sampler->allocations)
		allocation_windows_let_go(sampler->allocations);
	kernel_clocks_let_go(sampler->clocks);
}

double clock_sampler_share(const struct clock_sampler *sampler)
{
	return sampler->sink.memory ? sampler->most_overhead : clocks_share(sampler);
}

uint64_t clock_sampler_period_ns(const struct clock_sampler *sampler)
{
	return sampler->period_ns;
}

/* ---- threads ---- */

/* Its entry among the thread times; started_ns 0: whenever that was. */
static size_t thread_of(struct clock_sampler *sampler, pid_t tid, uint64_t started_ns,
			const char *name)
{
	size_t slot = hash_word((uint64_t)tid) % SLOTS;
	struct clock_thread *thread;

	while (sampler->threads[slot].tid && sampler->threads[slot].tid != tid)
		slot = (slot + 1) % SLOTS;
	thread = &sampler->threads[slot];
	if (thread->tid && (!thread->started_ns || !started_ns)) {
		thread->started_ns = started_ns;
		return thread->times;
	}
	if (thread->tid && thread->started_ns == started_ns)
		return thread->times;
	/* The first entry is for those beyond. */
	if (!thread->tid && sampler->thread_count == THREADS_MAX)
		return 0;
	sampler->thread_count += !thread->tid;
	*thread = (struct clock_thread){
		.tid = tid,
		.started_ns = started_ns,
		.times = thread_times_add(sampler->sink.threads, tid, name),
	};
	return thread->times;
}

size_t clock_sampler_thread(struct clock_sampler *sampler, pid_t tid, const char *name)
{
	return thread_of(sampler, tid, 0, name);
}

static remote_addr state_of(const struct python_thread_list *list, pid_t inner_tid)
{
	for (size_t i = 0; i < list->count; i++)
		if (list->items[i].tid == inner_tid)
			return list->items[i].state;
	return 0;
}

/* Those that are there: idle ones are to be seen, too, and their states need no search. */
static void add_threads(struct clock_sampler *sampler)
{
	struct target *target = sampler->sink.target;
	struct python_thread_list list = { 0 };
	pid_t *tids = malloc(THREADS_MAX * sizeof(*tids));
	size_t count = 0;

	if (target->runtime && python_thread_list_read(target->runtime, &list))
		list = (struct python_thread_list){ 0 };
	if (!tids || procfs_read_threads(target->pid, tids, THREADS_MAX, &count))
		count = 0;
	if (count > THREADS_MAX)
		count = THREADS_MAX;
	for (size_t i = 0; i < count; i++) {
		struct process_status status;
		remote_addr state;

		if (procfs_read_status(target->pid, tids[i], &status))
			continue;
		(void)thread_of(sampler, tids[i], 0, status.name);
		state = state_of(&list, status.inner_pid);
		if (state)
			kernel_clocks_add_thread(sampler->clocks, tids[i], state);
	}
	python_thread_list_deinit(&list);
	free(tids);
}

/* ---- samples ---- */

/* What of the process's time is not charged yet, near to what the sample stands for by itself. */
static uint64_t charge_of(struct clock_sampler *sampler, uint64_t stands_for_ns)
{
	uint64_t own_ns = stands_for_ns ? stands_for_ns : sampler->period_ns;
	uint64_t owed_ns = sampler->spent_ns > sampler->charged_ns
				   ? sampler->spent_ns - sampler->charged_ns
				   : 0;

	/* Clocks that were off for a while say too much. */
	if (own_ns > 2 * sampler->period_ns)
		own_ns = 2 * sampler->period_ns;
	if (owed_ns < own_ns / 2)
		owed_ns = own_ns / 2;
	if (owed_ns > 2 * own_ns)
		owed_ns = 2 * own_ns;
	sampler->charged_ns += owed_ns;
	return owed_ns;
}

static void charge(struct clock_sampler *sampler, const struct clock_sample *sample,
		   struct cct_node *node)
{
	const struct clock_sink *sink = &sampler->sink;
	const struct python_stack *python = &sink->capture->python;
	size_t index = thread_of(sampler, sample->tid, sample->started_ns, sample->comm);
	struct profile_thread *times = &sink->threads->items[index];
	uint64_t time_ns = charge_of(sampler, sample->stands_for_ns);
	enum time_class time_class = sample->in_kernel ? TIME_SYSTEM
				     : capture_in_library(sink->capture, sink->target)
					     ? TIME_NATIVE
					     : TIME_PYTHON;

	__atomic_add_fetch(sink->samples, 1, __ATOMIC_RELAXED);
	thread_times_charge(sink->threads, index, time_class, time_ns);
	timeline_charge(sink->thread_timeline, index, sample->time_ns, time_class, time_ns);
	*sink->gil_known |= python->gil != GIL_UNKNOWN;
	if (python->gil == GIL_HELD && !sample->in_kernel)
		times->gil_ns += time_ns;
	if (!sample->in_kernel)
		copy_volume_charge(sink->copies, sink->target, &sample->registers, time_ns,
				   node ? &node->side : NULL, &times->side);
	if (!node)
		return;
	cct_node_charge(node, time_class, 1, time_ns);
	if (python->collecting && !sample->in_kernel)
		node->side.collecting_ns += time_ns;
	timeline_charge(sink->node_timeline, node->id, sample->time_ns, time_class, time_ns);
	thread_stacks_charge(sink->stacks, index, node->id, sample->time_ns, time_class, 1,
			     time_ns);
}

/* Where stacks did not fit, more of them is copied from now on. */
static void grow_stack(struct clock_sampler *sampler)
{
	if (sampler->sink.capture->native_end != UNWIND_STACK_MISSING ||
	    sampler->stack_pages == CLOCK_STACK_PAGES_MAX)
		return;
	sampler->stack_pages *= 2;
	if (sampler->stack_pages > CLOCK_STACK_PAGES_MAX)
		sampler->stack_pages = CLOCK_STACK_PAGES_MAX;
	kernel_clocks_set_stack(sampler->clocks, sampler->stack_pages);
	if (sampler->allocations)
		allocation_windows_set_stack(sampler->allocations, sampler->stack_pages);
}

static void learn_cost(uint64_t *mean_ns, uint64_t cost_ns)
{
	*mean_ns = (*mean_ns * (COST_WEIGHT - 1) + cost_ns) / COST_WEIGHT;
}

static void charge_fault(struct clock_sampler *sampler, const struct clock_sample *sample,
			 struct cct_node *node)
{
	const struct clock_sink *sink = &sampler->sink;
	size_t index = thread_of(sampler, sample->tid, sample->started_ns, sample->comm);
	enum fresh_owner owner =
		capture_in_library(sink->capture, sink->target) ? FRESH_NATIVE : FRESH_PYTHON;

	fresh_memory_charge(sink->memory, sample->fault, sample->faults, owner,
			    node ? &node->side : NULL, &sink->threads->items[index].side);
}

static void charge_allocation(struct clock_sampler *sampler, const struct clock_sample *sample,
			      struct cct_node *node)
{
	size_t index = thread_of(sampler, sample->tid, sample->started_ns, sample->comm);

	allocation_samples_charge(sampler->allocation_samples, sample, node ? &node->side : NULL,
				  &sampler->sink.threads->items[index].side);
}

static void take_sample(void *context, const struct clock_sample *sample)
{
	struct clock_sampler *sampler = context;
	const struct clock_sink *sink = &sampler->sink;
	struct capture *capture = sink->capture;
	/* A fault is in the kernel anyway: no interrupt is needed. */
	uint64_t cost_ns = sample->cost_ns + (sample->faults ? 0 : INTERRUPT_NS);
	struct cct_node *node;

	if (sample->allocation && !sampler->allocation_samples)
		return;
	if (sample->released) {
		(void)allocation_samples_release(sampler->allocation_samples, sample->allocation);
		return;
	}
	/* That of allocations is counted by the window. */
	if (!sample->allocation) {
		learn_cost(sample->faults ? &sampler->fault_cost_ns : &sampler->cost_ns, cost_ns);
		*sink->lost_ns += cost_ns;
	}
	capture_load(capture, sink->target, sample);
	capture_finish(capture, sink->target, sink->losses);
	capture_unload(sink->target);
	if (capture->native_end == UNWIND_NO_MODULE)
		*sink->mappings_stale = true;
	grow_stack(sampler);
	if (sink->kernel && sample->in_kernel && !sample->faults && !sample->allocation)
		capture->frame_count = kernel_stack_append(
			sink->kernel, &sampler->symbols, sample, sink->losses, capture->frames,
			capture->frame_count, CAPTURE_FRAMES_MAX);
	node = cct_insert(sink->cct, capture->frames, capture->frame_count);
	if (!node)
		sink->losses->counts[LOSS_TREE_FULL]++;
	if (sample->allocation)
		charge_allocation(sampler, sample, node);
	else if (sample->faults && sink->memory)
		charge_fault(sampler, sample, node);
	else if (!sample->faults)
		charge(sampler, sample, node);
}

static void count_dropped(struct clock_sampler *sampler)
{
	uint64_t dropped = kernel_clocks_dropped(sampler->clocks);

	sampler->sink.losses->counts[LOSS_RING_FULL] += dropped - sampler->dropped;
	sampler->dropped = dropped;
	if (sampler->sink.memory)
		sampler->sink.memory->counts.faults_dropped =
			kernel_clocks_dropped_faults(sampler->clocks);
}

/* Of windows that are over. */
static void count_allocations(struct clock_sampler *sampler)
{
	uint64_t cost_ns = clock_sampler_allocations(sampler).counts.cost_ns;

	*sampler->sink.lost_ns += cost_ns - sampler->allocation_cost_ns;
	sampler->allocation_cost_ns = cost_ns;
}

/* A period that keeps the cost under the limit; ticks are at random around it. */
static void vary_period(struct clock_sampler *sampler, uint64_t now_ns)
{
	double least_ns = (double)sampler->cost_ns / clocks_limit(sampler);
	uint64_t period_ns = sampler->asked_ns;

	if (now_ns - sampler->varied_ns < VARY_NS)
		return;
	sampler->varied_ns = now_ns;
	if (least_ns > (double)period_ns)
		period_ns = least_ns < (double)PERIOD_MAX_NS ? (uint64_t)least_ns : PERIOD_MAX_NS;
	sampler->period_ns = period_ns;
	if (sampler->sink.memory)
		kernel_clocks_set_fault_interval(sampler->clocks, fault_interval_ns(sampler));
	kernel_clocks_set_period(sampler->clocks, period_ns);
}

void clock_sampler_begin(struct clock_sampler *sampler, uint64_t cpu_ns)
{
	add_threads(sampler);
	sampler->began_cpu_ns = cpu_ns;
	sampler->spent_ns = sampler->charged_ns = 0;
	sampler->varied_ns = clock_now_ns();
	kernel_clocks_enable(sampler->clocks, true);
	if (sampler->allocations)
		allocation_windows_begin(sampler->allocations);
}

bool clock_sampler_take(struct clock_sampler *sampler, uint64_t cpu_ns, unsigned maximum)
{
	sampler->spent_ns = cpu_ns - sampler->began_cpu_ns;
	if (kernel_clocks_read(sampler->clocks, take_sample, sampler, maximum) == maximum)
		return true;
	count_dropped(sampler);
	count_allocations(sampler);
	vary_period(sampler, clock_now_ns());
	return false;
}

void clock_sampler_end(struct clock_sampler *sampler, uint64_t cpu_ns)
{
	if (sampler->allocations)
		allocation_windows_end(sampler->allocations);
	kernel_clocks_enable(sampler->clocks, false);
	sampler->spent_ns = cpu_ns - sampler->began_cpu_ns;
	(void)kernel_clocks_read(sampler->clocks, take_sample, sampler, UINT_MAX);
	count_dropped(sampler);
	count_allocations(sampler);
}

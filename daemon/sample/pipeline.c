/* SPDX-License-Identifier: Apache-2.0 */
#include "daemon/sample/pipeline.h"

#include "common/clock.h"
#include "common/random.h"
#include "daemon/sample/clock_sampler.h"
#include "daemon/sample/pipeline_thread.h"

#include <errno.h>
#include <stdlib.h>

/* A wake-up slower than this was a stall of the machine: the target's own will not be like it. */
#define WAKE_MAX_NS 1000000u
/* A stop that has taken so long to copy what it needs does nothing else. */
#define STOP_LIMIT_NS (20 * NS_PER_MS)

/*
 * Of the timelines. A cell takes 40 bytes here, and some 10 in the HTML report.
 * To merge slices of a full table takes this thread some 0.2 ms, a few times a run.
 */
#define CELLS_MAX (1u << 15)

#define FAULTS_PART 0.5

int pipeline_init(struct pipeline *pipeline, struct target *target,
		  const struct pipeline_options *options)
{
	struct redundancy_options redundancy = {
		.loads = options->loads,
		.stores = options->stores,
		.breakpoints = options->breakpoints,
		.timeout_ns = options->timeout_ns,
		.seed = options->seed,
	};

	*pipeline = (struct pipeline){
		.random = random_seed(options->seed),
		.target = target,
		.breakpoints = options->breakpoints,
		.memory_events = options->memory_events,
	};
	if (options->memory) {
		fresh_memory_init(&pipeline->memory, target->pid);
		copy_volume_init(&pipeline->copies, target);
	}
	governor_init(&pipeline->governor, options->max_overhead,
		      options->loads || options->stores);
	pipeline->cct = cct_create(options->node_limit);
	pipeline->pairs = pair_table_create(options->pair_limit);
	if (!pipeline->cct || !pipeline->pairs || capture_init(&pipeline->capture) ||
	    thread_times_init(&pipeline->threads) ||
	    timeline_init(&pipeline->thread_timeline, TIMELINE_THREAD_SLICES_MAX, CELLS_MAX) ||
	    timeline_init(&pipeline->node_timeline, TIMELINE_NODE_SLICES_MAX, CELLS_MAX) ||
	    thread_stacks_init(&pipeline->stacks, CELLS_MAX))
		return -ENOMEM;
	pipeline->waits_wanted = options->waits;
	waiting_init(&pipeline->waiting, target, pipeline->cct, &pipeline->losses, options->seed);
	if (!options->loads && !options->stores)
		return 0;
	/* Objects of free-threaded builds are laid out in another way than those that it reads. */
	if (target->runtime && !python_runtime_version(target->runtime).free_threaded) {
		pipeline->arguments = argument_sampler_create(target);
		if (!pipeline->arguments)
			return -ENOMEM;
	}
	pipeline->redundancy =
		redundancy_create(&redundancy, target, pipeline->pairs, &pipeline->losses);
	return pipeline->redundancy ? 0 : -ENOMEM;
}

void pipeline_deinit(struct pipeline *pipeline)
{
	argument_sampler_destroy(pipeline->arguments);
	redundancy_destroy(pipeline->redundancy);
	place_votes_destroy(pipeline->votes);
	fresh_memory_deinit(&pipeline->memory);
	capture_deinit(&pipeline->capture);
	thread_times_deinit(&pipeline->threads);
	timeline_deinit(&pipeline->thread_timeline);
	timeline_deinit(&pipeline->node_timeline);
	thread_stacks_deinit(&pipeline->stacks);
	if (pipeline->pairs)
		pair_table_destroy(pipeline->pairs);
	if (pipeline->cct)
		cct_destroy(pipeline->cct);
	kernel_functions_deinit(&pipeline->kernel_functions);
}

void pipeline_begin(struct pipeline *pipeline, uint64_t now_ns)
{
	timeline_begin(&pipeline->thread_timeline, now_ns);
	timeline_begin(&pipeline->node_timeline, now_ns);
	timeline_begin(&pipeline->stacks.timeline, now_ns);
}

static void pipeline_thread_started(void *context, struct tracee *tracee)
{
	struct pipeline *pipeline = context;
	struct pipeline_thread *thread;

	if (tracee->events.clock_fd < 0)
		return;
	thread = calloc(1, sizeof(*thread));
	if (thread && pipeline->redundancy)
		thread->redundancy = redundancy_thread_create(pipeline->redundancy, tracee->id.tid);
	if (thread) {
		governor_bucket_init(&pipeline->governor, &thread->bucket);
		pipeline_delay_first(pipeline, thread, tracee);
		for (size_t i = 0; i < ARGUMENT_WATCHES; i++)
			argument_watch_init(&thread->arguments[i]);
		waiting_thread_init(&thread->waiting);
		pipeline_begin_waiting(pipeline, thread, tracee);
		if (pipeline->clocks)
			thread->times = clock_sampler_thread(pipeline->clocks, tracee->id.tid,
							     tracee->name);
		else if (tracee->known_as)
			thread->times = tracee->known_as - 1;
		else
			thread->times =
				thread_times_add(&pipeline->threads, tracee->id.tid, tracee->name);
		tracee->known_as = 1 + thread->times;
		system_time_init(&thread->system, &pipeline->node_timeline,
				 &pipeline->thread_timeline, &pipeline->stacks, thread->times);
		time_balance_begin(&thread->system.balance, &pipeline->balance_ns);
	}
	tracee->user = thread;
}

uint64_t pipeline_collect_system_time(struct pipeline *pipeline, struct pipeline_thread *thread,
				      struct tracee *tracee)
{
	uint64_t time_ns;
	unsigned samples = system_time_collect(&thread->system, tracee, pipeline->cct,
					       &pipeline->losses, &time_ns);

	__atomic_add_fetch(&pipeline->samples, samples, __ATOMIC_RELAXED);
	thread_times_charge(&pipeline->threads, thread->times, TIME_SYSTEM, time_ns);
	return time_ns;
}

static void pipeline_thread_ended(void *context, struct tracee *tracee)
{
	struct pipeline *pipeline = context;
	struct pipeline_thread *thread = tracee->user;

	if (thread) {
		uint64_t running_ns = thread_events_running_ns(&tracee->events);

		governor_fill(&pipeline->governor, &thread->bucket, running_ns);
		governor_bucket_end(&pipeline->governor, &thread->bucket);
		pipeline_collect_system_time(pipeline, thread, tracee);
		unclocked_thread_ended(&pipeline->unclocked, &thread->unclocked, running_ns);
		if (running_ns)
			time_balance_end(&thread->system.balance, running_ns);
		/* Its slots are gone with it. */
		pipeline_end_arguments(pipeline, thread, tracee, UINT64_MAX);
		(void)system_time_cancel(&thread->system, tracee, pipeline->cct, &pipeline->losses);
		if (thread->redundancy)
			redundancy_cancel(pipeline->redundancy, thread->redundancy, tracee);
		redundancy_thread_destroy(thread->redundancy);
		waiting_thread_deinit(&thread->waiting);
	}
	free(thread);
	tracee->user = NULL;
}

static void return_slot(struct pipeline_thread *thread, int slot)
{
	if (thread->redundancy && slot != SYSTEM_TIME_NO_SLOT)
		redundancy_return_slot(thread->redundancy, slot);
}

/* In the stop: is this event the return from a system call that was sampled? */
static bool take_system_return(struct pipeline *pipeline, struct pipeline_thread *thread,
			       struct tracee *tracee, const struct registers *registers,
			       const struct event_record *record)
{
	int slot = thread->system.slot;

	if (slot == SYSTEM_TIME_NO_SLOT || record->source != (unsigned)slot)
		return false;
	switch (system_time_breakpoint(&thread->system, tracee, registers)) {
	case SYSTEM_RETURN_AWAITED:
		break;
	case SYSTEM_RETURN_HERE:
		pipeline->captured = true;
		return_slot(thread, slot);
		break;
	case SYSTEM_RETURN_MISSED:
		return_slot(thread, slot);
		break;
	}
	return true;
}

/* In the stop: half of the limit is for page faults, while they come all the time. */
static void vary_faults(const struct pipeline *pipeline, struct tracee *tracee,
			const struct event_record *record)
{
	const struct governor *governor = &pipeline->governor;
	double share = FAULTS_PART * governor->limit;
	double interval_ns = share > 0 ? governor->clock_cost_ns / share : 1e9;

	fault_sampler_vary(&tracee->events.fault, record->running_ns,
			   interval_ns < 1e9 ? (uint64_t)interval_ns : NS_PER_SECOND);
}

/* In the stop: copies what the events that fired need. */
static void take_capture(struct pipeline *pipeline, struct pipeline_thread *thread,
			 struct tracee *tracee, const struct registers *registers,
			 const struct event_record *records, size_t count)
{
	pipeline->clock_ticks = 0;
	pipeline->clock_ns = 0;
	pipeline->captured = false;
	pipeline->system_returns = pipeline->watched_calls = 0;
	pipeline->memory_access = NULL;
	pipeline->faults = 0;
	for (size_t i = 0; i < count; i++) {
		if (records[i].source == EVENT_CLOCK) {
			pipeline->clock_ticks++;
			pipeline->clock_ns += records[i].stands_for_ns;
			governor_fill(&pipeline->governor, &thread->bucket, records[i].running_ns);
		} else if (records[i].source == EVENT_MEMORY) {
			pipeline->memory_access = &records[i];
		} else if (records[i].source == EVENT_FAULT) {
			pipeline->fault = records[i].address;
			pipeline->faults += records[i].faults;
			vary_faults(pipeline, tracee, &records[i]);
		} else if (pipeline_watches_calls_at(thread, records[i].source)) {
			pipeline->watched_calls |= 1ull << i;
			pipeline->captured = true;
		} else if (take_system_return(pipeline, thread, tracee, registers, &records[i])) {
			pipeline->system_returns |= 1ull << i;
		} else if (thread->redundancy &&
			   redundancy_wants_capture(pipeline->redundancy, thread->redundancy,
						    &records[i], registers)) {
			pipeline->captured = true;
		}
	}
	if (pipeline->clock_ticks || pipeline->memory_access || pipeline->faults)
		pipeline->captured = true;
	if (pipeline->captured)
		capture_take(&pipeline->capture, pipeline->target, tracee->id.tid,
			     tracee->inner_tid, registers);
	if (pipeline->arguments && pipeline->clock_ticks)
		argument_sampler_take(pipeline->arguments, &pipeline->capture);
}

/* In the stop: samples that were taken at the old interval are to be counted by it. */
static void vary_kernel_clock(struct pipeline *pipeline, struct pipeline_thread *thread,
			      struct tracee *tracee)
{
	uint64_t period_ns;

	if (!kernel_clock_due(&tracee->kernel_clock))
		return;
	pipeline_collect_system_time(pipeline, thread, tracee);
	period_ns = tracee->events.interval.period_ns;
	kernel_clock_set_period(&tracee->kernel_clock,
				time_balance_is_rare(&thread->system.balance, 16 * period_ns)
					? KERNEL_CLOCK_PERIOD_RARE(period_ns)
					: KERNEL_CLOCK_PERIOD(period_ns));
}

static bool begin_memory_sample(struct pipeline *pipeline, struct pipeline_thread *thread,
				struct tracee *tracee)
{
	if (pipeline->memory_events ? !pipeline->memory_access : !pipeline->clock_ticks)
		return false;
	pipeline->offers++;
	if (!governor_allows_cycle(&pipeline->governor, &thread->bucket, CYCLE_ACCESS,
				   pipeline_stop_cost_ns(pipeline))) {
		pipeline->losses.counts[LOSS_OVERHEAD_LIMIT]++;
		return false;
	}
	governor_begin_cycle(&pipeline->governor, CYCLE_ACCESS);
	if (pipeline->memory_access)
		return redundancy_sample_access(pipeline->redundancy, thread->redundancy, tracee,
						&pipeline->capture, pipeline->memory_access);
	return redundancy_sample(pipeline->redundancy, thread->redundancy, tracee,
				 &pipeline->capture);
}

/* In the stop: one of both, what less was spent on first, or what the time here asks for. */
static void begin_cycle(struct pipeline *pipeline, struct pipeline_thread *thread,
			struct tracee *tracee)
{
	bool calls_first = governor_next_cycle(&pipeline->governor) == CYCLE_CALLS ||
			   (pipeline->arguments && argument_sampler_is_behind(pipeline->arguments));

	if (calls_first && pipeline_watch_calls(pipeline, thread, tracee))
		return;
	if (!begin_memory_sample(pipeline, thread, tracee) && !calls_first)
		(void)pipeline_watch_calls(pipeline, thread, tracee);
}

static uint64_t wake_latency(uint64_t event_ns, uint64_t now_ns)
{
	uint64_t latency_ns = now_ns > event_ns ? now_ns - event_ns : 0;

	return latency_ns < WAKE_MAX_NS ? latency_ns : WAKE_MAX_NS;
}

/* Stage 1, in the stop. */
static void pipeline_stopped(void *context, struct tracee *tracee,
			     const struct registers *registers, const struct event_record *records,
			     size_t count)
{
	struct pipeline *pipeline = context;
	struct pipeline_thread *thread = tracee->user;
	uint64_t began_ns = clock_now_ns();
	bool late;

	pipeline->event_ns = records[0].time_ns;
	pipeline->began_ns = began_ns;
	pipeline->wake_ns = wake_latency(pipeline->event_ns, began_ns);
	pipeline->captured = false;
	pipeline->clock_ticks = 0;
	pipeline->faults = 0;
	if (pipeline->idle || !thread)
		return;
	take_capture(pipeline, thread, tracee, registers, records, count);
	if (pipeline->clock_ticks) {
		thread->ticked_ns = began_ns;
		vary_kernel_clock(pipeline, thread, tracee);
		pipeline_delay_clock(pipeline, thread, tracee);
	}
	late = clock_now_ns() - began_ns > STOP_LIMIT_NS;
	pipeline->losses.counts[LOSS_STOP_ABANDONED] += late;
	if (!thread->redundancy)
		return;
	if (pipeline->watched_calls)
		pipeline_meet_calls(pipeline, thread, tracee, records, count);
	for (size_t i = 0; i < count; i++) {
		bool wanted = redundancy_wants_capture(pipeline->redundancy, thread->redundancy,
						       &records[i], registers);

		if (records[i].source < BREAKPOINT_SLOTS &&
		    !((pipeline->system_returns | pipeline->watched_calls) >> i & 1))
			redundancy_breakpoint(
				pipeline->redundancy, thread->redundancy, tracee, &records[i],
				wanted && pipeline->captured ? &pipeline->capture : NULL,
				registers);
	}
	if (!late)
		begin_cycle(pipeline, thread, tracee);
}

/* Stages 2 to 4, while the thread runs: unwind, stitch, tree. NULL and counted when the tree is
 * full. */
static struct cct_node *find_context(struct pipeline *pipeline)
{
	struct cct_node *node;

	capture_finish(&pipeline->capture, pipeline->target, &pipeline->losses);
	if (pipeline->capture.native_end == UNWIND_NO_MODULE)
		pipeline->mappings_stale = true;
	node = cct_insert(pipeline->cct, pipeline->capture.frames, pipeline->capture.frame_count);
	if (!node)
		pipeline->losses.counts[LOSS_TREE_FULL]++;
	return node;
}

static void charge_gil(struct pipeline *pipeline, const struct pipeline_thread *thread,
		       uint64_t time_ns)
{
	enum gil_tenure gil = pipeline->capture.python.gil;

	pipeline->gil_known |= gil != GIL_UNKNOWN;
	if (gil == GIL_HELD)
		pipeline->threads.items[thread->times].gil_ns += time_ns;
}

/* The clock's ticks of this stop. node NULL: the tree is full. */
static void charge_ticks(struct pipeline *pipeline, struct pipeline_thread *thread,
			 struct cct_node *node)
{
	enum time_class time_class = capture_in_library(&pipeline->capture, pipeline->target)
					     ? TIME_NATIVE
					     : TIME_PYTHON;
	uint64_t time_ns = pipeline->clock_ns;

	time_balance_user(&thread->system.balance, time_ns);
	__atomic_add_fetch(&pipeline->samples, pipeline->clock_ticks, __ATOMIC_RELAXED);
	thread_times_charge(&pipeline->threads, thread->times, time_class, time_ns);
	timeline_charge(&pipeline->thread_timeline, thread->times, pipeline->event_ns, time_class,
			time_ns);
	charge_gil(pipeline, thread, time_ns);
	copy_volume_charge(&pipeline->copies, pipeline->target, &pipeline->capture.registers,
			   time_ns, node ? &node->side : NULL,
			   &pipeline->threads.items[thread->times].side);
	if (!node)
		return;
	cct_node_charge(node, time_class, pipeline->clock_ticks, time_ns);
	if (pipeline->capture.python.collecting)
		node->side.collecting_ns += time_ns;
	timeline_charge(&pipeline->node_timeline, node->id, pipeline->event_ns, time_class,
			time_ns);
	thread_stacks_charge(&pipeline->stacks, thread->times, node->id, pipeline->event_ns,
			     time_class, pipeline->clock_ticks, time_ns);
}

/* Of this stop, all of one place. node NULL: the tree is full. */
static void charge_faults(struct pipeline *pipeline, const struct pipeline_thread *thread,
			  struct cct_node *node)
{
	enum fresh_owner owner = capture_in_library(&pipeline->capture, pipeline->target)
					 ? FRESH_NATIVE
					 : FRESH_PYTHON;

	fresh_memory_charge(&pipeline->memory, pipeline->fault, pipeline->faults, owner,
			    node ? &node->side : NULL,
			    &pipeline->threads.items[thread->times].side);
}

static void pipeline_resumed(void *context, struct tracee *tracee)
{
	struct pipeline *pipeline = context;
	struct pipeline_thread *thread = tracee->user;
	struct cct_node *node = NULL;

	if (pipeline->idle || !thread)
		return;
	pipeline_account_stop(pipeline, thread);
	if (pipeline->captured &&
	    (pipeline->clock_ticks || pipeline->system_returns || pipeline->faults ||
	     (thread->redundancy && redundancy_wants_context(thread->redundancy))))
		node = find_context(pipeline);
	if (pipeline->clock_ticks) {
		pipeline_charge_turns(pipeline, thread, tracee);
		pipeline_collect_system_time(pipeline, thread, tracee);
	}
	system_time_resumed(&thread->system, node, pipeline->cct, &pipeline->losses);
	if (pipeline->clock_ticks && !pipeline->clocks)
		charge_ticks(pipeline, thread, node);
	if (pipeline->faults)
		charge_faults(pipeline, thread, node);
	if (pipeline->arguments && pipeline->clock_ticks && node)
		argument_sampler_log(pipeline->arguments, pipeline->event_ns, pipeline->clock_ns,
				     node->id);
	if (thread->redundancy && redundancy_wants_context(thread->redundancy))
		redundancy_resumed(pipeline->redundancy, thread->redundancy, node);
}

/* The tracer was held up: the thread runs, and where it was when it stopped says nothing now. */
static void abandoned(void *context, struct tracee *tracee)
{
	struct pipeline *pipeline = context;
	struct pipeline_thread *thread = tracee->user;

	if (!thread)
		return;
	pipeline_end_arguments(pipeline, thread, tracee, UINT64_MAX);
	return_slot(thread,
		    system_time_cancel(&thread->system, tracee, pipeline->cct, &pipeline->losses));
	if (thread->redundancy)
		redundancy_cancel(pipeline->redundancy, thread->redundancy, tracee);
}

/* Records the target's credentials at its exit: later reads use them. */
static void process_ends(void *context)
{
	struct pipeline *pipeline = context;

	target_files_look(&pipeline->target->files);
}

struct tracer_hooks pipeline_hooks(struct pipeline *pipeline)
{
	return (struct tracer_hooks){
		.context = pipeline,
		.thread_started = pipeline_thread_started,
		.thread_ended = pipeline_thread_ended,
		.stopped = pipeline_stopped,
		.resumed = pipeline_resumed,
		.abandoned = abandoned,
		.passed = pipeline_passed,
		.process_ends = process_ends,
	};
}

struct tick {
	struct pipeline *pipeline;
	uint64_t now_ns;
};

static int borrow_slot(struct pipeline *pipeline, struct pipeline_thread *thread,
		       struct tracee *tracee)
{
	if (thread->redundancy)
		return redundancy_lend_slot(pipeline->redundancy, thread->redundancy, tracee);
	return pipeline->breakpoints ? 0 : SYSTEM_TIME_NO_SLOT;
}

static void tick_system_time(struct pipeline *pipeline, struct pipeline_thread *thread,
			     struct tracee *tracee, uint64_t now_ns)
{
	int slot;

	pipeline_collect_system_time(pipeline, thread, tracee);
	return_slot(thread, system_time_expire(&thread->system, tracee, pipeline->cct,
					       &pipeline->losses, now_ns));
	if (!system_time_wants_slot(&thread->system))
		return;
	governor_fill(&pipeline->governor, &thread->bucket,
		      thread_events_running_ns(&tracee->events));
	if (governor_first_wait_ns(&pipeline->governor, &thread->bucket))
		return;
	slot = borrow_slot(pipeline, thread, tracee);
	if (slot != SYSTEM_TIME_NO_SLOT && !system_time_arm(&thread->system, tracee, slot))
		return_slot(thread, slot);
}

static void tick_thread(void *context, struct tracee *tracee)
{
	const struct tick *tick = context;
	struct pipeline *pipeline = tick->pipeline;
	struct pipeline_thread *thread = tracee->user;

	if (!thread)
		return;
	pipeline_tick_turns(pipeline, thread, tracee);
	pipeline_end_arguments(pipeline, thread, tracee, tick->now_ns);
	/* Of one that is not stopped, pipeline_passed() does. */
	if (!tracee->unstopped)
		tick_system_time(pipeline, thread, tracee, tick->now_ns);
	if (thread->redundancy)
		redundancy_expire(pipeline->redundancy, thread->redundancy, tracee, tick->now_ns);
}

void pipeline_tick(struct pipeline *pipeline, struct tracer *tracer, uint64_t now_ns)
{
	struct tick tick = { .pipeline = pipeline, .now_ns = now_ns };

	if (!pipeline->idle)
		tracer_for_each(tracer, tick_thread, &tick);
}

static void begin_thread(void *context, struct tracee *tracee)
{
	struct pipeline *pipeline = context;
	struct pipeline_thread *thread = tracee->user;

	if (!thread)
		return;
	pipeline_begin_waiting(pipeline, thread, tracee);
	pipeline_begin_turns(pipeline, thread, tracee);
	unclocked_thread_begin(&thread->unclocked, pipeline->target->pid, tracee->id.tid,
			       thread_events_running_ns(&tracee->events));
}

static void cancel_thread(void *context, struct tracee *tracee)
{
	struct pipeline *pipeline = context;
	struct pipeline_thread *thread = tracee->user;

	if (!thread)
		return;
	pipeline_collect_system_time(pipeline, thread, tracee);
	pipeline_end_arguments(pipeline, thread, tracee, UINT64_MAX);
	return_slot(thread,
		    system_time_cancel(&thread->system, tracee, pipeline->cct, &pipeline->losses));
	if (thread->redundancy)
		redundancy_cancel(pipeline->redundancy, thread->redundancy, tracee);
	pipeline_end_waiting(pipeline, thread, tracee);
	pipeline_charge_turns(pipeline, thread, tracee);
	unclocked_thread_measure(&pipeline->unclocked, &thread->unclocked, pipeline->target->pid,
				 tracee->id.tid, thread_events_running_ns(&tracee->events));
}

void pipeline_set_idle(struct pipeline *pipeline, struct tracer *tracer, bool idle)
{
	pipeline->idle = idle;
	if (!idle)
		unclocked_begin(&pipeline->unclocked, clock_now_ns());
	tracer_for_each(tracer, idle ? cancel_thread : begin_thread, pipeline);
}

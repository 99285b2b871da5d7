/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A sample of one thread that cannot be stopped, as it blocks the stop signal:
 *
 *   its clock's records --> how much CPU time, and in which code
 *   its memory, now     --> Python frames, where it has got to meanwhile
 *   both of many        --> Python's time or native (place_votes.h)
 *
 * A moment lies between both, some 50 us. Native frames and memory accesses are not
 * to be had; of a thread without Python frames, the function that it was in.
 */
#include "daemon/sample/passing_stack.h"
#include "daemon/sample/pipeline.h"
#include "daemon/sample/pipeline_thread.h"

/* No frames, but a place: code that no Python has called. */
static struct cct_node *insert_function(struct pipeline *pipeline, remote_addr ip)
{
	struct target *target = pipeline->target;
	struct address_range function = { 0 };
	struct frame frame = {
		.kind = FRAME_NATIVE,
		.native = { .module = module_find(target->modules, ip), .pc = ip },
	};
	struct cct_node *node;

	if (!unwinder_function_range(target->unwinder, ip, &function))
		frame.native.function = function.start;
	node = cct_insert(pipeline->cct, &frame, 1);
	if (!node)
		pipeline->losses.counts[LOSS_TREE_FULL]++;
	return node ? node : cct_root(pipeline->cct);
}

/* Of the instruction that a record tells of, and the frames read since. */
static enum time_class class_of_record(const struct pipeline *pipeline, remote_addr ip)
{
	const struct target *target = pipeline->target;
	const struct python_stack *python = &pipeline->capture.python;
	enum module_kind kind = target_module_kind(target, module_find(target->modules, ip));
	enum time_class time_class = kind == MODULE_LIBRARY ? TIME_NATIVE : TIME_PYTHON;

	if (!python->count)
		return kind == MODULE_INTERPRETER ? TIME_PYTHON : TIME_NATIVE;
	if (kind == MODULE_LIBRARY || address_ranges_contain(&target->eval, ip)) {
		if (pipeline->votes)
			place_votes_add(pipeline->votes, &python->frames[0], time_class);
		return time_class;
	}
	if (python->flags & PYTHON_STACK_UNLOCKED ||
	    (kind != MODULE_INTERPRETER && python->flags & PYTHON_STACK_STILL))
		time_class = TIME_NATIVE;
	return pipeline->votes ? place_votes_ask(pipeline->votes, &python->frames[0], time_class)
			       : time_class;
}

static void charge_passed(struct pipeline *pipeline, struct pipeline_thread *thread,
			  struct cct_node *node, const struct event_record *records, size_t count)
{
	uint64_t at_ns = records[count - 1].time_ns, time_ns = 0;
	enum time_class time_class = class_of_record(pipeline, records[count - 1].ip);
	struct profile_thread *times = &pipeline->threads.items[thread->times];
	const struct python_stack *python = &pipeline->capture.python;

	for (size_t i = 0; i < count; i++)
		time_ns += records[i].stands_for_ns;
	time_balance_user(&thread->system.balance, time_ns);
	__atomic_add_fetch(&pipeline->samples, count, __ATOMIC_RELAXED);
	thread_times_charge(&pipeline->threads, thread->times, time_class, time_ns);
	timeline_charge(&pipeline->thread_timeline, thread->times, at_ns, time_class, time_ns);
	cct_node_charge(node, time_class, count, time_ns);
	timeline_charge(&pipeline->node_timeline, node->id, at_ns, time_class, time_ns);
	thread_stacks_charge(&pipeline->stacks, thread->times, node->id, at_ns, time_class, count,
			     time_ns);
	times->unstopped_ns += time_ns;
	pipeline->gil_known |= python->gil != GIL_UNKNOWN;
	if (python->gil == GIL_HELD)
		times->gil_ns += time_ns;
	if (python->collecting)
		node->side.collecting_ns += time_ns;
}

/* Where it was when it was recorded; 0: in the kernel, and it has come from nowhere. */
static remote_addr place_of(const struct pipeline_thread *thread,
			    const struct event_record *records, size_t count)
{
	if (count)
		return records[count - 1].ip;
	return thread->system.count ? thread->system.places[0].ip : 0;
}

void pipeline_passed(void *context, struct tracee *tracee, const struct event_record *records,
		     size_t count)
{
	struct pipeline *pipeline = context;
	struct pipeline_thread *thread = tracee->user;
	struct cct_node *node;
	remote_addr ip;

	/* Its time is sampled in the kernel, where it can be. */
	if (pipeline->idle || !thread || pipeline->clocks)
		return;
	/* Without memory for them, what is called by either counts as Python's. */
	if (!pipeline->votes)
		pipeline->votes = place_votes_create();
	passing_stack_read(pipeline->target, tracee->inner_tid, &pipeline->capture.python,
			   &pipeline->losses);
	/* The kernel's first, as each makes up for what was charged before it. */
	pipeline->threads.items[thread->times].unstopped_ns +=
		pipeline_collect_system_time(pipeline, thread, tracee);
	ip = place_of(thread, records, count);
	if (ip && !module_find(pipeline->target->modules, ip))
		pipeline->mappings_stale = true;
	node = pipeline->capture.python.count || !ip
		       ? passing_stack_insert(&pipeline->capture.python, pipeline->cct,
					      pipeline->capture.frames, &pipeline->losses)
		       : insert_function(pipeline, ip);
	system_time_charge_all(&thread->system, node);
	if (count)
		charge_passed(pipeline, thread, node, records, count);
}

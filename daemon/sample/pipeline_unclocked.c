/* SPDX-License-Identifier: Apache-2.0 */
/* Time that no clock saw (unclocked_time.h), charged to threads and the tree. */
#include "common/clock.h"
#include "daemon/sample/pipeline.h"
#include "daemon/sample/pipeline_thread.h"

/* How finely time is spread over the timelines of which it is not known when it was. */
#define UNCLOCKED_PIECE_NS   (10 * NS_PER_MS)
#define UNCLOCKED_PIECES_MAX TIMELINE_NODE_SLICES_MAX

/* When it was is not known: evenly over time, in no more pieces than samples would have had. */
static void charge_evenly(struct timeline *timeline, size_t owner, uint64_t began_ns,
			  uint64_t ended_ns, uint64_t time_ns)
{
	uint64_t pieces = time_ns / UNCLOCKED_PIECE_NS;

	pieces = pieces < 1 ? 1 : pieces > UNCLOCKED_PIECES_MAX ? UNCLOCKED_PIECES_MAX : pieces;
	for (uint64_t i = 0; i < pieces; i++) {
		uint64_t part_ns = time_ns / (pieces - i);

		timeline_charge(timeline, owner,
				began_ns + (ended_ns - began_ns) * (2 * i + 1) / (2 * pieces),
				TIME_SYSTEM, part_ns);
		time_ns -= part_ns;
	}
}

struct unclocked_charge {
	struct pipeline *pipeline;
	const struct cct_node *node;
	uint64_t whole_ns, left_ns, ended_ns;
	uint64_t samples; /* of the thread that comes next */
};

static void charge_unclocked(struct unclocked_charge *charge, size_t times, uint64_t time_ns)
{
	struct pipeline *pipeline = charge->pipeline;

	if (time_ns > charge->left_ns)
		time_ns = charge->left_ns;
	if (!time_ns)
		return;
	charge->left_ns -= time_ns;
	thread_times_charge(&pipeline->threads, times, TIME_SYSTEM, time_ns);
	charge_evenly(&pipeline->thread_timeline, times, pipeline->unclocked.began_ns,
		      charge->ended_ns, time_ns);
	thread_stacks_charge_span(&pipeline->stacks, times, charge->node->id,
				  pipeline->unclocked.began_ns, charge->ended_ns, TIME_SYSTEM,
				  charge->samples, time_ns);
	charge->samples = 0;
}

static void charge_unclocked_thread(void *context, struct tracee *tracee)
{
	struct unclocked_charge *charge = context;
	struct pipeline_thread *thread = tracee->user;

	if (thread)
		charge_unclocked(charge, thread->times,
				 unclocked_part_ns(&charge->pipeline->unclocked, &thread->unclocked,
						   charge->whole_ns));
}

void pipeline_charge_unclocked(struct pipeline *pipeline, struct tracer *tracer, uint64_t cpu_ns)
{
	uint64_t whole_ns = unclocked_whole_ns(&pipeline->unclocked, cpu_ns);
	struct unclocked_charge charge = {
		.pipeline = pipeline,
		.whole_ns = whole_ns,
		.left_ns = whole_ns,
		.ended_ns = clock_now_ns(),
		.samples = 1,
	};
	const struct frame frame = frame_of_scheduling();
	struct cct_node *node;

	if (!whole_ns)
		return;
	node = cct_insert(pipeline->cct, &frame, 1);
	if (!node)
		node = cct_root(pipeline->cct);
	charge.node = node;
	cct_node_charge(node, TIME_SYSTEM, 1, whole_ns);
	charge_evenly(&pipeline->node_timeline, node->id, pipeline->unclocked.began_ns,
		      charge.ended_ns, whole_ns);
	tracer_for_each(tracer, charge_unclocked_thread, &charge);
	/* What is left is of threads that have ended. */
	charge_unclocked(&charge, 0, charge.left_ns);
}

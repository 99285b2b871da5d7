/* SPDX-License-Identifier: Apache-2.0 */
#include "daemon/session/session_window.h"

#include "daemon/report/model/profile_build.h"
#include "daemon/session/session_parts.h"
#include "daemon/session/session_window_fields.h"

#include <stdlib.h>
#include <string.h>

/* Of the last snapshot. */
static struct session_counters read_counters(const struct session *session)
{
	const struct profile_facts *facts = &session->snapshot_facts;
	struct session_counters counters = {
		.samples = facts->samples,
		.lost_ns = facts->lost_ns,
		.cpu_ns = facts->cpu_ns,
		.queued_ns = facts->queued_ns,
		.sampled_ns = facts->duration_ns,
		.losses = facts->losses,
		.stops = session->snapshot_stops.all,
		.period_ns = facts->period_ns,
		.nodes = session->snapshot_nodes,
		.pairs = session->snapshot_pairs,
		.origins = session->snapshot_origins,
		.threads = facts->thread_count,
	};

	for (size_t i = 0; i < facts->thread_count; i++) {
		const struct profile_thread *thread = &session->snapshot_threads[i];

		for (size_t c = 0; c < TIME_CLASS_COUNT; c++)
			if (c == TIME_PYTHON && facts->native_unknown)
				counters.user_ns += thread->time_ns[c];
			else
				counters.time_ns[c] += thread->time_ns[c];
		side_time_add(&counters.side, &thread->side);
		counters.gil_ns += thread->gil_ns;
	}
	return counters;
}

int session_count(struct session *session, struct session_counters *ret_counters)
{
	int error = session_take_snapshot(session, SNAPSHOT_FACTS);

	if (!error)
		*ret_counters = read_counters(session);
	return error;
}

/* The snapshot that was taken last, as long as nothing is taken out of it. */
static struct session_mark *mark_snapshot(const struct session *session)
{
	struct session_mark *mark = calloc(1, sizeof(*mark));
	size_t count;

	if (!mark)
		return NULL;
	if (snapshot_mark_take(&session->snapshot, &mark->figures))
		goto fail;
	count = session->snapshot_facts.thread_count;
	mark->threads = calloc(count + 1, sizeof(mark->threads[0]));
	if (!mark->threads)
		goto fail;
	memcpy(mark->threads, session->snapshot_threads, count * sizeof(mark->threads[0]));
	mark->thread_count = count;
	count = session->stack_count;
	mark->stacks = calloc(count + 1, sizeof(mark->stacks[0]));
	if (!mark->stacks)
		goto fail;
	memcpy(mark->stacks, session->stacks, count * sizeof(mark->stacks[0]));
	mark->stack_count = count;
	mark->facts = session->snapshot_facts;
	mark->stops = session->snapshot_stops;
	mark->elapsed_ns = session->snapshot_taken_ns - session->began_ns;
	return mark;
fail:
	session_mark_destroy(mark);
	return NULL;
}

struct session_mark *session_mark_create(struct session *session)
{
	return session_take_snapshot(session, SNAPSHOT_FIGURES) ? NULL : mark_snapshot(session);
}

void session_mark_destroy(struct session_mark *mark)
{
	if (!mark)
		return;
	snapshot_mark_deinit(&mark->figures);
	free(mark->threads);
	free(mark->stacks);
	free(mark);
}

/* Counters of how things are, rather than of what happened. */
static bool is_state(enum loss loss)
{
	return loss == LOSS_STOP_SIGNAL_BLOCKED || loss == LOSS_THREAD_EVENTS ||
	       loss == LOSS_MEMORY_EVENTS;
}

/* The snapshot's own facts, which the next one makes anew. */
static void subtract_facts(struct session *session, const struct session_mark *mark)
{
	struct profile_facts *facts = &session->snapshot_facts;
	struct stop_histograms *stops = &session->snapshot_stops;

	window_subtract(&window_profile_facts, facts, &mark->facts);
	for (size_t i = 0; i < LOSS_COUNT; i++)
		if (!is_state((enum loss)i))
			facts->losses.counts[i] -= mark->facts.losses.counts[i];
	facts->overhead = facts->cpu_ns ? (double)facts->lost_ns / (double)facts->cpu_ns : 0;
	if (facts->started_unix_ns)
		facts->started_unix_ns += mark->elapsed_ns;
	stop_histogram_subtract(&stops->all, &mark->stops.all);
	stop_histogram_subtract(&stops->samples, &mark->stops.samples);
	stop_histogram_subtract(&stops->breakpoints, &mark->stops.breakpoints);
	facts->stops = stop_histogram_times(&stops->all);
	facts->sample_stops = stop_histogram_times(&stops->samples);
	facts->breakpoint_stops = stop_histogram_times(&stops->breakpoints);
	/* Threads keep their places, also those that have ended. */
	for (size_t i = 0; i < mark->thread_count && i < facts->thread_count; i++)
		window_subtract(&window_profile_thread, &session->snapshot_threads[i],
				&mark->threads[i]);
	/* So do stacks. */
	for (size_t i = 0; i < mark->stack_count && i < session->stack_count; i++)
		window_subtract(&window_profile_stack, &session->stacks[i], &mark->stacks[i]);
}

struct profile *session_window(struct session *session,
			       const struct session_window_options *options)
{
	struct profile_facts *facts = &session->snapshot_facts;
	struct session_mark *next = NULL;
	struct profile *profile;

	if (session_take_snapshot(session, options->mark ? SNAPSHOT_FIGURES : SNAPSHOT_TIMELINES))
		return NULL;
	if (options->ret_next) {
		next = mark_snapshot(session);
		if (!next)
			return NULL;
	}
	if (options->mark) {
		if (snapshot_subtract(&session->snapshot, &options->mark->figures)) {
			session_mark_destroy(next);
			return NULL;
		}
		subtract_facts(session, options->mark);
		/* It has an end of its own. */
		facts->unfinished = false;
	} else {
		facts->thread_timeline = session->thread_timeline.view;
		facts->node_timeline = session->node_timeline.view;
		facts->stack_timeline = session->stack_timeline.view;
	}
	facts->stacks = session->stacks;
	facts->stack_count = session->stack_count;
	session_read_names(session, facts, session->snapshot_threads, options->version);
	facts->all_pairs = options->all_pairs;
	if (options->source && !session->options.no_source) {
		facts->open_source = session_open_source;
		facts->open_source_context = session;
	}
	profile = profile_build(session->snapshot.cct, session->snapshot.pairs,
				session->target.symbolizer, facts);
	if (profile && next)
		*options->ret_next = next;
	else
		session_mark_destroy(next);
	return profile;
}

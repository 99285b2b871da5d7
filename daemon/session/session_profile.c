/* SPDX-License-Identifier: Apache-2.0 */
/* What a session makes of its samples: facts, snapshots, profiles. */
#include "attach/procfs.h"
#include "common/clock.h"
#include "daemon/capture/target_sources.h"
#include "daemon/report/encode/escape.h"
#include "daemon/report/model/profile_build.h"
#include "daemon/report/model/source.h"
#include "daemon/session/session.h"
#include "daemon/session/session_parts.h"
#include "pyintrospect/thread_list.h"
#include "symbolize/line_info.h"

#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum process_end session_process_end(const struct session *session)
{
	static const enum process_end ends[] = {
		[TRACER_RUNNING] = PROCESS_RUNNING,
		[TRACER_TARGET_EXITED] = PROCESS_EXITED,
		[TRACER_TARGET_KILLED] = PROCESS_KILLED,
		[TRACER_TARGET_REPLACED] = PROCESS_REPLACED,
	};

	return ends[session->end];
}

int session_end_status(const struct session *session)
{
	return session->tracer ? tracer_exit_status(session->tracer) : 0;
}

/* Since 1970; a clock that was set meanwhile shifts the profile, but not its duration. */
static uint64_t started_unix_ns(const struct session *session)
{
	uint64_t now_ns = clock_read_ns(CLOCK_REALTIME);

	return now_ns ? now_ns - (clock_now_ns() - session->began_ns) : 0;
}

/* As threading knows them now; a thread that has ended keeps the kernel's name. */
static void name_threads(const struct session *session, const struct profile_facts *facts,
			 struct profile_thread *threads)
{
	struct python_thread_list list;

	if (!session->target.runtime || facts->target_exited ||
	    python_thread_list_read(session->target.runtime, &list))
		return;
	for (size_t i = 0; i < facts->thread_count; i++) {
		struct profile_thread *thread = &threads[i];
		struct process_status status;

		if (!thread->tid || procfs_read_status(session->options.pid, thread->tid, &status))
			continue;
		for (size_t k = 0; k < list.count; k++)
			if (list.items[k].tid && list.items[k].tid == status.inner_pid &&
			    list.items[k].name[0])
				snprintf(thread->name, sizeof(thread->name), "%s",
					 list.items[k].name);
	}
	python_thread_list_deinit(&list);
}

static uint64_t sampled_cpu_ns(const struct session *session)
{
	uint64_t now_ns = session->last_cpu_ns - session->resumed_cpu_ns;

	return session->cpu_ns + (session->state == SESSION_SAMPLING ? now_ns : 0);
}

/* Without a tracer nobody saw how it ended: a report says no status that it does not know. */
static enum process_end seen_end(const struct session *session)
{
	enum process_end end = session_process_end(session);

	return session->tracer || end == PROCESS_REPLACED ? end : PROCESS_RUNNING;
}

static void name_machine(struct profile_target *target)
{
	long processors = sysconf(_SC_NPROCESSORS_ONLN);

	if (gethostname(target->host, sizeof(target->host) - 1))
		target->host[0] = '\0';
	target->processors = processors > 0 ? (uint32_t)processors : 0;
}

/* All that takes no time to find out. */
/* Of the samples of time; its clocks are let go of when the session ends. */
static uint64_t period_of(const struct session *session)
{
	if (session->clocks)
		return clock_sampler_period_ns(session->clocks);
	return session->clocked ? session->clocked_period_ns : session->options.period_ns;
}

static struct profile_facts current_facts(const struct session *session)
{
	const struct pipeline *pipeline = &session->pipeline;
	const struct tracer_counts *counts = session->tracer ? tracer_counts(session->tracer)
							     : &(const struct tracer_counts){ 0 };
	uint64_t cpu = sampled_cpu_ns(session);
	struct profile_facts facts = {
		.target = {
			.pid = session->options.pid,
			.parent = session->parent,
			.start_time = session->start_time,
			.end = seen_end(session),
			.end_status = session_end_status(session),
			.python = session->target.runtime
					  ? python_runtime_version(session->target.runtime)
					  : (struct python_version){ 0 },
			.command = (const char *const *)session->command,
			.container = session->container,
			.labels = session->labels,
		},
		.sampler = session->unstopped ? "unstopped" : session->sampler,
		.sampler_limits = session->unstopped ? UNSTOPPED_LIMITS : NULL,
		.period_ns = period_of(session),
		.wanted_period_ns = session->period.wanted_ns,
		.started_unix_ns = started_unix_ns(session),
		.process_started_unix_ns = session->process_started_unix_ns,
		.duration_ns = session->sampled_ns,
		.samples = pipeline->samples,
		.losses = pipeline->losses,
		.stops = stop_histogram_times(&pipeline->stops.all),
		.sample_stops = stop_histogram_times(&pipeline->stops.samples),
		.breakpoint_stops = stop_histogram_times(&pipeline->stops.breakpoints),
		.lost_ns = pipeline->lost_ns,
		.cpu_ns = cpu,
		.queued_ns = session->queued.time_ns,
		.queued_known = session->queued.known,
		.throttled_ns = session->queued.supplied.throttled_ns,
		.machine_idle_ns = session->queued.supplied.idle_ns,
		.machine_ns = session->queued.supplied.all_ns,
		.peeks = pipeline->peeks,
		.peeks_seen = pipeline->peeks_seen,
		.peeks_waited = pipeline->peeks_waited,
		.overhead = cpu ? (double)pipeline->lost_ns / (double)cpu : 0,
		.overhead_limit = session->options.max_overhead,
		.target_exited = session->end != TRACER_RUNNING,
		.unfinished = session->thread_exists,
		.other_root = !session->target.files.same_root,
	};

	memcpy(facts.target.comm, session->comm, sizeof(facts.target.comm));
	name_machine(&facts.target);
	facts.losses.counts[LOSS_STOP_ABANDONED] += counts->abandoned;
	facts.losses.counts[LOSS_STRAY_TRAP] += counts->stray_traps;
	facts.losses.counts[LOSS_STOP_SIGNAL_BLOCKED] += counts->threads_blocking;
	facts.losses.counts[LOSS_STOP_SIGNAL_PENDING] += counts->signals_left;
	facts.losses.counts[LOSS_THREAD_EVENTS] += counts->threads_refused;
	facts.losses.counts[LOSS_THREAD_MEMORY] += counts->refused_memory;
	facts.losses.counts[LOSS_THREAD_FILES] += counts->refused_files;
	facts.losses.counts[LOSS_MEMORY_EVENTS] += counts->memory_refused;
	facts.losses.counts[LOSS_TARGET_LIMIT] +=
		counts->threads_beyond + target_left_out(&session->target);
	facts.waits = session->options.waits;
	facts.memory = session->options.memory;
	if (facts.memory)
		facts.resident = fresh_memory_figures(&pipeline->memory);
	facts.allocations = session->allocations_seen;
	if (facts.allocations) {
		struct allocation_figures figures =
			session->clocks ? clock_sampler_allocations(session->clocks)
					: session->allocations;

		facts.allocation_counts = figures.counts;
		facts.small_objects = figures.python;
		facts.malloc_unseen = !figures.library;
	}
	facts.copies = copy_volume_known(&pipeline->copies) && !session->unstopped;
	facts.open_source_context = (void *)(uintptr_t)session;
	facts.source_memory = &session_source_memory;
	facts.start_frames = session->options.start_frames;
	facts.native_unknown = session->unstopped != NULL;
	facts.gil_known = pipeline->gil_known;
	facts.kernel_time_refused = counts->kernel_refused_errno != 0;
	facts.threads = pipeline->threads.items;
	facts.thread_count = pipeline->threads.count;
	facts.patterns = session->options.patterns;
	return facts;
}

static int copy_timeline(struct timeline_copy *copy, const struct timeline *timeline)
{
	copy->view = timeline_view(timeline);
	if (copy->view.cell_count > copy->capacity) {
		struct profile_cell *cells =
			reallocarray(copy->cells, copy->view.cell_count, sizeof(*cells));

		if (!cells)
			return -ENOMEM;
		copy->cells = cells;
		copy->capacity = copy->view.cell_count;
	}
	if (copy->view.cell_count)
		memcpy(copy->cells, copy->view.cells,
		       copy->view.cell_count * sizeof(copy->cells[0]));
	copy->view.cells = copy->cells;
	return 0;
}

static int copy_stacks(struct session *session)
{
	const struct thread_stacks *stacks = &session->pipeline.stacks;
	struct profile_stack *items =
		reallocarray(session->stacks, stacks->count + 1, sizeof(*items));

	if (!items)
		return -ENOMEM;
	if (stacks->count)
		memcpy(items, stacks->items, stacks->count * sizeof(*items));
	session->stacks = items;
	session->stack_count = stacks->count;
	return 0;
}

/* All of one moment: the slices of one are parts of the other's. */
static int copy_timelines(struct session *session)
{
	int error = copy_timeline(&session->thread_timeline, &session->pipeline.thread_timeline);

	if (!error)
		error = copy_timeline(&session->node_timeline, &session->pipeline.node_timeline);
	return error ? error
		     : copy_timeline(&session->stack_timeline, &session->pipeline.stacks.timeline);
}

/* The facts that go with a snapshot, at its end. */
static int copy_facts(struct session *session)
{
	const struct thread_times *times = &session->pipeline.threads;
	struct profile_thread *threads =
		reallocarray(session->snapshot_threads, times->count, sizeof(*threads));

	if (!threads)
		return -ENOMEM;
	memcpy(threads, times->items, times->count * sizeof(*threads));
	session->snapshot_threads = threads;
	session->last_cpu_ns = session_target_cpu_ns(session);
	if (session->state == SESSION_SAMPLING)
		queued_time_update(&session->queued, session->options.pid, clock_now_ns());
	session->snapshot_facts = current_facts(session);
	if (session->state == SESSION_SAMPLING)
		session->snapshot_facts.duration_ns += clock_now_ns() - session->resumed_ns;
	session->snapshot_facts.threads = threads;
	session->snapshot_stops = session->pipeline.stops;
	session->snapshot_facts.stop_histograms = &session->snapshot_stops;
	session->snapshot_taken_ns = clock_now_ns();
	session->snapshot_nodes = cct_node_count(session->pipeline.cct);
	session->snapshot_pairs = pair_table_pair_count(session->pipeline.pairs);
	session->snapshot_origins = pair_table_origin_count(session->pipeline.pairs);
	return 0;
}

void session_copy_some(struct session *session)
{
	int error = session->facts_wanted ? 0
					  : snapshot_step(&session->snapshot, session->pipeline.cct,
							  session->pipeline.pairs);

	session->copying = error == -EAGAIN;
	if (session->copying)
		return;
	if (!error && !session->facts_wanted)
		error = copy_stacks(session);
	if (!error && session->timelines_wanted)
		error = copy_timelines(session);
	session->snapshot_error = error ? error : copy_facts(session);
	session->snapshot_wanted = false;
	pthread_cond_broadcast(&session->changed);
}

void session_read_names(struct session *session, struct profile_facts *facts,
			struct profile_thread *threads, const char *version)
{
	facts->version = version;
	name_threads(session, facts, threads);
	target_read_names(&session->target);
	if (session->options.native_lines && !session->line_info)
		session->line_info = line_info_create(&session->target.search);
	facts->line_info = session->line_info;
}

static struct profile *build_profile(struct session *session, const char *version, bool all_pairs)
{
	struct pipeline *pipeline = &session->pipeline;
	struct profile_facts facts = current_facts(session);
	struct profile *profile;
	char *deadlock = NULL;

	/* The interpreter is read by one thread at a time. */
	if (facts.waits && !facts.unfinished && !facts.target_exited)
		deadlock = session_find_deadlock(session);
	facts.deadlock = deadlock;
	session_read_names(session, &facts, pipeline->threads.items, version);
	facts.all_pairs = all_pairs;
	if (pipeline->arguments && session->clocked)
		argument_sampler_weigh(pipeline->arguments, pipeline->cct);
	if (pipeline->arguments)
		facts.arguments = argument_sampler_argument_log(pipeline->arguments);
	facts.stop_histograms = &pipeline->stops;
	facts.open_source = session->options.no_source ? NULL : session_open_source;
	facts.open_source_context = session;
	facts.thread_timeline = timeline_view(&pipeline->thread_timeline);
	facts.node_timeline = timeline_view(&pipeline->node_timeline);
	facts.stacks = pipeline->stacks.items;
	facts.stack_count = pipeline->stacks.count;
	facts.stack_timeline = timeline_view(&pipeline->stacks.timeline);
	profile = profile_build(pipeline->cct, pipeline->pairs, session->target.symbolizer, &facts);
	free(deadlock);
	return profile;
}

struct profile *session_profile(struct session *session, const char *version)
{
	return build_profile(session, version, false);
}

struct profile *session_profile_for_merge(struct session *session, const char *version)
{
	return build_profile(session, version, true);
}

int session_take_snapshot(struct session *session, enum snapshot_extent extent)
{
	bool facts_alone = extent == SNAPSHOT_FACTS;
	int error;

	if (!facts_alone && !session->snapshot.cct &&
	    snapshot_init(&session->snapshot, session_node_limit(session),
			  session_pair_limit(session))) {
		snapshot_deinit(&session->snapshot);
		return -ENOMEM;
	}
	pthread_mutex_lock(&session->lock);
	session->facts_wanted = facts_alone;
	session->timelines_wanted = extent == SNAPSHOT_TIMELINES;
	session->snapshot_wanted = true;
	while (session->snapshot_wanted && session->state != SESSION_ENDED)
		session_await(session);
	/* With the tracer's thread gone, there is only this one to do it. */
	while (session->snapshot_wanted)
		session_copy_some(session);
	error = session->snapshot_error;
	pthread_mutex_unlock(&session->lock);
	return error;
}

struct profile *session_snapshot(struct session *session, const char *version)
{
	if (session_take_snapshot(session, SNAPSHOT_FIGURES))
		return NULL;
	session_read_names(session, &session->snapshot_facts, session->snapshot_threads, version);
	return profile_build(session->snapshot.cct, session->snapshot.pairs,
			     session->target.symbolizer, &session->snapshot_facts);
}

int session_open_source(void *session, const char *path)
{
	struct session *opened = session;

	return opened->options.no_source ? -ENOENT
					 : target_sources_open(opened->target.sources, path);
}

static char *source_text(void *session, const char *path, size_t *ret_size)
{
	struct session *opened = session;

	return opened->options.no_source
		       ? NULL
		       : target_sources_text(opened->target.sources, path, ret_size);
}

static const char *source_title(void *session, const char *path)
{
	return target_sources_title(((struct session *)session)->target.sources, path);
}

const struct source_memory session_source_memory = { .text = source_text, .title = source_title };

void session_describe(const struct session *session, FILE *file)
{
	static const char *const sources[] = {
		[PYTHON_OFFSETS_DEBUG_OFFSETS] = "its own _Py_DebugOffsets",
		[PYTHON_OFFSETS_DWARF] = "its DWARF",
		[PYTHON_OFFSETS_TABLE] = "the built-in table",
	};
	const struct target *target = &session->target;
	struct python_version version;

	fprintf(file, "process %d (", session->options.pid);
	escape_put(file, session->comm);
	if (!target->runtime) {
		fputs("), an interpreter that could not be read in ", file);
		escape_put(file, target->interpreter->path);
		fputc('\n', file);
		return;
	}
	version = python_runtime_version(target->runtime);
	fprintf(file, "), CPython %d.%d in ", version.major, version.minor);
	escape_put(file, target->interpreter->path);
	fprintf(file, ", offsets from %s\n",
		sources[python_runtime_offsets_source(target->runtime)]);
	for (size_t i = 0; i < target->eval.count; i++)
		fprintf(file, "evaluation loop, part %zu: 0x%llx to 0x%llx\n", i + 1,
			(unsigned long long)target->eval.items[i].start,
			(unsigned long long)target->eval.items[i].end);
	if (session->unstopped) {
		fprintf(file, "perf events are refused: threads are read without stopping them\n");
		return;
	}
	fprintf(file, "%zu mappings, %zu modules, %u debug registers, stop signal SIG%s\n",
		target->mappings.count, module_table_count(target->modules),
		session->preflight.breakpoints, sigabbrev_np(session->preflight.stop_signal));
}

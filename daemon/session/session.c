/* SPDX-License-Identifier: Apache-2.0 */
#include "daemon/session/session.h"

#include "attach/container_name.h"
#include "attach/label_reader.h"
#include "attach/procfs.h"
#include "common/clock.h"
#include "daemon/report/model/container_text.h"
#include "daemon/session/session_parts.h"
#include "symbolize/line_info.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* An order that has met the tracer's thread on its way to sleep is given again. */
#define ORDER_AGAIN_NS (5 * NS_PER_MS)
/* For unwind tables to come from disk; what is not there by then may be read in a stop. */
#define TABLES_MAX_NS (200 * NS_PER_MS)

static void note(struct session *session, const char *text)
{
	size_t used = strlen(session->notes);

	snprintf(session->notes + used, sizeof(session->notes) - used, "%s\n", text);
}

uint64_t session_target_cpu_ns(const struct session *session)
{
	clockid_t clock;
	struct timespec now;

	/* /proc/PID/stat counts in hundredths of a second. */
	if (clock_getcpuclockid(session->options.pid, &clock) || clock_gettime(clock, &now) < 0)
		return session->last_cpu_ns;
	return (uint64_t)now.tv_sec * NS_PER_SECOND + (uint64_t)now.tv_nsec;
}

/*
 * When the process began, at the latest: its start is known in clock ticks
 * since boot. By the clock as it is set now, as the times of files are.
 */
static uint64_t process_started_unix_ns(pid_t pid)
{
	uint64_t tick_ns = NS_PER_SECOND / (uint64_t)sysconf(_SC_CLK_TCK);
	struct timespec now, since_boot;
	struct process_times times;
	int64_t started_ns;

	if (procfs_read_times(pid, 0, &times) || clock_gettime(CLOCK_REALTIME, &now) < 0 ||
	    clock_gettime(CLOCK_BOOTTIME, &since_boot) < 0)
		return 0;
	started_ns = (int64_t)(now.tv_sec - since_boot.tv_sec) * (int64_t)NS_PER_SECOND +
		     now.tv_nsec - since_boot.tv_nsec + (int64_t)((times.start_time + 1) * tick_ns);
	return started_ns > 0 ? (uint64_t)started_ns : 0;
}

/* Do both processes resolve a path to the same file? */
static void read_identity(struct session *session)
{
	struct process_status status;
	struct process_times times;
	struct container container;
	bool contained;

	if (!procfs_read_status(session->options.pid, 0, &status)) {
		snprintf(session->comm, sizeof(session->comm), "%.15s", status.name);
		session->parent = status.parent;
	}
	if (!procfs_read_times(session->options.pid, 0, &times))
		session->start_time = times.start_time;
	session->process_started_unix_ns = process_started_unix_ns(session->options.pid);
	if (procfs_read_command(session->options.pid, &session->command))
		session->command = NULL;
	contained = !container_read(session->options.pid, &container);
	if (contained)
		session->container = profile_container_of(&container);
	labels_read(session->options.pid, contained ? &container : NULL, &session->labels);
}

pid_t session_pid(const struct session *session)
{
	return session->options.pid;
}

const struct profile_container *session_container(const struct session *session)
{
	return &session->container;
}

const struct process_labels *session_labels(const struct session *session)
{
	return &session->labels;
}

/* The processor's own sampling, when it can sample all that is asked for. */
static void choose_sampler(struct session *session, bool loads, bool stores)
{
	const struct preflight *preflight = &session->preflight;
	size_t count = 0;

	snprintf(session->sampler, sizeof(session->sampler), "clock");
	if ((!loads && !stores) || (loads && !preflight->load_count) ||
	    (stores && !preflight->store_count))
		return;
	for (size_t i = 0; loads && i < preflight->load_count; i++)
		session->memory_events[count++] = preflight->loads[i];
	for (size_t i = 0; stores && i < preflight->store_count; i++)
		/* One that samples both is there already. */
		if (!loads || preflight->stores[i].kinds == ACCESS_STORE)
			session->memory_events[count++] = preflight->stores[i];
	session->memory_event_count = count < MEMORY_EVENTS_MAX ? count : MEMORY_EVENTS_MAX;
	snprintf(session->sampler, sizeof(session->sampler), "pmu:%s",
		 session->memory_events[0].name);
}

/* A tracer sees memory accesses, waiting, and what the process forks. */
static bool needs_tracer(const struct session_options *options)
{
	return options->engine != ENGINE_KERNEL &&
	       (options->loads || options->stores || options->waits || options->count_forks);
}

/* With stops beside them, their part of the limit at most. */
#define CLOCKS_SHARE        0.2
#define CLOCKS_SHARE_MEMORY 0.4

void session_close_clocks(struct session *session)
{
	struct clock_sampler *clocks = session->clocks;

	if (!clocks)
		return;
	session->clocks = NULL;
	session->clocked_period_ns = clock_sampler_period_ns(clocks);
	session->allocations = clock_sampler_allocations(clocks);
	clock_sampler_destroy(clocks);
}

/* The kernel's own sampling, where it is wanted and possible; *error says why it was refused. */
static int open_clocks(struct session *session, struct error *error)
{
	const struct session_options *options = &session->options;
	struct pipeline *pipeline = &session->pipeline;
	const struct clock_sink sink = {
		.target = &session->target,
		.capture = &pipeline->capture,
		.cct = pipeline->cct,
		.losses = &pipeline->losses,
		.threads = &pipeline->threads,
		.node_timeline = &pipeline->node_timeline,
		.stacks = &pipeline->stacks,
		.thread_timeline = &pipeline->thread_timeline,
		.samples = &pipeline->samples,
		.lost_ns = &pipeline->lost_ns,
		.gil_known = &pipeline->gil_known,
		.mappings_stale = &pipeline->mappings_stale,
		.memory = options->memory ? &pipeline->memory : NULL,
		.copies = &pipeline->copies,
		.kernel = options->no_kernel_frames ? NULL : &pipeline->kernel_functions,
	};
	/* Probes at allocators get half of it. */
	double limit = options->max_overhead * (options->allocations ? 0.5 : 1);
	double share = !needs_tracer(options) ? 1
		       : options->memory      ? CLOCKS_SHARE_MEMORY
					      : CLOCKS_SHARE;
	struct error refusal;

	if (options->engine == ENGINE_PTRACE)
		return 0;
	session->clocks = clock_sampler_create(&sink, options->period_ns, share * limit, &refusal);
	session->clocked = session->clocks != NULL;
	if (session->clocks && !session->memory_event_count)
		snprintf(session->sampler, sizeof(session->sampler), "kernel");
	if (session->clocks || options->engine == ENGINE_AUTO)
		return 0;
	*error = refusal;
	return -1;
}

/* Nor is there the kernel's engine. */
static void explain_unstopped(struct session *session)
{
	session->degraded = true;
	note(session, session->perf_refusal.cause);
	note(session, session->perf_refusal.cure);
	note(session, "threads are read without stopping them instead:");
	note(session, UNSTOPPED_LIMITS);
	if (session->options.waits)
		note(session, "threads that sleep are not looked at: --idle has no effect");
	if (session->options.memory)
		note(session, "page faults are not sampled: of memory, there is what was resident");
	session->options.waits = false;
}

/* Probes at the allocators, where they are wanted; without them the rest is the same. */
/* Of the limit of overhead, the part that windows of probes at allocators may take. */
#define ALLOCATIONS_SHARE 0.5
/* What is left for stops in any case: without some there would be no redundant accesses. */
#define STOPS_SHARE_LEAST 0.1

static double limit_of_stops(const struct session *session)
{
	double limit = session->options.max_overhead, left = limit;

	left -= clock_sampler_share(session->clocks);
	if (session->allocations_seen)
		left -= ALLOCATIONS_SHARE * limit;
	return left > STOPS_SHARE_LEAST * limit ? left : STOPS_SHARE_LEAST * limit;
}

static void open_allocations(struct session *session)
{
	struct error refusal;

	if (!session->options.allocations)
		return;
	if (!session->clocks) {
		session->degraded = true;
		note(session, "allocations are not seen: they need samples by the kernel");
		return;
	}
	session->allocations_seen = !clock_sampler_add_allocations(
		session->clocks, ALLOCATIONS_SHARE * session->options.max_overhead, &refusal);
	if (session->allocations_seen)
		return;
	session->degraded = true;
	note(session, refusal.cause);
	note(session, refusal.cure);
}

static int open_pipeline(struct session *session, struct error *error)
{
	bool breakpoints = session->preflight.breakpoints > 0;
	struct pipeline_options options = {
		.loads = session->options.loads && breakpoints,
		.stores = session->options.stores && breakpoints,
		.breakpoints = session->preflight.breakpoints,
		.max_overhead = session->options.max_overhead,
		.timeout_ns = session->options.timeout_ns,
		.seed = clock_now_ns() ^ (uint64_t)session->options.pid << 32,
		.node_limit = session_node_limit(session),
		.pair_limit = session_pair_limit(session),
		.waits = session->options.waits && !session->without_perf,
		.memory = session->options.memory,
	};

	choose_sampler(session, options.loads, options.stores);
	options.memory_events = session->memory_event_count > 0;
	if (pipeline_init(&session->pipeline, &session->target, &options)) {
		error_set(error, EXIT_INTERNAL, "out of memory");
		return -1;
	}
	if (open_clocks(session, error))
		return -1;
	session->pipeline.clocks = session->clocks;
	open_allocations(session);
	if (session->clocks)
		governor_init(&session->pipeline.governor, limit_of_stops(session),
			      options.loads || options.stores);
	if (session->clocks && session->pipeline.arguments)
		governor_share_peeks(&session->pipeline.governor);
	if (session->clocks && !needs_tracer(&session->options))
		return 0;
	if (session->preflight.stop_signal_is_shared)
		note(session, "the target handles the stop signal itself; choose another with "
			      "--stop-signal if that disturbs it");
	if (session->without_perf) {
		struct unstopped_sink sink = {
			.cct = session->pipeline.cct,
			.losses = &session->pipeline.losses,
			.threads = &session->pipeline.threads,
			.node_timeline = &session->pipeline.node_timeline,
			.stacks = &session->pipeline.stacks,
			.thread_timeline = &session->pipeline.thread_timeline,
			.samples = &session->pipeline.samples,
		};

		explain_unstopped(session);
		session->unstopped = unstopped_sampler_create(&session->target,
							      session->options.period_ns, &sink);
	} else {
		uint64_t first_ns = governor_first_period(&session->pipeline.governor);

		/* Until it is known what stops cost here. */
		if (session->options.period_ns < first_ns)
			session->options.period_ns = first_ns;
		session->pipeline.switches = switch_cost();
		session->hooks = pipeline_hooks(&session->pipeline);
		session->tracer =
			tracer_create(session->options.pid, session->preflight.stop_signal,
				      session->options.period_ns, &session->hooks);
	}
	if (!session->tracer && !session->unstopped) {
		error_set(error, EXIT_INTERNAL, "out of memory");
		return -1;
	}
	if (session->tracer)
		tracer_sample_memory(session->tracer, session->memory_events,
				     session->memory_event_count);
	if (session->tracer && session->clocks)
		tracer_leave_kernel_time(session->tracer);
	if (session->tracer && !session->clocks && session->options.memory)
		tracer_sample_faults(session->tracer);
	if (session->tracer && session->options.count_forks)
		tracer_count_forks(session->tracer);
	return 0;
}

/* Without Python frames there are no native calls to tell apart: time alone. */
static int check_python(struct session *session, struct error *error)
{
	const struct error *refusal = &session->target.python_refusal;

	if (session->target.runtime)
		return 0;
	if (session->options.breakpoints_required || session->without_perf) {
		*error = *refusal;
		return -1;
	}
	if (session->options.python_required) {
		*error = *refusal;
		return -1;
	}
	note(session, refusal->cause);
	if (refusal->cure[0])
		note(session, refusal->cure);
	note(session, "Python frames are left out: native stacks and time alone");
	session->degraded = true;
	session->options.loads = session->options.stores = false;
	return 0;
}

/*
 * Where perf events alone are refused, time can still be sampled: *error says
 * why nothing else can, which is told unless the kernel's engine does it.
 */
static bool do_without_perf(struct session *session, const struct error *error)
{
	int refusal = preflight_probe_clock(session->options.pid);

	if (error->exit_code != EXIT_PERMISSION || session->options.breakpoints_required ||
	    (refusal != -EPERM && refusal != -EACCES && refusal != -ENOSYS && refusal != -ENOBUFS))
		return false;
	session->without_perf = true;
	session->perf_refusal = *error;
	return true;
}

struct session *session_create(const struct session_options *options, struct error *error)
{
	struct session *session = calloc(1, sizeof(*session));

	if (!session) {
		error_set(error, EXIT_INTERNAL, "out of memory");
		return NULL;
	}
	session->options = *options;
	period_init(&session->period, options->period_ns);
	pthread_mutex_init(&session->lock, NULL);
	pthread_cond_init(&session->changed, NULL);
	if (preflight_check(options->pid, options->stop_signal, &session->preflight, error) &&
	    !do_without_perf(session, error))
		goto fail;
	if ((options->loads || options->stores) && !session->preflight.breakpoints &&
	    !session->without_perf) {
		struct error why;

		preflight_explain_breakpoints(options->pid, session->preflight.breakpoint_errno,
					      &why);
		if (options->breakpoints_required) {
			*error = why;
			goto fail;
		}
		note(session, why.cause);
		note(session, "no memory accesses are followed: this profile shows time alone");
		session->degraded = true;
	}
	read_identity(session);
	if (target_init(&session->target, options->pid, options->download, options->impersonator,
			options->layouts, error))
		goto fail;
	if (check_python(session, error) || open_pipeline(session, error))
		goto fail;
	if (!session->unstopped)
		unwinder_await_tables(session->target.unwinder, TABLES_MAX_NS);
	return session;
fail:
	session_destroy(session);
	return NULL;
}

void session_destroy(struct session *session)
{
	if (!session)
		return;
	session_finish(session);
	tracer_destroy(session->tracer);
	snapshot_deinit(&session->snapshot);
	free(session->snapshot_threads);
	free(session->thread_timeline.cells);
	free(session->node_timeline.cells);
	free(session->stack_timeline.cells);
	free(session->stacks);
	unstopped_sampler_destroy(session->unstopped);
	session_close_clocks(session);
	pipeline_deinit(&session->pipeline);
	if (session->line_info)
		line_info_destroy(session->line_info);
	target_deinit(&session->target);
	pthread_cond_destroy(&session->changed);
	pthread_mutex_destroy(&session->lock);
	free(session->command);
	free(session);
}

void session_set_state(struct session *session, enum session_state state)
{
	session->state = state;
	pthread_cond_broadcast(&session->changed);
}

int session_start(struct session *session, struct error *error)
{
	int failure;

	session->state = SESSION_ATTACHING;
	failure = pthread_create(&session->thread, NULL, session_trace, session);
	if (failure) {
		error_set(error, EXIT_INTERNAL, "no thread could be created: %s",
			  strerror(failure));
		return -1;
	}
	session->thread_exists = true;
	/* Without one the target is no worse off than with a daemon that works. */
	if (session->tracer &&
	    watchdog_start(&session->watchdog, session->options.pid, session->thread,
			   tracer_relief(session->tracer), session->options.last_resort,
			   session->options.last_resort_context))
		note(session, "no thread could be created to watch over the tracer");
	pthread_mutex_lock(&session->lock);
	while (session->state == SESSION_ATTACHING)
		pthread_cond_wait(&session->changed, &session->lock);
	pthread_mutex_unlock(&session->lock);
	if (session->attach_failed) {
		*error = session->attach_error;
		return -1;
	}
	return 0;
}

struct session_progress session_progress(struct session *session)
{
	struct session_progress progress = {
		.samples = __atomic_load_n(&session->pipeline.samples, __ATOMIC_RELAXED),
	};

	pthread_mutex_lock(&session->lock);
	progress.running = session->state != SESSION_ENDED;
	if (!progress.running) {
		progress.end = session_process_end(session);
		progress.end_status = session_end_status(session);
		progress.end_seen = session->tracer != NULL;
		progress.forks = session->tracer ? tracer_counts(session->tracer)->forks : 0;
	}
	pthread_mutex_unlock(&session->lock);
	return progress;
}

/* The tracer's thread sleeps until something happens to the target: an order is that, too. */
static void wake_tracer(struct session *session)
{
	if (session->thread_exists && session->tracer && session->state != SESSION_ENDED)
		tracer_wake(session->tracer, session->thread);
}

void session_await(struct session *session)
{
	struct timespec until;

	wake_tracer(session);
	until = clock_timespec(clock_now_ns() + ORDER_AGAIN_NS);
	(void)pthread_cond_clockwait(&session->changed, &session->lock, CLOCK_MONOTONIC, &until);
}

void session_pause(struct session *session)
{
	pthread_mutex_lock(&session->lock);
	session->pause_wanted = true;
	while (session->state == SESSION_SAMPLING)
		session_await(session);
	pthread_mutex_unlock(&session->lock);
}

void session_resume(struct session *session)
{
	pthread_mutex_lock(&session->lock);
	session->pause_wanted = false;
	wake_tracer(session);
	pthread_mutex_unlock(&session->lock);
}

void session_ask_finish(struct session *session)
{
	pthread_mutex_lock(&session->lock);
	session->finish_wanted = true;
	wake_tracer(session);
	pthread_mutex_unlock(&session->lock);
}

void session_finish(struct session *session)
{
	if (!session->thread_exists)
		return;
	/* Held up, it would never end: it is watched over until it does, or the daemon ends. */
	watchdog_expect_end(&session->watchdog, WATCHDOG_END_LOOKS);
	pthread_mutex_lock(&session->lock);
	session->finish_wanted = true;
	while (session->state != SESSION_ENDED)
		session_await(session);
	pthread_mutex_unlock(&session->lock);
	pthread_join(session->thread, NULL);
	watchdog_end(&session->watchdog);
	session->thread_exists = false;
}

bool session_is_degraded(const struct session *session)
{
	return session->degraded;
}

void session_let_go(struct session *session)
{
	uint64_t now_ns = clock_now_ns();

	if (session->tracer)
		tracer_let_go(session->tracer);
	if (session->clocks)
		clock_sampler_let_go(session->clocks);
	/* Other threads, which may hold them, are not in this process. */
	pthread_mutex_init(&session->lock, NULL);
	pthread_cond_init(&session->changed, NULL);
	if (session->state == SESSION_SAMPLING) {
		session->sampled_ns += now_ns - session->resumed_ns;
		session->last_cpu_ns = session_target_cpu_ns(session);
		session->cpu_ns += session->last_cpu_ns - session->resumed_cpu_ns;
	}
	session->state = SESSION_ENDED;
	session->thread_exists = session->watchdog.running = false;
}

const char *session_notes(const struct session *session)
{
	return session->notes;
}

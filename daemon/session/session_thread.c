/* SPDX-License-Identifier: Apache-2.0 */
/* The tracer's thread of a session: when it samples, looks and obeys. */
#include "common/clock.h"
#include "daemon/session/session_parts.h"

#include <limits.h>
#include <sched.h>
#include <time.h>

#define TICK_NS (50 * NS_PER_MS)
/* While the target uses no CPU, for each session there is: together they shall use next to none. */
#define TICK_IDLE_NS     (16 * NS_PER_MS)
#define TICK_IDLE_MAX_NS (4000 * NS_PER_MS)
/* Rings hold some 70 records: of the kernel clock, that is as many periods. */
#define TICK_PERIODS 25
/* A map that changes all the time (a JIT) is re-read at most this often. */
#define REFRESH_NS NS_PER_SECOND
/* Whether the target has given up rights. */
#define LOOK_NS       NS_PER_SECOND
#define PERIOD_MAX_NS NS_PER_SECOND
/* Between two looks for what the kernel has sampled, and while the target does nothing. */
#define TAKE_NS      (10 * NS_PER_MS)
#define TAKE_IDLE_NS (80 * NS_PER_MS)
/* With a tracer, whose ticks are further apart. */
#define TAKE_BESIDE_NS (20 * NS_PER_MS)

static void start_sampling(struct session *session, uint64_t now_ns)
{
	session->resumed_ns = now_ns;
	queued_time_begin(&session->queued, session->options.pid, now_ns);
	fresh_memory_begin(&session->pipeline.memory, now_ns);
	if (session->tracer)
		pipeline_set_idle(&session->pipeline, session->tracer, false);
	/* As close to the clocks' beginning and end as can be: what is between counts as unclocked.
	 */
	session->resumed_cpu_ns = session->last_cpu_ns = session_target_cpu_ns(session);
	if (session->unstopped) {
		unstopped_sampler_begin(session->unstopped);
		return;
	}
	if (session->clocks)
		clock_sampler_begin(session->clocks, session->resumed_cpu_ns);
	if (session->tracer)
		tracer_enable_clocks(session->tracer, true);
}

/* Else the time of threads that are not, or of another program, would seem to be unclocked. */
static bool all_sampled(const struct session *session)
{
	const struct tracer_counts *counts = tracer_counts(session->tracer);

	return !counts->refused_errno && !counts->threads_beyond &&
	       session->end != TRACER_TARGET_REPLACED;
}

static void stop_sampling(struct session *session, uint64_t now_ns)
{
	uint64_t cpu_ns;

	if (session->tracer)
		tracer_enable_clocks(session->tracer, false);
	session->last_cpu_ns = session_target_cpu_ns(session);
	cpu_ns = session->last_cpu_ns - session->resumed_cpu_ns;
	if (session->unstopped) {
		unstopped_sampler_end(session->unstopped);
	} else {
		if (session->tracer)
			pipeline_set_idle(&session->pipeline, session->tracer, true);
		if (session->clocks)
			clock_sampler_end(session->clocks, session->last_cpu_ns);
		else if (all_sampled(session))
			pipeline_charge_unclocked(&session->pipeline, session->tracer, cpu_ns);
	}
	session->sampled_ns += now_ns - session->resumed_ns;
	session->cpu_ns += cpu_ns;
	queued_time_end(&session->queued, session->options.pid);
	fresh_memory_end(&session->pipeline.memory, now_ns);
}

/* What the other thread asked for; true: finish. */
static bool obey(struct session *session)
{
	bool finish;

	pthread_mutex_lock(&session->lock);
	finish = session->finish_wanted;
	if (!finish && session->snapshot_wanted)
		session_copy_some(session);
	if (!finish && session->pause_wanted && session->state == SESSION_SAMPLING) {
		stop_sampling(session, clock_now_ns());
		session_set_state(session, SESSION_PAUSED);
	} else if (!finish && !session->pause_wanted && session->state == SESSION_PAUSED) {
		start_sampling(session, clock_now_ns());
		session_set_state(session, SESSION_SAMPLING);
	}
	pthread_mutex_unlock(&session->lock);
	return finish;
}

static void set_period(struct session *session, uint64_t period_ns)
{
	session->options.period_ns = period_ns;
	tracer_set_period(session->tracer, period_ns);
	pipeline_delay_all(&session->pipeline, session->tracer);
}

static void balance(struct session *session, uint64_t now_ns)
{
	const struct pipeline *pipeline = &session->pipeline;
	const struct period_figures figures = {
		.suggested_ns = governor_period(&pipeline->governor),
		.offers = pipeline->offers,
		.skipped = pipeline->losses.counts[LOSS_OVERHEAD_LIMIT],
		.follows_accesses = session->options.loads || session->options.stores,
	};
	uint64_t period_ns =
		period_balance(&session->period, session->options.period_ns, &figures, now_ns);

	if (period_ns != session->options.period_ns)
		set_period(session, period_ns);
}

static void tick(struct session *session, uint64_t now_ns)
{
	struct pipeline *pipeline = &session->pipeline;

	tracer_check_blocked(session->tracer);
	tracer_look_for_runners(session->tracer);
	tracer_take_forks(session->tracer);
	if (pipeline->idle)
		return; /* paused: the other thread reads */
	pipeline_tick(pipeline, session->tracer, now_ns);
	fresh_memory_look(&pipeline->memory, now_ns);
	session->last_cpu_ns = session_target_cpu_ns(session);
	/* Its rights change by what it does. */
	if (session->looked_cpu_ns != session->last_cpu_ns &&
	    now_ns - session->looked_ns > LOOK_NS) {
		session->looked_ns = now_ns;
		session->looked_cpu_ns = session->last_cpu_ns;
		target_files_look(&session->target.files);
	}
	if (pipeline->mappings_stale && now_ns - session->refreshed_ns > REFRESH_NS) {
		pipeline->mappings_stale = false;
		session->refreshed_ns = now_ns;
		(void)target_refresh(&session->target);
	}
	if (pipeline->overdrawn && session->options.period_ns < PERIOD_MAX_NS) {
		/* The clock's own stops cost more than is allowed: sample less often. */
		pipeline->overdrawn = false;
		set_period(session, period_longer(session->options.period_ns));
	}
	balance(session, now_ns);
}

static uint64_t tick_interval_ns(const struct session *session)
{
	uint64_t interval_ns = TICK_PERIODS * session->options.period_ns;

	return interval_ns < TICK_NS ? interval_ns : TICK_NS;
}

/* Those that trace, of the whole daemon. */
static unsigned tracing;

/* The next pause after a tick: longer and longer while the target does nothing. */
static uint64_t tick_pause_ns(const struct session *session, uint64_t pause_ns, uint64_t cpu_ns)
{
	uint64_t shortest_ns = tick_interval_ns(session);
	uint64_t longest_ns = TICK_IDLE_NS * __atomic_load_n(&tracing, __ATOMIC_RELAXED);

	if (longest_ns > TICK_IDLE_MAX_NS)
		longest_ns = TICK_IDLE_MAX_NS;
	if (longest_ns < session->options.idle_tick_ns)
		longest_ns = session->options.idle_tick_ns;
	if (session->pipeline.idle && session->options.idle_tick_ns)
		return session->options.idle_tick_ns;
	if (session->pipeline.idle || session->last_cpu_ns != cpu_ns || longest_ns < shortest_ns)
		return shortest_ns;
	return 2 * pause_ns < longest_ns ? 2 * pause_ns : longest_ns;
}

static void sample(struct session *session)
{
	uint64_t pause_ns = tick_interval_ns(session);
	uint64_t next_tick_ns = clock_now_ns() + pause_ns;
	uint64_t next_look_ns = session->options.waits ? 0 : UINT64_MAX;
	uint64_t next_take_ns = 0, next_peek_ns = 0;
	enum tracer_end end = TRACER_RUNNING;
	bool more = false;

	while (end == TRACER_RUNNING && !obey(session)) {
		uint64_t now_ns = clock_now_ns(), next_ns;

		if (now_ns >= next_tick_ns) {
			uint64_t cpu_ns = session->last_cpu_ns;

			tick(session, now_ns);
			pause_ns = tick_pause_ns(session, pause_ns, cpu_ns);
			next_tick_ns = now_ns + pause_ns;
			if (next_peek_ns == UINT64_MAX)
				next_peek_ns = 0;
		}
		if (now_ns >= next_look_ns && !session->pipeline.idle) {
			session->pipeline.waiting.interval_ns = pause_ns > 2 * WAITING_INTERVAL_NS
									? pause_ns / 2
									: WAITING_INTERVAL_NS;
			next_look_ns = pipeline_look(&session->pipeline, session->tracer, now_ns);
			now_ns = clock_now_ns();
		}
		if (now_ns >= next_peek_ns && !session->pipeline.idle) {
			next_peek_ns = pipeline_peek(&session->pipeline, session->tracer, now_ns);
			now_ns = clock_now_ns();
		}
		next_ns = next_tick_ns;
		if (!session->pipeline.idle && next_look_ns < next_ns)
			next_ns = next_look_ns;
		if (!session->pipeline.idle && next_peek_ns < next_ns)
			next_ns = next_peek_ns;
		/* One at a time: a thread that stops meanwhile would wait for all of them. */
		if (session->clocks && !session->pipeline.idle &&
		    (more || now_ns >= next_take_ns)) {
			more = clock_sampler_take(session->clocks, session->last_cpu_ns, 1);
			next_take_ns = now_ns + TAKE_BESIDE_NS;
		}
		end = tracer_poll(session->tracer, next_ns > now_ns && !session->copying && !more
							   ? next_ns - now_ns
							   : 0);
		/* Something has happened: a stop, or an order. */
		if (pause_ns > tick_interval_ns(session) && clock_now_ns() < next_ns) {
			pause_ns = tick_interval_ns(session);
			next_tick_ns = now_ns + pause_ns;
		}
	}
	session->end = end;
}

static bool paused(struct session *session)
{
	bool paused;

	pthread_mutex_lock(&session->lock);
	paused = session->state == SESSION_PAUSED;
	pthread_mutex_unlock(&session->lock);
	return paused;
}

/* Sleeps until then, but not for so long that an order would wait. */
static void sleep_until(uint64_t then_ns)
{
	uint64_t now_ns = clock_now_ns();
	uint64_t delay_ns = then_ns > now_ns ? then_ns - now_ns : 0;
	struct timespec delay = { .tv_nsec = (long)(delay_ns < TICK_NS ? delay_ns : TICK_NS) };

	(void)nanosleep(&delay, NULL);
}

static void sample_unstopped(struct session *session)
{
	static const enum tracer_end ends[] = {
		[UNSTOPPED_RUNNING] = TRACER_RUNNING,
		[UNSTOPPED_EXITED] = TRACER_TARGET_EXITED,
		[UNSTOPPED_REPLACED] = TRACER_TARGET_REPLACED,
	};
	uint64_t next_ns = clock_now_ns() + session->options.period_ns;
	enum unstopped_state state = UNSTOPPED_RUNNING;

	while (state == UNSTOPPED_RUNNING && !obey(session)) {
		if (clock_now_ns() >= next_ns && !paused(session)) {
			session->last_cpu_ns = session_target_cpu_ns(session);
			fresh_memory_look(&session->pipeline.memory, clock_now_ns());
			state = unstopped_sampler_tick(session->unstopped, &next_ns);
		} else {
			sleep_until(paused(session) ? clock_now_ns() + TICK_NS : next_ns);
		}
	}
	session->end = ends[state];
}

/* Whether the process still is what it was, and what follows from what it did. */
static enum program_state look_at_target(struct session *session, uint64_t now_ns)
{
	struct pipeline *pipeline = &session->pipeline;

	if (session->looked_cpu_ns != session->last_cpu_ns &&
	    now_ns - session->looked_ns > LOOK_NS) {
		session->looked_ns = now_ns;
		session->looked_cpu_ns = session->last_cpu_ns;
		target_files_look(&session->target.files);
	}
	if (pipeline->mappings_stale && now_ns - session->refreshed_ns > REFRESH_NS) {
		pipeline->mappings_stale = false;
		session->refreshed_ns = now_ns;
		(void)target_refresh(&session->target);
	}
	return program_watch_look(&session->program, session->options.pid, now_ns);
}

/* Takes what the kernel has sampled; less often while there is nothing. */
static void sample_by_clocks(struct session *session)
{
	static const enum tracer_end ends[] = {
		[PROGRAM_RUNS] = TRACER_RUNNING,
		[PROGRAM_EXITED] = TRACER_TARGET_EXITED,
		[PROGRAM_REPLACED] = TRACER_TARGET_REPLACED,
	};
	enum program_state state = PROGRAM_RUNS;
	uint64_t pause_ns = TAKE_NS;

	program_watch_begin(&session->program, session->options.pid);
	while (state == PROGRAM_RUNS && !obey(session)) {
		uint64_t now_ns = clock_now_ns(), cpu_ns = session->last_cpu_ns;

		if (!paused(session)) {
			session->last_cpu_ns = session_target_cpu_ns(session);
			(void)clock_sampler_take(session->clocks, session->last_cpu_ns, UINT_MAX);
			fresh_memory_look(&session->pipeline.memory, now_ns);
			state = look_at_target(session, now_ns);
		}
		pause_ns = session->last_cpu_ns != cpu_ns ? TAKE_NS
			   : 2 * pause_ns < TAKE_IDLE_NS  ? 2 * pause_ns
							  : TAKE_IDLE_NS;
		sleep_until(now_ns + pause_ns);
	}
	session->end = ends[state];
}

/*
 * A stopped thread waits for us: on a machine whose processors are all busy an
 * ordinary thread would be milliseconds late. It works for microseconds at a
 * time, and the kernel keeps real-time threads from taking everything. Without
 * the privilege it stays as it is.
 */
static void raise_priority(void)
{
	struct sched_param parameter = { .sched_priority = 1 };

	(void)pthread_setschedparam(pthread_self(), SCHED_RR, &parameter);
}

void *session_trace(void *context)
{
	struct session *session = context;
	bool sampling;

	if (session->tracer)
		raise_priority();
	if (session->tracer && tracer_attach(session->tracer, &session->attach_error)) {
		pthread_mutex_lock(&session->lock);
		session->attach_failed = true;
		session_set_state(session, SESSION_ENDED);
		pthread_mutex_unlock(&session->lock);
		return NULL;
	}
	if (session->tracer)
		pipeline_prepare(&session->pipeline, session->tracer);
	session->began_ns = clock_now_ns();
	pipeline_begin(&session->pipeline, session->began_ns);
	pthread_mutex_lock(&session->lock);
	start_sampling(session, session->began_ns);
	session_set_state(session, SESSION_SAMPLING);
	pthread_mutex_unlock(&session->lock);
	__atomic_add_fetch(&tracing, 1, __ATOMIC_RELAXED);
	if (session->unstopped)
		sample_unstopped(session);
	else if (!session->tracer)
		sample_by_clocks(session);
	else
		sample(session);
	__atomic_sub_fetch(&tracing, 1, __ATOMIC_RELAXED);
	pthread_mutex_lock(&session->lock);
	sampling = session->state == SESSION_SAMPLING;
	pthread_mutex_unlock(&session->lock);
	if (sampling)
		stop_sampling(session, clock_now_ns());
	if (session->tracer)
		tracer_quiesce(session->tracer);
	pthread_mutex_lock(&session->lock);
	/* Its profile may be asked for long after: others may have them. */
	session_close_clocks(session);
	session_set_state(session, SESSION_ENDED);
	pthread_mutex_unlock(&session->lock);
	return NULL;
}

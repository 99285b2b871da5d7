/* SPDX-License-Identifier: Apache-2.0 */
/* What the pipeline keeps of each thread: tracee->user, NULL for those that are not sampled. */
#ifndef PIEPROFD_DAEMON_SAMPLE_PIPELINE_THREAD_H
#define PIEPROFD_DAEMON_SAMPLE_PIPELINE_THREAD_H

#include "daemon/detect/argument_watch.h"
#include "daemon/detect/governor.h"
#include "daemon/detect/redundancy.h"
#include "daemon/sample/system_time.h"
#include "daemon/sample/unclocked_time.h"
#include "daemon/sample/waiting.h"

/* When its turns on a processor were charged last (pipeline_account.c). */
struct turn_account {
	uint64_t turns;
	uint64_t looked_ns; /* 0: never */
	uint64_t armed_ns;  /* thread_events_armed_ns() by then */
	uint64_t stops;     /* since then */
};

struct pipeline_thread {
	struct governor_bucket bucket;
	struct redundancy_thread *redundancy; /* NULL: time alone */
	struct argument_watch arguments[ARGUMENT_WATCHES];
	struct system_time system;
	struct waiting_thread waiting;
	struct unclocked_thread unclocked;
	struct turn_account turns;
	uint64_t stopped_ns; /* since sampling began or went on */
	size_t times;        /* its entry in pipeline->threads */
	uint64_t ticked_ns;  /* when a clock has stopped it last; 0: none has */
	/* When it was last looked at between stops, and how long it had run by then. */
	uint64_t peeked_ns, peeked_run_ns;
};

struct pipeline;

/* Takes the kernel clock's samples; returns the time that they stand for. */
uint64_t pipeline_collect_system_time(struct pipeline *pipeline, struct pipeline_thread *thread,
				      struct tracee *tracee);

/* Of a thread, when sampling begins and ends: how long it waited in between, where that is wanted.
 */
void pipeline_begin_waiting(struct pipeline *pipeline, struct pipeline_thread *thread,
			    const struct tracee *tracee);
void pipeline_end_waiting(struct pipeline *pipeline, struct pipeline_thread *thread,
			  const struct tracee *tracee);

/* Of a thread whose clock has begun, anew or for the first time: its stop is to be earned. */
void pipeline_delay_first(const struct pipeline *pipeline, const struct pipeline_thread *thread,
			  struct tracee *tracee);
/* In the stop: the next one is to be earned, this one included. */
void pipeline_delay_clock(const struct pipeline *pipeline, const struct pipeline_thread *thread,
			  struct tracee *tracee);

/* It runs again: what the stop has cost it. */
void pipeline_account_stop(struct pipeline *pipeline, struct pipeline_thread *thread);
/* Its turns are counted from now on. */
void pipeline_begin_turns(const struct pipeline *pipeline, struct pipeline_thread *thread,
			  const struct tracee *tracee);
/* And what its events have cost it beside stops, since the last time. */
void pipeline_charge_turns(struct pipeline *pipeline, struct pipeline_thread *thread,
			   struct tracee *tracee);
/* The same at a tick, where a breakpoint is or was armed meanwhile. Where that costs the thread
 * more than it has earned, what is watched in it is given up. */
void pipeline_tick_turns(struct pipeline *pipeline, struct pipeline_thread *thread,
			 struct tracee *tracee);

/* The tracer's hook: a thread was not stopped when its clocks recorded this. */
void pipeline_passed(void *context, struct tracee *tracee, const struct event_record *records,
		     size_t count);

/* Are calls watched in the thread, by any slot or by this one? */
bool pipeline_watches_calls(const struct pipeline_thread *thread);
bool pipeline_watches_calls_at(const struct pipeline_thread *thread, unsigned slot);
/* In the stop: sites of which calls are watched were met, by these records. */
void pipeline_meet_calls(struct pipeline *pipeline, struct pipeline_thread *thread,
			 struct tracee *tracee, const struct event_record *records, size_t count);
/* In the stop, after a sample: those of one of its sites are watched from now on. False: not. */
bool pipeline_watch_calls(struct pipeline *pipeline, struct pipeline_thread *thread,
			  struct tracee *tracee);
/* One that has waited too long ends; UINT64_MAX: any. */
void pipeline_end_arguments(struct pipeline *pipeline, struct pipeline_thread *thread,
			    struct tracee *tracee, uint64_t now_ns);

#endif

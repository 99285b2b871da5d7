/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What happens to one stop of one thread, every stage on one page
 * (pipeline.c):
 *
 *   events fired --> capture (registers, stack, Python frames)
 *       breakpoint --> redundancy detector     clock --> new memory sample
 *   --- the thread runs again ---
 *   unwind --> stitch --> calling context tree --> time, pairs
 *
 * Runs on the tracer's thread only.
 */
#ifndef PIEPROFD_DAEMON_SAMPLE_PIPELINE_H
#define PIEPROFD_DAEMON_SAMPLE_PIPELINE_H

#include "attach/kernel_functions.h"
#include "attach/switch_cost.h"
#include "attach/tracer.h"
#include "common/clock.h"
#include "daemon/capture/capture.h"
#include "daemon/cct/pair_table.h"
#include "daemon/detect/argument_sampler.h"
#include "daemon/detect/governor.h"
#include "daemon/detect/redundancy.h"
#include "daemon/sample/copy_volume.h"
#include "daemon/sample/fresh_memory.h"
#include "daemon/sample/place_votes.h"
#include "daemon/sample/stop_times.h"
#include "daemon/sample/system_time.h"
#include "daemon/sample/thread_stacks.h"
#include "daemon/sample/thread_times.h"
#include "daemon/sample/timeline.h"
#include "daemon/sample/unclocked_time.h"
#include "daemon/sample/waiting.h"

struct clock_sampler;

struct pipeline {
	struct target *target;
	struct clock_sampler *clocks; /* charge all time; NULL: the stops do */
	struct cct *cct;
	struct kernel_functions kernel_functions; /* that frames of the tree name */
	struct pair_table *pairs;
	struct argument_sampler *arguments; /* NULL: time alone, or the interpreter is not read */
	struct redundancy *redundancy;      /* NULL: time alone */
	struct place_votes *votes;          /* NULL: no thread was read without a stop yet */
	struct losses losses;
	struct governor governor;
	struct switch_cost switches; /* 0: what events cost beside stops is not charged */
	unsigned breakpoints;
	struct stop_histograms stops;
	struct thread_times threads;
	/* Of the threads, by index, and of the tree's nodes, by id. */
	struct timeline thread_timeline, node_timeline;
	struct thread_stacks stacks;
	struct unclocked_time unclocked;
	int64_t balance_ns; /* missing of threads that have ended, see time_balance.h */
	uint64_t lost_ns;   /* by all threads: stopped, until they ran again, and by events */
	uint64_t offers;    /* stops at which a memory sample could have begun */
	uint64_t samples;   /* atomic: read by other threads */
	/* Looks at what running threads work on (pipeline_peek.c): begun; that saw something; of
	 * those, while the thread waited. */
	uint64_t peeks, peeks_seen, peeks_waited;
	uint64_t random;     /* when the next one is */
	bool mappings_stale; /* an address was seen that no module holds */
	bool memory_events;  /* the processor samples memory accesses; else each clock stop does */
	bool idle;           /* paused or ending: answer stops, take nothing */
	bool gil_known;      /* whether a thread holds the GIL could be told at some stop */
	struct waiting waiting;
	struct fresh_memory memory;
	struct copy_volume copies; /* likewise asked for */
	bool waits_wanted;         /* threads that sleep are looked at */
	bool overdrawn;            /* some thread's stops exceed the limit: lengthen the period */
	/* of the stop in hand */
	struct capture capture;
	bool captured;
	uint64_t system_returns; /* a bit for each of its events that was such a return */
	uint64_t watched_calls;  /* and that was a call whose arguments are watched */
	unsigned clock_ticks;
	uint64_t clock_ns;                        /* that they stand for */
	const struct event_record *memory_access; /* NULL: none was sampled; valid in the stop */
	remote_addr fault;                        /* what was touched; */
	uint64_t faults;                          /* that it stands for; 0: none was sampled */
	uint64_t event_ns;
	uint64_t began_ns; /* when this thread ran */
	uint64_t wake_ns;  /* from the event until this thread ran; the target's wake-up is alike */
};

struct pipeline_options {
	bool loads;
	bool stores;
	unsigned breakpoints;
	bool memory_events; /* the processor's own samples of memory accesses will come */
	double max_overhead;
	uint64_t timeout_ns;
	uint64_t seed;
	size_t node_limit;
	size_t pair_limit;
	bool waits;  /* look at threads that sleep, too */
	bool memory; /* fresh_memory.h */
};

/* target is borrowed. 0 or -ENOMEM; deinit in either case. */
__attribute__((warn_unused_result)) int pipeline_init(struct pipeline *pipeline,
						      struct target *target,
						      const struct pipeline_options *options);
void pipeline_deinit(struct pipeline *pipeline);

/* When sampling begins for the first time. */
void pipeline_begin(struct pipeline *pipeline, uint64_t now_ns);

/* After attaching, with no clock running: reads what the first stops would have to. */
void pipeline_prepare(struct pipeline *pipeline, struct tracer *tracer);
/* All clocks have begun anew, with another period. */
void pipeline_delay_all(struct pipeline *pipeline, struct tracer *tracer);

/* The hooks to give to the tracer; borrowed from pipeline. */
struct tracer_hooks pipeline_hooks(struct pipeline *pipeline);

/* Every so often, with no thread waiting: ends old watches, looks after the limits. */
void pipeline_tick(struct pipeline *pipeline, struct tracer *tracer, uint64_t now_ns);

/*
 * A slice of a round over the threads that sleep, with no thread waiting;
 * returns when the next is due. Not while idle.
 */
uint64_t pipeline_look(struct pipeline *pipeline, struct tracer *tracer, uint64_t now_ns);

/*
 * Looks at what a running thread's calls work on, with none stopped; returns when
 * the next is due; UINT64_MAX: none runs, ask again at the next tick. Not while idle.
 */
uint64_t pipeline_peek(struct pipeline *pipeline, struct tracer *tracer, uint64_t now_ns);

/*
 * When idle again: charges what time of the process's cpu_ns since sampling
 * began or went on no clock saw (unclocked_time.h).
 */
void pipeline_charge_unclocked(struct pipeline *pipeline, struct tracer *tracer, uint64_t cpu_ns);

/* Gives up all watches and takes nothing more until it is made active again. */
void pipeline_set_idle(struct pipeline *pipeline, struct tracer *tracer, bool idle);

/* Of what lasted longer, the rest was the machine's doing: ours is 0.1 to 0.7 ms. */
#define STOP_COST_MAX_NS NS_PER_MS

/*
 * What the stop in hand has cost its thread so far, both wake-ups included; of stalls of the
 * machine, not all: to take fewer samples makes them no shorter.
 */
static inline uint64_t pipeline_stop_cost_ns(const struct pipeline *pipeline)
{
	uint64_t cost_ns = clock_now_ns() - pipeline->began_ns + 2 * pipeline->wake_ns;

	return cost_ns < STOP_COST_MAX_NS ? cost_ns : STOP_COST_MAX_NS;
}

#endif

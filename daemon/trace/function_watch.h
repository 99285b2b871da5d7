/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Python functions of one process: its probes, which of its functions are wanted, and what the
 * probes cost it.
 *
 *   sought --> set <--> paused        while they have cost more than they may
 *         `--> refused
 *
 * All calls pass the probes, whether they are wanted or not. So it is the rate of all calls that
 * may be too high, and then the process is seen for part of the time: some milliseconds now and
 * again, in which everything is recorded.
 */
#ifndef PIEPROFD_DAEMON_TRACE_FUNCTION_WATCH_H
#define PIEPROFD_DAEMON_TRACE_FUNCTION_WATCH_H

#include "attach/trap_cost.h"
#include "daemon/trace/call_path.h"
#include "daemon/trace/function_site.h"
#include "daemon/trace/span.h"
#include "daemon/trace/trace_event.h"

/* What may be spent at once, when a process is met and after a pause. */
#define FUNCTION_CREDIT_NS (5 * 1000000ull)

enum function_state {
	FUNCTIONS_SOUGHT, /* it runs no Python yet */
	FUNCTIONS_SET,
	FUNCTIONS_PAUSED,
	FUNCTIONS_REFUSED,
};

struct function_known;

struct function_watch { /* all zeros: sought */
	enum function_state state;
	struct mpi_probes *probes; /* borrowed, as all that follows up to site */
	struct target *target;
	struct call_paths *paths;
	const struct function_choice *choice;
	const struct trap_cost *trap_cost;
	unsigned slot, span;
	struct function_site site;
	uint32_t epoch;
	uint64_t met_ns;      /* when probes were set for the first time */
	uint64_t met_cpu_ns;  /* CPU time of the process by then */
	uint64_t ended_ns;    /* when the trace did */
	uint64_t since_ns;    /* when the state began */
	uint64_t observed_ns; /* in which calls were recorded, before that */
	uint64_t spent_ns;
	uint64_t pauses;
	uint64_t cut_ns;    /* when calls were cut off that were not read yet; 0: never */
	uint64_t undecided; /* answers that the kernel did not take: all calls are recorded */
	uint64_t pruned;    /* calls that were deeper than asked for, as the end has shown */
	uint64_t unknown;   /* calls whose code object could not be read any more */
	struct function_counts counts; /* at the end */
	struct function_known *known;  /* code objects, by hash */
	size_t known_count, known_slots;
};

/* Where it is set. All of them are borrowed. */
struct function_process {
	struct mpi_probes *probes;
	struct target *target; /* has a runtime */
	struct call_paths *paths;
	const struct function_choice *choice;
	const struct trap_cost *trap_cost;
	unsigned slot, span;
};

/* 0, or a negative errno with *error filled: then it is refused. */
__attribute__((warn_unused_result)) int function_watch_start(struct function_watch *watch,
							     const struct function_process *process,
							     struct error *error);
void function_watch_deinit(struct function_watch *watch);
/* It has ended: target is no longer there. What was found out stays. */
void function_watch_release(struct function_watch *watch);

/* A code object that was not seen before: reads its names, and says whether it is wanted. */
void function_watch_code(struct function_watch *watch, const struct function_code_record *code);

/* False: it is not wanted after all, or nobody knows what it is. */
bool function_watch_event(struct function_watch *watch, const struct function_record *record,
			  struct trace_event *ret_event);

/* Has it cost too much, or may it go on? taker: gets what is cut off by a pause. Asked every few
 * milliseconds. */
void function_watch_look(struct function_watch *watch, const struct mpi_taker *taker);

/* Takes the probes out, and does not wait until the kernel has. */
void function_watch_stop(struct function_watch *watch);

/* Takes the probes out; what has not ended goes to taker. */
void function_watch_end(struct function_watch *watch, const struct mpi_taker *taker);

#endif

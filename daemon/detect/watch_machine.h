/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The states of a watch, from the sample that begins it to its end:
 *
 *   access sampled by the processor ---------.
 *   clock stop --> which access comes next? --> STEPPING (run to where it can be told)
 *                          |                        |
 *                          v                        |
 *   BOUNDARY: execution breakpoint where the native <
 *     call returns to the interpreter; accepted at the same stack pointer only
 *                          |
 *                          v  value V1
 *   WATCHING: data breakpoint on the address --> trap by a later native call:
 *     value V2 --> pair of paths and verdict       (or time-out: never re-accessed)
 *                          |
 *                          v  a new value, in a long call of the same code
 *   SETTLING: the same boundary again --> did that call leave V1 in the end?
 *
 * Why SETTLING: whether a long call is made again on unchanged input does not show
 * in the next access. A call that works in place, or in memory of its own, stores many
 * other values on the way to the same end: of 77 such stores 76 put new values, while
 * each call left what the call before it had left. A library's function that makes
 * several native calls is followed until the same one of them is made again. (To wait
 * so for short calls, too, took a debug register for so long that a third fewer
 * accesses were followed.)
 *
 * Every transition, and what it counts: a loss, a pair, or an access never made again.
 *
 *   sample     FREE --> BOUNDARY   an access was found
 *              FREE --> STEPPING   it can be told further on
 *              FREE                none: why; no breakpoint: NO_BREAKPOINT
 *              all slots busy      the old watch is replaced or stays: WATCH_EVICTED
 *   STEPPING   --> BOUNDARY        there it was found
 *              --> STEPPING        further still, STEPS_MAX times; then FREE: NO_ACCESS
 *              --> FREE            none: why; NO_BREAKPOINT; time-out: NO_ACCESS
 *   BOUNDARY   --> WATCHING        the native call has returned
 *              --> BOUNDARY        deeper calls did; too many, FREE: BOUNDARY_MISSED
 *              --> FREE            V1 unreadable, time-out: BOUNDARY_MISSED; NO_BREAKPOINT
 *   WATCHING   --> WATCHING        a trap by others; too many, FREE: WATCH_BUDGET
 *              --> DECIDED         a verdict
 *              --> SETTLING        a new value by the same call, which is long
 *              --> WATCHING judged a new value stored on the way to that call
 *              --> FREE            V2 unreadable: WATCH_BUDGET; time-out: never, or pair
 *   judged     --> SETTLING        that call has come
 *              --> WATCHING judged others; too many, FREE: pair
 *   SETTLING   --> SETTLING        deeper calls returned; too many, FREE: pair
 *              --> FREE            it has returned, or time-out: pair
 *   DECIDED    --> FREE            the thread runs, the later context is known: pair
 *   any of the above that uses a breakpoint
 *              --> FREE            stopped late: EVENT_LATE, or pair where one is known
 *   WATCHING   --> FREE            relieved: WATCH_TURNS, or pair where one is known
 *   FREE       --> LENT --> FREE   lent and returned; an old watch may be evicted
 *   any        --> FREE            cancelled, or the thread ended: WATCH_CANCELLED, or pair where
 *                                  one is known
 *
 * A pair without one of its contexts counts as TREE_FULL. tests/unit/daemon_watch_machine.c
 * plays them all.
 */
#ifndef PIEPROFD_DAEMON_DETECT_WATCH_MACHINE_H
#define PIEPROFD_DAEMON_DETECT_WATCH_MACHINE_H

#include "daemon/detect/watch.h"

/* In the stop: begins a sample at the thread, which capture describes. False: there is none, which
 * is counted. */
bool watch_machine_sample(struct watch_process *process, struct watch_thread *thread,
			  struct access_sought sought, struct capture *capture);

/* The same of an access that is known; capture has the frames of its native call. */
bool watch_machine_access(struct watch_process *process, struct watch_thread *thread,
			  enum pair_kind kind, const struct access *access,
			  const struct capture *capture);

/* See redundancy_wants_capture(). */
bool watch_machine_wants_capture(const struct watch_process *process,
				 const struct watch_thread *thread,
				 const struct event_record *record,
				 const struct registers *registers);

/* In the stop: a slot's breakpoint fired. capture: NULL unless it was wanted. */
void watch_machine_breakpoint(struct watch_process *process, struct watch_thread *thread,
			      const struct event_record *record, struct capture *capture,
			      const struct registers *registers);

/* Did this stop leave something that wants the calling context? */
bool watch_machine_wants_context(const struct watch_thread *thread);
/* The thread runs again: the context of the capture, NULL when it could not be had. */
void watch_machine_resumed(struct watch_process *process, struct watch_thread *thread,
			   const struct cct_node *context);

/* Ends watches that have waited too long. */
void watch_machine_expire(struct watch_process *process, struct watch_thread *thread,
			  uint64_t now_ns);

/* See redundancy_relieve(), redundancy_lend_slot(), redundancy_return_slot(), redundancy_cancel().
 */
void watch_machine_relieve(struct watch_process *process, struct watch_thread *thread);
int watch_machine_lend(struct watch_process *process, struct watch_thread *thread);
void watch_machine_return(struct watch_thread *thread, int slot);
void watch_machine_cancel(struct watch_process *process, struct watch_thread *thread);

#endif

/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The redundancy detector: follows one sampled memory access of a native call
 * until a later native call of the same thread touches it again. Its states
 * are drawn in watch_machine.h; here they meet the kernel and the target.
 *
 * All of it runs on the tracer's thread. What is called while the thread waits
 * must be quick; redundancy_resumed() then names the calling contexts.
 */
#ifndef PIEPROFD_DAEMON_DETECT_REDUNDANCY_H
#define PIEPROFD_DAEMON_DETECT_REDUNDANCY_H

#include "attach/tracer.h"
#include "daemon/capture/capture.h"
#include "daemon/capture/loss.h"
#include "daemon/cct/pair_table.h"

struct redundancy_options {
	bool loads;
	bool stores;
	unsigned breakpoints; /* debug registers to use, 1 to 4 */
	uint64_t timeout_ns;  /* a watch without a trap ends as "never re-accessed" */
	uint64_t seed;
};

struct redundancy;
struct redundancy_thread;

/* target, pairs and losses are borrowed. NULL: out of memory. */
struct redundancy *redundancy_create(const struct redundancy_options *options,
				     struct target *target, struct pair_table *pairs,
				     struct losses *losses);
void redundancy_destroy(struct redundancy *redundancy);

struct redundancy_thread *redundancy_thread_create(struct redundancy *redundancy, pid_t tid);
void redundancy_thread_destroy(struct redundancy_thread *thread);

/*
 * Does this breakpoint event need the thread's stack? False for most: a
 * boundary, or a trap that is passed over. To be asked before
 * redundancy_breakpoint(), so that the capture can be taken.
 */
bool redundancy_wants_capture(const struct redundancy *redundancy,
			      const struct redundancy_thread *thread,
			      const struct event_record *record, const struct registers *registers);

/* In the stop: a breakpoint of the thread fired. capture: NULL unless redundancy_wants_capture said
 * so. */
void redundancy_breakpoint(struct redundancy *redundancy, struct redundancy_thread *thread,
			   struct tracee *tracee, const struct event_record *record,
			   struct capture *capture, const struct registers *registers);

/* In the stop: begins a memory sample at the stopped thread, described by capture. False: there is
 * none, which is counted. */
bool redundancy_sample(struct redundancy *redundancy, struct redundancy_thread *thread,
		       struct tracee *tracee, struct capture *capture);

/* The same at a stop by EVENT_MEMORY: which access, its record says. */
bool redundancy_sample_access(struct redundancy *redundancy, struct redundancy_thread *thread,
			      struct tracee *tracee, struct capture *capture,
			      const struct event_record *record);

/* Did this stop leave something that wants the calling context of the capture? */
bool redundancy_wants_context(const struct redundancy_thread *thread);
/* After the thread runs again: the context of the capture, NULL when it could not be had. */
void redundancy_resumed(struct redundancy *redundancy, struct redundancy_thread *thread,
			const struct cct_node *context);

/* Ends watches that have waited too long. Safe while the thread runs. */
void redundancy_expire(struct redundancy *redundancy, struct redundancy_thread *thread,
		       struct tracee *tracee, uint64_t now_ns);

/* Gives up, and counts, watches that wait for an access: their thread is put on a processor so
 * often that an armed breakpoint costs it more than is allowed. Safe while it runs. */
void redundancy_relieve(struct redundancy *redundancy, struct redundancy_thread *thread,
			struct tracee *tracee);

/*
 * Lends one of the thread's debug registers to another purpose; a watch may
 * be given up for it. -1: none can be had now. While it is lent, its events
 * must not be given to redundancy_breakpoint().
 */
int redundancy_lend_slot(struct redundancy *redundancy, struct redundancy_thread *thread,
			 struct tracee *tracee);
/* Would more than one of them be had without giving up a watch? */
bool redundancy_has_room(const struct redundancy_thread *thread);
/* slot is disarmed. */
void redundancy_return_slot(struct redundancy_thread *thread, int slot);

/* Gives up everything that is under way, and counts it: the profile pauses or ends, or the thread
 * does. What was lent must be back. */
void redundancy_cancel(struct redundancy *redundancy, struct redundancy_thread *thread,
		       struct tracee *tracee);

#endif

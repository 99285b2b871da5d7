/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Charges the time that threads sleep to the path on which they do, without
 * stopping or waking them.
 *
 *   schedstat: wall - run - queued = asleep, exactly     how much
 *   now and then, when it is asleep: its stack, its      where, and for what
 *   system call
 *
 * Each look that finds a thread asleep is charged with all of its sleep since
 * the last such look, so that totals are exact however seldom one is made, and
 * only their division among paths is sampled. A thread that has not run since
 * the last look still sleeps where it did: that costs one read(2), so that a
 * hundred idle threads are looked at for less than a millisecond.
 *
 * Looks are made in slices, between which the tracer answers stops, and which
 * use up no more than WAITING_SHARE of one CPU: with many busy threads a round
 * takes longer.
 *
 * Where the kernel has no schedstat, a look stands for the time since the one
 * before it.
 */
#ifndef PIEPROFD_DAEMON_SAMPLE_WAITING_H
#define PIEPROFD_DAEMON_SAMPLE_WAITING_H

#include "attach/tracer.h"
#include "common/clock.h"
#include "daemon/capture/capture.h"
#include "daemon/cct/cct.h"

#define WAITING_INTERVAL_NS (50 * NS_PER_MS) /* of rounds over all threads, on average */
#define WAITING_SLICE_NS    (100 * NS_PER_US)
#define WAITING_SHARE       0.01

struct waiting {
	struct target *target;
	struct cct *cct;
	struct losses *losses;
	struct address_ranges gil_locks;
	uint64_t located_ns; /* when they were read */
	uint64_t seed;
	uint64_t round;
	uint64_t round_ns;    /* when it began */
	uint64_t interval_ns; /* of rounds, on average: WAITING_INTERVAL_NS, or more where nothing
				 happens */
};

/* One thread's. */
struct waiting_thread {
	int fd; /* of its schedstat; -1: there is none */
	uint64_t round;
	uint64_t began_ns, awake_ns; /* when watching began, and what it had run and queued then */
	uint64_t charged_ns;         /* of its sleep since */
	uint64_t turns;              /* at the last look that found it asleep */
	struct cct_node *node;       /* where it slept then; NULL: no such look yet */
	enum wait_kind kind;
	bool holds_gil;
};

/* What a look found asleep. */
struct waiting_charge {
	struct cct_node *node;
	enum wait_kind kind;
	uint64_t time_ns;
	bool holds_gil;
};

void waiting_init(struct waiting *waiting, struct target *target, struct cct *cct,
		  struct losses *losses, uint64_t seed);

void waiting_thread_init(struct waiting_thread *thread);
void waiting_thread_deinit(struct waiting_thread *thread);

/* Sampling starts for a thread; what it slept before is not looked at. */
void waiting_thread_begin(struct waiting_thread *thread, pid_t pid, pid_t tid);

/*
 * Looks at a thread. stopped_ns: for how long it was stopped by us in all since
 * it began, which is no sleep. True: *ret_charge is to be charged to the thread;
 * its path has been.
 */
bool waiting_look(struct waiting *waiting, struct waiting_thread *thread,
		  const struct tracee *tracee, uint64_t stopped_ns, struct capture *capture,
		  struct waiting_charge *ret_charge);

/* Sampling ends: what is left goes to where it slept last. Then as waiting_look(). */
bool waiting_thread_end(struct waiting *waiting, struct waiting_thread *thread,
			const struct tracee *tracee, uint64_t stopped_ns, struct capture *capture,
			struct waiting_charge *ret_charge);

/* A slice from began_ns on has ended, and with it the round or not: when the next is due. */
uint64_t waiting_next_ns(struct waiting *waiting, uint64_t began_ns, bool round_ended);

#endif

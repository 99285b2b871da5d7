/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Charges the time a thread spends in the kernel to the line that asked for
 * it, without interrupting a system call.
 *
 *   kernel clock: record of (user ip, user sp) --> pending
 *   breakpoint at that ip --> the call returns, or is made again --> the stack
 *
 * The stack is read when the thread next passes the place in user code from
 * which the kernel was entered, with the same stack pointer: a system call
 * that is running returns there, one made over and over comes by again. What
 * is not seen again is charged to the thread's last known stack, and counted; what
 * comes before a thread's first instruction, to a frame of the kernel's own.
 */
#ifndef PIEPROFD_DAEMON_SAMPLE_SYSTEM_TIME_H
#define PIEPROFD_DAEMON_SAMPLE_SYSTEM_TIME_H

#include "attach/tracer.h"
#include "daemon/capture/loss.h"
#include "daemon/cct/cct.h"
#include "daemon/sample/thread_stacks.h"
#include "daemon/sample/time_balance.h"

#define SYSTEM_TIME_PLACES  4 /* remembered a thread; time from more is charged at once */
#define SYSTEM_TIME_NO_SLOT (-1)

struct system_time_place {
	remote_addr ip, sp;
	uint64_t time_ns;
	uint64_t samples;
	uint64_t first_ns; /* CLOCK_MONOTONIC of the first sample, and of the last */
	uint64_t last_ns;
};

/* One thread's. */
struct system_time {
	struct system_time_place places[SYSTEM_TIME_PLACES];
	size_t count;
	int slot; /* the breakpoint that waits at places[0]; SYSTEM_TIME_NO_SLOT: none does */
	unsigned passed;
	/* Of the stop in hand: what to charge to its context, and to the last known one. */
	struct system_time_place arrived, missed;
	struct cct_node *last; /* the thread's last known context; NULL: none yet */
	/* What is charged, over time: borrowed. */
	struct timeline *nodes, *threads;
	struct thread_stacks *stacks;
	size_t thread;
	struct time_balance balance; /* the caller tells it of time in user code */
};

/* thread: its owner's number in threads. */
void system_time_init(struct system_time *time, struct timeline *nodes, struct timeline *threads,
		      struct thread_stacks *stacks, size_t thread);

/*
 * Takes new samples from the thread's kernel clock: returns how many, and the
 * time they stand for. Before later samples in user code are told to the balance.
 */
unsigned system_time_collect(struct system_time *time, struct tracee *tracee, struct cct *cct,
			     struct losses *losses, uint64_t *ret_time_ns);

/*
 * Is there a place that a breakpoint should wait at, and none waits? It may be armed later,
 * or never: its time is kept, and charged to the last known stack in the end.
 */
bool system_time_wants_slot(const struct system_time *time);

/* Arms this free slot at the place with the most time. False: refused, the slot is free again. */
bool system_time_arm(struct system_time *time, struct tracee *tracee, int slot);

/* Has it waited too long? Then its time is charged; the slot, to be given back, or NO_SLOT. */
int system_time_expire(struct system_time *time, struct tracee *tracee, struct cct *cct,
		       struct losses *losses, uint64_t now_ns);

enum system_return {
	SYSTEM_RETURN_AWAITED, /* another call passed here */
	SYSTEM_RETURN_HERE,    /* the capture is wanted; the slot, disarmed, is to be given back */
	SYSTEM_RETURN_MISSED,  /* too many others passed; the slot, disarmed, is to be given back */
};

/* In the stop: the breakpoint in its slot fired. */
enum system_return system_time_breakpoint(struct system_time *time, struct tracee *tracee,
					  const struct registers *registers);

/* After the stop: charges what had arrived. context NULL: unknown. */
void system_time_resumed(struct system_time *time, struct cct_node *context, struct cct *cct,
			 struct losses *losses);

/* Charges all that is pending to where the thread, which was not stopped, was just found. */
void system_time_charge_all(struct system_time *time, struct cct_node *context);

/* Charges all that is pending without waiting on; the slot to be given back, or NO_SLOT. */
int system_time_cancel(struct system_time *time, struct tracee *tracee, struct cct *cct,
		       struct losses *losses);

#endif

/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Does a call get the same arguments as the one before? Samples are too far apart
 * to tell where a program does the same a few times and then goes on to other
 * data (samples in close pairs seldom met the same data either). So a site that
 * was sampled is watched: a debug register stands at its instruction in the target's
 * bytecode, which the interpreter reads whenever it begins it. All operands are on
 * the evaluation stack then.
 *
 *   sample   -> armed at the instruction
 *   1st time -> contents noted
 *   2nd, 3rd -> compared with those of the time before; disarmed
 *
 * The share of equal ones is the share of the site's calls that repeat the one
 * before them. A call whose arguments come back after others have been there, as
 * keys of a cache do, is watched in longer rows, of which any two are compared. A
 * function that several places call is watched where it begins, so that a call from one
 * is compared with one from another. The code is only read, never changed.
 */
#ifndef PIEPROFD_DAEMON_DETECT_ARGUMENT_WATCH_H
#define PIEPROFD_DAEMON_DETECT_ARGUMENT_WATCH_H

#include "daemon/detect/argument_sampler.h"

#define ARGUMENT_WATCH_NO_SLOT (-1)

struct tracee;

/* A thread has so many: a call that comes seldom keeps its own waiting. */
#define ARGUMENT_WATCHES 2

struct argument_watch {
	int slot; /* ARGUMENT_WATCH_NO_SLOT: none is under way */
	uint32_t site;
	const struct python_code *code;
	int offset;
	bool at_entry; /* calls of the code are met, not those that its instruction makes */
	unsigned met;  /* times that it began */
	unsigned traps;
	remote_addr rip; /* where the interpreter reads it to begin it */
	bool compared;   /* contents are those of the last time */
	struct argument_contents contents;
	uint64_t since_ns;   /* armed, or met last */
	unsigned row_length; /* calls in a row that are to be met; 0: it is none of rows */
	unsigned row_count;
	struct argument_contents row[ARGUMENT_ROW_MAX]; /* of calls in a row */
	uint64_t running_ns[ARGUMENT_ROW_MAX];          /* the thread's CPU time at each */
};

void argument_watch_init(struct argument_watch *watch);

/* Is a breakpoint event of this slot one of this watch? */
bool argument_watch_is_at(const struct argument_watch *watch, unsigned slot);

/*
 * In the stop, after a sample was taken: where the site stands that is known
 * least; 0: each of the sample's is known well enough, or cannot be watched.
 */
remote_addr argument_watch_choose(struct argument_watch *watch, struct argument_sampler *sampler,
				  const struct capture *capture, uint32_t busy);

/* Arms this free slot there. False: refused, the slot is free again. */
bool argument_watch_arm(struct argument_watch *watch, struct tracee *tracee, int slot,
			remote_addr address, uint64_t now_ns);

/*
 * In the stop at now_ns, its slot having fired. True: it is over, and its slot, disarmed, to be
 * given back.
 */
bool argument_watch_meet(struct argument_watch *watch, struct argument_sampler *sampler,
			 struct tracee *tracee, const struct capture *capture, uint64_t now_ns);

/* Has it waited too long? Then, or whenever now_ns is UINT64_MAX, it ends: the slot, or NO_SLOT. */
int argument_watch_expire(struct argument_watch *watch, struct argument_sampler *sampler,
			  struct tracee *tracee, uint64_t now_ns);

#endif

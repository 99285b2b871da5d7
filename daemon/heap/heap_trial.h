/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Whether objects that were seen being made are still there a while later, with the same in them: a
 * line that makes what is dropped at once makes nothing grow, however often it is met.
 *
 *   made ------ settled: what is in it is noted ------ is it the same, with the same in it?
 *        0.1 ms                                 200 ms
 *
 * It is for objects that do not change: what is put into a list makes it no other list.
 */
#ifndef PIEPROFD_DAEMON_HEAP_HEAP_TRIAL_H
#define PIEPROFD_DAEMON_HEAP_HEAP_TRIAL_H

#include "common/clock.h"
#include "common/memory.h"

#include <stdbool.h>

#define HEAP_TRIALS_MAX 20
/* The interpreter fills what it has made at once; what is dropped soon may be made anew. */
#define HEAP_TRIAL_SETTLE_NS (NS_PER_MS / 10)
/* Of an object, behind its type: a tuple's size and three items. */
#define HEAP_TRIAL_BYTES 32

enum heap_trial_state {
	HEAP_TRIAL_MADE,
	HEAP_TRIAL_SETTLED,
	HEAP_TRIAL_STAYED,
	HEAP_TRIAL_GONE,
};

struct heap_trial {
	remote_addr object;
	uint64_t due_ns;
	unsigned site; /* the caller's */
	enum heap_trial_state state;
	uint8_t contents[HEAP_TRIAL_BYTES];
};

struct heap_trials {
	remote_addr type;
	uint32_t object_bytes; /* its block's, from its head on */
	struct heap_trial items[HEAP_TRIALS_MAX];
	unsigned count;
};

/* One was made; none where there is no room. */
void heap_trials_add(struct heap_trials *trials, remote_addr object, unsigned site,
		     uint64_t now_ns);

/* Looks at those that are due. */
void heap_trials_look(struct heap_trials *trials, const struct memory_reader *reader,
		      uint64_t now_ns);

/* One has yet to be settled. */
bool heap_trials_unsettled(const struct heap_trials *trials);

/* None is left to be looked at. */
bool heap_trials_are_over(const struct heap_trials *trials);

/* How many were looked at to the end, and stayed; site: of that site alone, -1: of all. */
unsigned heap_trials_done(const struct heap_trials *trials);
unsigned heap_trials_stayed(const struct heap_trials *trials, int site);

#endif

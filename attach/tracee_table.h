/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The threads that a tracer traces, by tid. The table borrows them: it links
 * those of a bucket by their `next`, and frees none. Zeros are an empty one.
 */
#ifndef PIEPROFD_ATTACH_TRACEE_TABLE_H
#define PIEPROFD_ATTACH_TRACEE_TABLE_H

#include "attach/fork_counter.h"
#include "attach/kernel_clock.h"
#include "attach/thread_events.h"
#include "attach/tracee.h"
#include "common/thread_id.h"

#define TRACEE_BUCKETS 256u

struct tracee {
	struct thread_id id;
	pid_t inner_tid; /* as the target's own pid namespace numbers it */
	char name[16];   /* the kernel's, when it was first seen */
	enum tracee_state state;
	struct thread_events events;      /* clock_fd < 0: this thread is not sampled */
	struct kernel_clock kernel_clock; /* fd < 0: its time in the kernel is not sampled */
	struct fork_counter forks;        /* fd < 0: not asked for, or refused */
	bool unstopped;    /* it blocks the stop signal, or did so far: see tracer_unstopped.c */
	bool blocks;       /* and was sampled so */
	int refused_errno; /* why it has no events; 0: it has, or nothing refused them */
	uint64_t ran_ns;   /* as of the last look: see tracer_scarce.c */
	void *user;        /* the hooks' own, NULL at first and after its events were taken away */
	size_t known_as;   /* the hooks' own, 0 at first, and kept */
	struct tracee *next; /* in the table */
};

struct tracee_table {
	struct tracee *buckets[TRACEE_BUCKETS];
	size_t count;
};

/* NULL: none of that tid. */
struct tracee *tracee_table_find(const struct tracee_table *table, pid_t tid);

/* None of its tid may be there. */
void tracee_table_add(struct tracee_table *table, struct tracee *tracee);
/* It is there. */
void tracee_table_remove(struct tracee_table *table, struct tracee *tracee);

/* The one behind this one, of none the first, in no order; NULL: no further one. */
struct tracee *tracee_table_next(const struct tracee_table *table, const struct tracee *tracee);

/* While it goes on, none may be added or removed. */
#define tracee_table_each(table, tracee)                                                           \
	for (struct tracee *tracee = tracee_table_next(table, NULL); tracee;                       \
	     tracee = tracee_table_next(table, tracee))

#endif

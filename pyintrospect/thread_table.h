/* SPDX-License-Identifier: Apache-2.0 */
/* The thread states that are known, by kernel tid, and the lists they were found in. */
#ifndef PIEPROFD_PYINTROSPECT_THREAD_TABLE_H
#define PIEPROFD_PYINTROSPECT_THREAD_TABLE_H

#include "pyintrospect/remote_copy.h"

#include <sys/types.h>

#define THREAD_TABLE_MAX        4096  /* thread states remembered */
#define THREAD_INTERPRETERS_MAX 16    /* interpreters whose lists are walked */
#define THREAD_WALK_MAX         16384 /* thread states looked at in one walk */
#define THREAD_STALE_LOOKS_MAX  64 /* looks for a stale native_thread_id, at so many states each */
#define THREAD_MISSES_MAX       64 /* unknown tids answered without a walk, in a row */

struct thread_state {
	pid_t tid; /* 0: a free slot */
	remote_addr address;
	remote_addr interpreter;
	uint64_t pthread;
	uint32_t walk;               /* number of the walk that saw it first or anew */
	struct remote_recent recent; /* what its last readings needed */
};

/* An interpreter's list as the last walk found it. */
struct thread_list_head {
	remote_addr interpreter;
	remote_addr first;
	uint64_t pthread;
	pid_t tid;
};

struct thread_table {
	struct thread_state **states; /* hash by tid, THREAD_TABLE_SLOTS */
	remote_addr *walked;          /* of one list, in its order: THREAD_WALK_MAX, and the end */
	size_t count;
	uint32_t walk; /* number of the last walk */
	struct thread_list_head heads[THREAD_INTERPRETERS_MAX];
	size_t head_count;
	bool complete;        /* the last walk saw every thread state, each with its tid */
	bool cut_short;       /* the last walk ended at one of these limits */
	unsigned misses;      /* since the last walk */
	unsigned stale_looks; /* for a state whose tid is stale */
	pid_t stale_tid;      /* of the last such look */
};

__attribute__((warn_unused_result)) int thread_table_init(struct thread_table *table);
void thread_table_deinit(struct thread_table *table);

/* The slot of a tid, or the free one where it would go; at most half of the slots are taken. */
struct thread_state **thread_table_slot(const struct thread_table *table, pid_t tid);

/*
 * Adds a state, or updates that of its tid: of one walk, the first stays. 0, -ENOSPC: the
 * table is full, or -ENOMEM.
 */
__attribute__((warn_unused_result)) int thread_table_add(struct thread_table *table,
							 const struct thread_state *found);

/* Drops everything: a state turned out to be another thread's. */
void thread_table_forget(struct thread_table *table);

/* The nth state of the table in no order, or NULL past the end. For validation. */
struct thread_state *thread_table_next(struct thread_table *table, size_t *position);

#endif

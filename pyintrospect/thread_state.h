/* SPDX-License-Identifier: Apache-2.0 */
/*
 * From a kernel tid to its PyThreadState.
 *
 * Every interpreter keeps a list of thread states, newest first. It is walked
 * when an unknown tid is asked for; a thread that has no state costs one
 * system call as long as the heads of the lists stay what they were. That is
 * believed only so many times in a row, since a walk over a running target's
 * lists may have come to a wrong end.
 */
#ifndef PIEPROFD_PYINTROSPECT_THREAD_STATE_H
#define PIEPROFD_PYINTROSPECT_THREAD_STATE_H

#include "pyintrospect/remote_copy.h"

#include <sys/types.h>

#define THREAD_TABLE_MAX        4096  /* thread states remembered */
#define THREAD_INTERPRETERS_MAX 16    /* interpreters whose lists are walked */
#define THREAD_WALK_MAX         16384 /* thread states looked at in one walk */
#define THREAD_STALE_LOOKS_MAX  64 /* looks for a stale native_thread_id, at so many states each */
#define THREAD_MISSES_MAX       64 /* unknown tids answered without a walk, in a row */

struct python_runtime;

struct thread_state {
	pid_t tid; /* 0: a free slot */
	remote_addr address;
	remote_addr interpreter;
	uint64_t pthread;
	uint32_t walk;               /* number of the walk that saw it first or anew */
	struct remote_recent recent; /* what its last readings needed */
};

/* One thread state as it is now, its id resolved to a kernel tid (0: it has none). */
struct thread_facts {
	remote_addr next;
	remote_addr interpreter;
	uint64_t pthread;
	pid_t tid;
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
	unsigned misses;      /* since the last walk */
	unsigned stale_looks; /* for a state whose tid is stale */
	pid_t stale_tid;      /* of the last such look */
};

__attribute__((warn_unused_result)) int thread_table_init(struct thread_table *table);
void thread_table_deinit(struct thread_table *table);

/*
 * The state of the thread with this tid. 0, -ESRCH, -ENOMEM, or what the
 * reader said. *ret_thread lives until thread_table_forget() or the next
 * thread_state_find().
 */
__attribute__((warn_unused_result)) int thread_state_find(struct python_runtime *runtime, pid_t tid,
							  struct thread_state **ret_thread);

/* Drops everything: a state turned out to be another thread's. */
void thread_table_forget(struct thread_table *table);

/*
 * Tells whether bytes, the thread state as it was just read, is still this
 * thread's. Up to 3.10 the tid comes from its struct pthread, through copy.
 */
bool thread_state_is_current(struct python_runtime *runtime, const struct thread_state *thread,
			     const uint8_t *bytes);

/* The thread state at this address, whatever it is; 0 or what the reader said. */
__attribute__((warn_unused_result)) int thread_facts_read(const struct python_runtime *runtime,
							  remote_addr address,
							  struct thread_facts *ret_facts);
/* An interpreter's link and the head of its thread states; 0, -EFAULT or what the reader said. */
__attribute__((warn_unused_result)) int thread_interpreter_read(
	const struct python_runtime *runtime, remote_addr interpreter, remote_addr *ret_next,
	remote_addr *ret_first);

/*
 * Does this interpreter's list still consist of these states, and then states[count] (0: no
 * more)? 0; -EAGAIN: no longer; or what the reader said. To be asked after a walk: one ends too
 * early, and nothing shows it, when a state is unlinked, freed and taken anew while it is looked
 * at, for the new one has no link yet, and the list's head may be what it was.
 */
__attribute__((warn_unused_result)) int thread_links_hold(const struct python_runtime *runtime,
							  remote_addr interpreter,
							  const remote_addr *states, size_t count);

/* The nth state of the table in no order, or NULL past the end. For validation. */
struct thread_state *thread_table_next(struct thread_table *table, size_t *position);
/* Walks all lists afresh. 0 or what the reader said. */
__attribute__((warn_unused_result)) int thread_table_refresh(struct python_runtime *runtime);

#endif

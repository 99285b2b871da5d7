/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Threads that wait for each other in a circle: each sleeps for a lock that the next
 * one holds, or until the next one ends.
 *
 *   thread 1  holds a (with a:)  waits for b   --.
 *   thread 2  holds b (with b:)  waits for a  <--'  and back
 *
 * Probable, not certain: a wait may have a time limit, and of a lock that is no
 * RLock only `with` shows who holds it (pyintrospect/lock_reader.h). For one look;
 * the threads were asleep when they were noted.
 */
#ifndef PIEPROFD_DAEMON_SAMPLE_DEADLOCK_H
#define PIEPROFD_DAEMON_SAMPLE_DEADLOCK_H

#include "attach/procfs.h"
#include "pyintrospect/lock_reader.h"
#include "pyintrospect/thread_list.h"

/* Threads that wait for a lock, and waits in circles; what is more is left out. */
#define DEADLOCK_THREADS_MAX 1024
#define DEADLOCK_WAITS_MAX   16

struct deadlock_place {
	const struct python_code *code; /* NULL: unknown */
	int offset;
};

struct deadlock_held {
	remote_addr lock;
	struct deadlock_place place;
};

struct deadlock_thread {
	pid_t tid, inner_tid;
	remote_addr lock;            /* that it waits for; 0: none, or unknown */
	bool owner_known;            /* it is an RLock */
	uint64_t owner, joined;      /* idents: who has it; whose end is waited for instead */
	struct deadlock_place place; /* where it waits */
	struct deadlock_held held[LOCK_USES_MAX];
	size_t held_count;
	size_t next; /* the thread that it waits for; SIZE_MAX: unknown */
};

/* One thread of a circle: the next one of it is the holder. */
struct deadlock_wait {
	size_t circle; /* number of it, from 0 */
	pid_t tid, holder;
	remote_addr lock; /* 0: it waits for the holder to end */
	bool recursive;   /* an RLock */
	struct deadlock_place waits_at, held_at;
};

struct deadlocks {
	struct deadlock_wait waits[DEADLOCK_WAITS_MAX]; /* a circle behind the other */
	size_t count;
};

/* All zeros at first. */
struct deadlock_search {
	struct deadlock_thread *threads;
	size_t count;
};

void deadlock_search_deinit(struct deadlock_search *search);

/*
 * What a thread waits for that sleeps so, by its stack, which was read in this sleep;
 * nothing where it waits for no lock. runtime: NULL: there is none. 0 or -ENOMEM.
 */
__attribute__((warn_unused_result)) int deadlock_thread_read(const struct python_runtime *runtime,
							     const struct address_ranges *gil_locks,
							     const struct process_sleep *sleep,
							     const struct python_stack *stack,
							     struct deadlock_thread *ret_thread);

/* It did not wake up meanwhile. 0 or -ENOMEM. */
__attribute__((warn_unused_result)) int deadlock_search_add(struct deadlock_search *search,
							    pid_t tid, pid_t inner_tid,
							    const struct deadlock_thread *thread);

/* The circles among those that were noted. */
void deadlock_search_find(struct deadlock_search *search, const struct python_thread_list *threads,
			  struct deadlocks *ret_deadlocks);

#endif

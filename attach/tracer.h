/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The one place that makes ptrace calls and waits for the target's threads.
 *
 * Lives in one thread of its own: attach, poll and quiesce are called there.
 * Detaching is that thread's end: the kernel lets go of every tracee when its
 * tracer exits, without stopping any. PTRACE_DETACH needs a stop, and to stop
 * a sleeping thread makes its epoll_wait() and the like return EINTR; so it
 * is not used, and neither is PTRACE_INTERRUPT.
 *
 * What cannot be avoided: the kernel wakes a traced thread also for signals that
 * it ignores, so that calls which are never restarted return EINTR then.
 *
 * PTRACE_SINGLESTEP is not used either: its stop is a SIGTRAP, which is
 * delivered, and fatal, when the tracer dies in the middle of it (5 of 5
 * targets died). A stop by a perf event's signal is harmless then.
 */
#ifndef PIEPROFD_ATTACH_TRACER_H
#define PIEPROFD_ATTACH_TRACER_H

#include "attach/fork_counter.h"
#include "attach/kernel_clock.h"
#include "attach/relief.h"
#include "attach/thread_events.h"
#include "attach/tracee.h"
#include "common/error.h"
#include "common/registers.h"
#include "common/thread_id.h"

struct tracee {
	struct thread_id id;
	pid_t inner_tid; /* as the target's own pid namespace numbers it */
	char name[16];   /* the kernel's, when it was first seen */
	enum tracee_state state;
	struct thread_events events;      /* clock_fd < 0: this thread is not sampled */
	struct kernel_clock kernel_clock; /* fd < 0: its time in the kernel is not sampled */
	struct fork_counter forks;        /* fd < 0: not asked for, or refused */
	void *user;                       /* the hooks' own, NULL at first */
	struct tracee *next;              /* in the tracer's table */
};

enum tracer_end {
	TRACER_RUNNING,
	TRACER_TARGET_EXITED,
	TRACER_TARGET_KILLED,
	TRACER_TARGET_REPLACED, /* it called exec: another program now */
};

struct tracer_hooks {
	void *context;
	/* A thread is known; its events are open (or not, see clock_fd) and not yet enabled. */
	void (*thread_started)(void *context, struct tracee *tracee);
	/* It is gone; its events can still be read, not armed. Free user here. */
	void (*thread_ended)(void *context, struct tracee *tracee);
	/*
	 * The thread is stopped by its own events, which are given in the order in
	 * which they happened. Copy, re-program, return: nothing slow.
	 */
	void (*stopped)(void *context, struct tracee *tracee, const struct registers *registers,
			const struct event_record *records, size_t count);
	/* It runs again: do the slow part of what stopped() noted. */
	void (*resumed)(void *context, struct tracee *tracee);
	/*
	 * Instead: stopped() took so long that the thread was let go meanwhile. What it
	 * noted is not to be relied on, what it armed may be anywhere. May be NULL.
	 */
	void (*abandoned)(void *context, struct tracee *tracee);
	/* The process has ended, and /proc/PID still tells of it for a moment. May be NULL. */
	void (*process_ends)(void *context);
};

struct tracer_counts {
	uint64_t stops;            /* by our events */
	uint64_t foreign_signals;  /* passed on */
	uint64_t abandoned;        /* stops that were ended while we were held up */
	uint64_t threads;          /* ever seen */
	uint64_t threads_blocking; /* not sampled: they block the stop signal */
	uint64_t threads_refused;  /* not sampled: perf events were refused */
	uint64_t threads_beyond;   /* not sampled: more at a time than are followed */
	int refused_errno;         /* of the last refusal */
	uint64_t memory_refused;   /* threads whose memory accesses the processor does not sample */
	int kernel_refused_errno;  /* why time in the kernel is not sampled; 0: it is */
	uint64_t forks;            /* processes made meanwhile, if asked for */
	int forks_refused_errno;   /* why forks of some thread are not counted; 0: all are */
};

struct tracer;

/*
 * Touches nothing yet. hooks are borrowed. period_ns is the sampling clock's.
 * NULL: out of memory.
 */
struct tracer *tracer_create(pid_t pid, int stop_signal, uint64_t period_ns,
			     const struct tracer_hooks *hooks);
/* Fewer threads than 16,384 are followed: for tests, before attach. */
void tracer_limit_threads(struct tracer *tracer, size_t threads_max);
/*
 * Before attach: every thread's memory accesses are sampled by these events
 * too, about as often as by the clock. They are borrowed.
 */
void tracer_sample_memory(struct tracer *tracer, const struct memory_event *events, size_t count);
/* Before attaching: count the processes that the target makes. */
void tracer_count_forks(struct tracer *tracer);
/* After quiesce, from any thread. */
void tracer_destroy(struct tracer *tracer);

/* Seizes every thread and opens its events. -1 with *error filled. */
__attribute__((warn_unused_result)) int tracer_attach(struct tracer *tracer, struct error *error);

/* Handles all stops there are, waiting at most timeout_ns for the first. */
enum tracer_end tracer_poll(struct tracer *tracer, uint64_t timeout_ns);

/*
 * From another thread, while `thread`, which has attached, polls: its wait is over.
 * It may have been about to wait, and then sleeps on: to be called again until what
 * was wanted is done.
 */
void tracer_wake(struct tracer *tracer, pthread_t thread);

/* Brings tracer_counts()->forks up to date; now and then, or some are missed. */
void tracer_take_forks(struct tracer *tracer);

/* Starts and stops the clocks of all threads, also of those yet to come. */
void tracer_enable_clocks(struct tracer *tracer, bool enable);
void tracer_set_period(struct tracer *tracer, uint64_t period_ns);

/*
 * Takes the events off threads that block the stop signal: it would stay
 * pending, and might be taken for one of the target's own. To be called now
 * and then.
 */
void tracer_check_blocked(struct tracer *tracer);

/*
 * Closes all events and answers the stops they still caused, so that the
 * calling thread can end and thereby detach.
 */
void tracer_quiesce(struct tracer *tracer);

/* For a watchdog, from tracer_create() to tracer_destroy(). */
struct relief *tracer_relief(struct tracer *tracer);
/*
 * In a copy of the process whose tracer's thread is not in it: closes the events,
 * so that the copy does not keep them alive. Their rings are not in it either.
 */
void tracer_let_go(struct tracer *tracer);

const struct tracer_counts *tracer_counts(const struct tracer *tracer);
/* Exit code or signal of the target once tracer_poll said so. */
int tracer_exit_status(const struct tracer *tracer);

/* Visits every living thread. */
void tracer_for_each(struct tracer *tracer, void (*visit)(void *context, struct tracee *tracee),
		     void *context);

#endif

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

#include "attach/relief.h"
#include "attach/tracer_hooks.h"
#include "common/error.h"

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
/* Before attaching: page faults of all threads in user code are sampled, by stops. */
void tracer_sample_faults(struct tracer *tracer);
/* Before attaching: threads get no clocks of their time in the kernel, which others sample. */
void tracer_leave_kernel_time(struct tracer *tracer);
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
 * Finds threads that have come to block the stop signal: from now on their events
 * are recorded, and stop nobody. To be called now and then.
 */
void tracer_check_blocked(struct tracer *tracer);

/*
 * Where there are not events for all threads: those that run get them, of threads that
 * sleep. To be called now and then.
 */
void tracer_look_for_runners(struct tracer *tracer);

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

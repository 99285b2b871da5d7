/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The perf events of one thread: its sampling clock and its hardware
 * breakpoints, all writing into one small ring and all stopping the thread by
 * the same harmless signal.
 *
 *   clock fd ---.                      kernel: record, then signal to the thread
 *   slot 0 fd --+--> ring (2 pages) <--'
 *   slot 1 fd --|    (slots are opened with PERF_FLAG_FD_OUTPUT)
 *   ...       --'
 *   memory fds -'    (where the processor samples memory accesses itself)
 *
 * Everything is owned by file descriptors: when the daemon dies, the kernel
 * removes it all. The records, not the signal's si_fd, say what has fired: a
 * second event of the same stop finds the signal already pending and is not
 * signalled again, but its record is there. A ring for each thread also lets an
 * ordinary user, whose locked memory is limited, follow more than 100 threads.
 */
#ifndef PIEPROFD_ATTACH_THREAD_EVENTS_H
#define PIEPROFD_ATTACH_THREAD_EVENTS_H

#include "attach/event_ring.h"
#include "attach/fault_sampler.h"
#include "attach/memory_event.h"
#include "attach/sampling_interval.h"
#include "common/address.h"

#include <sys/types.h>

#define BREAKPOINT_SLOTS 4                      /* debug registers of x86 */
#define EVENT_CLOCK      BREAKPOINT_SLOTS       /* source of a clock record; slots are 0 to 3 */
#define EVENT_MEMORY     (BREAKPOINT_SLOTS + 1) /* of a memory access that the processor sampled */
#define EVENT_FAULT      (BREAKPOINT_SLOTS + 2) /* of a page fault */

enum breakpoint_type {
	BREAKPOINT_EXECUTE,    /* before the instruction at address; length is ignored */
	BREAKPOINT_WRITE,      /* after a store into [address, address + length) */
	BREAKPOINT_READ_WRITE, /* after a load or store; x86 has no read-only watch */
};

struct event_record {
	unsigned source;     /* slot 0 to 3, or one of the above */
	unsigned cpu;        /* the processor on which it happened */
	remote_addr ip;      /* user instruction pointer at the event */
	uint64_t time_ns;    /* CLOCK_MONOTONIC at the event */
	uint64_t running_ns; /* how long the thread has run on a CPU since this event was opened */
	uint64_t stands_for_ns; /* a clock record: CPU time of the thread; may be 0 */
	remote_addr address;    /* EVENT_MEMORY, EVENT_FAULT */
	uint64_t faults;        /* EVENT_FAULT: for which it stands */
	uint8_t kinds;          /* EVENT_MEMORY: ACCESS_LOAD | ACCESS_STORE; 0: it was no access */
};

struct breakpoint_event {
	int fd; /* -1: never opened */
	uint64_t id;
	bool enabled;
	bool refused; /* all debug registers of the thread are taken by others */
};

struct memory_sampler {
	int fd;
	uint64_t id;
	const struct memory_event *event;
};

struct thread_events {
	pid_t tid;
	int signal;
	int clock_fd; /* -1: not open */
	uint64_t clock_id;
	struct sampling_interval interval;
	uint64_t owed_ns; /* CPU time that the next clock record stands for as well */
	bool soon;        /* a record has passed and is to be a stop: see _direct_back() */
	uint64_t soon_ns; /* that record's running_ns, once it was drained */
	bool unstopped;   /* the clock stops nobody, other events are off */
	struct event_ring ring;
	struct breakpoint_event slots[BREAKPOINT_SLOTS];
	unsigned armed;          /* slots that are */
	uint64_t armed_since_ns; /* CLOCK_MONOTONIC, while any is */
	uint64_t armed_ns;       /* until then */
	struct memory_sampler memory[MEMORY_EVENTS_MAX];
	size_t memory_count;
	struct fault_sampler fault;
};

/*
 * Opens the clock, stopped, with its ring. period_ns is the thread's CPU time
 * between samples, on average. 0 or perf_event_open's negative errno (-EACCES, -EPERM:
 * not permitted; -ENOSYS: seccomp or no perf; -ESRCH: the thread is gone;
 * -EMFILE; -ENOBUFS: no memory may be locked for its ring).
 */
__attribute__((warn_unused_result)) int thread_events_open(struct thread_events *events, pid_t tid,
							   int signal, uint64_t period_ns);
/* Takes a half-opened one; leaves nothing behind in the thread. */
void thread_events_close(struct thread_events *events);

/*
 * The same with a clock that goes on where that of a thread which has ended was
 * left: thread_events_rest() of it.
 */
__attribute__((warn_unused_result)) int thread_events_open_after(struct thread_events *events,
								 pid_t tid, int signal,
								 uint64_t period_ns,
								 struct sampling_rest rest);
/*
 * Of a thread that has ended: how far it was from the clock's next sample. Records that nobody
 * has read are gone with it, and owed: the sample is then to come soon.
 */
struct sampling_rest thread_events_rest(struct thread_events *events);

/* How long the thread has run on a CPU while its clock was on; 0: unknown, too. */
uint64_t thread_events_running_ns(const struct thread_events *events);

/*
 * Adds samples of page faults in user code, stopped: it is enabled with the clock. 0 or a negative
 * errno.
 */
__attribute__((warn_unused_result)) int thread_events_add_faults(struct thread_events *events);
/*
 * Adds an event by which the processor samples memory accesses, stopped, about
 * as often as the clock's period says. event is borrowed. 0 or a negative
 * errno, as above; -ENOENT, -EOPNOTSUPP, -EINVAL: not on this processor, or
 * not without the kernel's own accesses.
 */
__attribute__((warn_unused_result)) int thread_events_add_memory(struct thread_events *events,
								 const struct memory_event *event);

void thread_events_remove_memory(struct thread_events *events);

/* In a copy of the process: closes what it shares with the original, and touches no ring. */
void thread_events_let_go(struct thread_events *events);

/* Breakpoints that were armed and have been silenced by their descriptor go on. */
void thread_events_rearm(struct thread_events *events);

/* Starts or stops the clock, and the sampling of memory. Safe on a running thread. */
void thread_events_enable_clock(struct thread_events *events, bool enable);
/* 0 or a negative errno; the period stays as it was then. */
int thread_events_set_period(struct thread_events *events, uint64_t period_ns);
/* Of a thread that was not stopped yet: its first interval is to be no shorter than that. */
void thread_events_delay_first(struct thread_events *events, uint64_t least_ns);
/* The next interval is to be no shorter than that, for once. */
void thread_events_delay_clock(struct thread_events *events, uint64_t least_ns);
/* After a clock record was drained, the thread being stopped: another random interval. */
void thread_events_vary_clock(struct thread_events *events);
/* The same of a thread that was not, and has run on since running_ns: that time is not lost. */
void thread_events_vary_passed(struct thread_events *events, uint64_t running_ns);

/*
 * The clock's signals go to this thread of our own instead: the thread it looks at
 * runs on, and its other events are off.
 */
void thread_events_direct_away(struct thread_events *events, pid_t tid, int signal);
/*
 * They stop the thread again. soon: one record of the clock was not drained yet and has
 * stopped nobody; another one does in a moment, and the two are one sample.
 */
void thread_events_direct_back(struct thread_events *events, bool enabled, bool soon);

/*
 * Programs a slot. Best done while the thread is stopped (30 us otherwise).
 * length is 1, 2, 4 or 8 and address a multiple of it. 0; -ENOSPC: no debug
 * register is free; or a negative errno.
 */
__attribute__((warn_unused_result)) int breakpoint_arm(struct thread_events *events, unsigned slot,
						       enum breakpoint_type type,
						       remote_addr address, size_t length);
/* Nothing happens on a slot that is not armed. */
void breakpoint_disarm(struct thread_events *events, unsigned slot);

/* For how long, of all time until now_ns, at least one slot was armed. */
uint64_t thread_events_armed_ns(const struct thread_events *events, uint64_t now_ns);

/* On-CPU time of the slot's event so far, comparable with its records; 0 when it was never opened.
 */
uint64_t breakpoint_running_ns(const struct thread_events *events, unsigned slot);

/* Takes at most maximum new records out of the ring; call again when it returns maximum. */
size_t thread_events_drain(struct thread_events *events, struct event_record *records,
			   size_t maximum);

/* Are there records that were not drained? */
bool thread_events_pending(const struct thread_events *events);

/* Is fd one of this thread's? (si_fd of its signal) */
bool thread_events_own(const struct thread_events *events, int fd);

#endif

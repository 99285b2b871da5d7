/* SPDX-License-Identifier: Apache-2.0 */
/* What a tracer tells: by hooks while it traces, by counts, and how tracing ended. */
#ifndef PIEPROFD_ATTACH_TRACER_HOOKS_H
#define PIEPROFD_ATTACH_TRACER_HOOKS_H

#include "attach/tracee_table.h"
#include "common/registers.h"

enum tracer_end {
	TRACER_RUNNING,
	TRACER_TARGET_EXITED,
	TRACER_TARGET_KILLED,
	TRACER_TARGET_REPLACED, /* it called exec: another program now */
};

struct tracer_hooks {
	void *context;
	/* The events of a thread are open, and not yet enabled. */
	void (*thread_started)(void *context, struct tracee *tracee);
	/*
	 * It is gone, or its events are for another thread now, and may come again later. They
	 * can still be read, not armed. Free user here, and set it to NULL.
	 */
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
	 * noted is not to be relied on, what it armed may be anywhere. Also of a thread that
	 * has come to block the stop signal, outside of a stop. May be NULL.
	 */
	void (*abandoned)(void *context, struct tracee *tracee);
	/*
	 * A thread that cannot be stopped, as it blocks the stop signal, ran on when these
	 * were recorded, a moment ago; its kernel clock may have samples, too. May be NULL.
	 */
	void (*passed)(void *context, struct tracee *tracee, const struct event_record *records,
		       size_t count);
	/* The process has ended, and /proc/PID still tells of it for a moment. May be NULL. */
	void (*process_ends)(void *context);
};

struct tracer_counts {
	uint64_t stops;            /* by our events */
	uint64_t foreign_signals;  /* passed on */
	uint64_t stray_traps;      /* kept from the target: signal_origin.h */
	uint64_t abandoned;        /* stops that were ended while we were held up */
	uint64_t threads;          /* ever seen */
	uint64_t threads_blocking; /* sampled without stops: they block the stop signal */
	uint64_t signals_left;     /* in threads that came to block them: pending when we left */
	uint64_t threads_refused;  /* that have none: perf events were refused */
	uint64_t refused_memory;   /* the same, as no memory may be locked for their rings */
	uint64_t refused_files;    /* the same, as too many files are open */
	uint64_t threads_beyond;   /* not sampled: more at a time than are followed */
	int refused_errno;         /* of the last refusal */
	uint64_t memory_refused;   /* threads whose memory accesses the processor does not sample */
	uint64_t faults_refused;   /* threads whose page faults are not sampled, though asked for */
	int kernel_refused_errno;  /* why time in the kernel is not sampled; 0: it is */
	uint64_t forks;            /* processes made meanwhile, if asked for */
	int forks_refused_errno;   /* why forks of some thread are not counted; 0: all are */
};

#endif

/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Samples of threads that nobody stops: for where perf events are refused, as
 * Docker's seccomp profile does, and for targets that must not be touched. The
 * process is not traced, gets no signal, and has no event in it: all that is
 * done is to read its memory and /proc.
 *
 *   tick --> threads in state R --> their Python frames, read while they run
 *                                   --> calling context tree
 *
 * Each thread's CPU time comes from the kernel's count of it. What has been
 * added since the thread was last seen running is charged to where it is seen
 * running now, so that sums are exact and shares are samples.
 *
 * Short stops by ptrace were the first plan. Without a perf event a running thread is
 * only stopped by PTRACE_INTERRUPT or a signal, which also interrupt system calls.
 * Reading leaves nothing behind when the daemon dies.
 *
 * What it cannot do: memory accesses, native frames, functions that end within
 * microseconds (their callers are charged, and that is counted).
 *
 * Nor does it tell native time from Python's: all time in user code is in the
 * class TIME_PYTHON, and reports say so (profile_facts.native_unknown). Without a perf event or
 * a stop the kernel tells nobody where a running thread is: /proc/PID/syscall
 * says "running", and kstkeip of /proc/PID/stat is 0. To call native what stays in one
 * bytecode instruction for a whole reading (some 50 us) or runs without the GIL was
 * tried: most of numpy's calls are shorter, and a program of which perf has 21 to
 * 39% in Python came out at 96%. A long instruction may as well be the interpreter's
 * own, as in sum(range(n)).
 */
#ifndef PIEPROFD_DAEMON_SAMPLE_UNSTOPPED_SAMPLER_H
#define PIEPROFD_DAEMON_SAMPLE_UNSTOPPED_SAMPLER_H

#include "daemon/capture/loss.h"
#include "daemon/capture/target.h"
#include "daemon/cct/cct.h"
#include "daemon/sample/thread_stacks.h"
#include "daemon/sample/thread_times.h"

struct unstopped_sampler;

/* Where its samples go; all borrowed. */
struct unstopped_sink {
	struct cct *cct;
	struct losses *losses;
	struct thread_times *threads;
	struct timeline *node_timeline, *thread_timeline;
	struct thread_stacks *stacks;
	uint64_t *samples; /* read by other threads: added to atomically */
};

/* target is borrowed, and has a runtime. NULL: out of memory. */
struct unstopped_sampler *unstopped_sampler_create(struct target *target, uint64_t period_ns,
						   const struct unstopped_sink *sink);
void unstopped_sampler_destroy(struct unstopped_sampler *sampler);

/* CPU time counts from now on. */
void unstopped_sampler_begin(struct unstopped_sampler *sampler);
/* Charges what is left over to where each thread was seen last. */
void unstopped_sampler_end(struct unstopped_sampler *sampler);

enum unstopped_state {
	UNSTOPPED_RUNNING,
	UNSTOPPED_EXITED,
	UNSTOPPED_REPLACED, /* another program runs in the process */
};

/*
 * Takes a sample of each running thread. *ret_next_ns: when to call again, at
 * random about a period from now; later where there are so many threads that
 * looking at them would take more than a twentieth of a processor.
 */
enum unstopped_state unstopped_sampler_tick(struct unstopped_sampler *sampler,
					    uint64_t *ret_next_ns);

#endif

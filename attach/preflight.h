/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Everything that can forbid a profile, found out before the target is
 * touched, each with its cause and its cure in words.
 */
#ifndef PIEPROFD_ATTACH_PREFLIGHT_H
#define PIEPROFD_ATTACH_PREFLIGHT_H

#include "attach/memory_event.h"
#include "common/error.h"

#include <stdbool.h>
#include <sys/types.h>

struct preflight {
	int stop_signal; /* the one to use: neither caught nor blocked by any thread, if there is
			    one */
	size_t threads_blocking;    /* of those looked at, these block it */
	bool stop_signal_is_shared; /* the target handles it too; it will still see its own ones */
	unsigned breakpoints;       /* debug registers free on the main thread, 0 to 4 */
	int breakpoint_errno;       /* why there is none */
	/* By which the processor can sample loads, and those for stores; none: it cannot. */
	struct memory_event loads[MEMORY_EVENTS_MAX], stores[MEMORY_EVENTS_MAX];
	size_t load_count, store_count;
};

/*
 * wanted_signal 0: choose. 0, or -1 with *error filled: no such process, a
 * kernel thread, a zombie, ourselves, 32-bit, traced already, not permitted
 * (uid, capability, Yama), perf events refused.
 */
__attribute__((warn_unused_result)) int preflight_check(pid_t pid, int wanted_signal,
							struct preflight *ret_preflight,
							struct error *error);

struct process_status;
/* A zombie, and *error filled? */
bool preflight_has_ended(pid_t pid, const struct process_status *status, struct error *error);

/* Ids here are ids everywhere: user 0 is the machine's root, and capabilities count. */
bool preflight_in_first_user_namespace(void);

/* Why PTRACE_SEIZE failed with this negative errno. */
void preflight_explain_seize(pid_t pid, int failure, struct error *error);

/* Can the main thread of a process have a sampling clock? 0 or perf_event_open's negative errno. */
__attribute__((warn_unused_result)) int preflight_probe_clock(pid_t pid);

/* Why perf_event_open failed with this negative errno. */
void preflight_explain_perf(int failure, struct error *error);

/* Why there are no breakpoints; for a mode that cannot do without. */
void preflight_explain_breakpoints(pid_t pid, int breakpoint_errno, struct error *error);

#endif

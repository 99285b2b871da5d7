/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The state of one traced thread and what each stop does to it: one table,
 * tracee_step(), which the tracer obeys. Pure.
 *
 *                 seized, was running
 *        .------------------------------------.
 *        |                                    v
 *   (NEW) ---- first stop (trap) --------> RUNNING <---- SIGCONT (trap) ---.
 *        |                                  |   ^                          |
 *        `--- first stop in a stopped -.    |   `--- signal, clone, ... ---'
 *              process (group)         |    |        (continued at once)
 *                                      v    v
 *                                     LISTENING (group-stop: left as it is)
 *   any state --- exited, killed, exec of another thread ---> GONE
 *
 * A new thread or process reports by itself: its maker is just continued.
 */
#ifndef PIEPROFD_ATTACH_TRACEE_H
#define PIEPROFD_ATTACH_TRACEE_H

#include "attach/stop.h"

enum tracee_state {
	TRACEE_NEW,       /* attached by the kernel at its birth, first stop not yet seen */
	TRACEE_RUNNING,   /* not stopped by us: runs, sleeps, or is in a system call */
	TRACEE_LISTENING, /* in group-stop; the target is stopped and stays so */
	TRACEE_GONE,
	TRACEE_STATE_COUNT
};

enum tracee_action {
	TRACEE_CONTINUE,         /* PTRACE_CONT, no signal */
	TRACEE_START,            /* program its events, then PTRACE_CONT */
	TRACEE_START_AND_LISTEN, /* program its events, then PTRACE_LISTEN */
	TRACEE_INSPECT_SIGNAL,   /* ours: take the sample, then PTRACE_CONT; not ours: deliver it */
	TRACEE_LISTEN,           /* PTRACE_LISTEN: stay in group-stop, report its end */
	TRACEE_END_PROGRAM, /* the program was replaced: forget all threads, then PTRACE_CONT */
	TRACEE_FORGET,      /* nothing to continue */
	TRACEE_ACTION_COUNT
};

struct tracee_transition {
	enum tracee_action action;
	enum tracee_state next;
};

struct tracee_transition tracee_step(enum tracee_state state, enum stop stop);

#endif

/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Why a traced thread is about to receive a signal.
 *
 * A processor says in a register (DR6) what a debug exception is for. Some hypervisors lose that:
 * seen of 2 in 100,000 hits of a breakpoint on an idle machine, and of 50 on a busy one, under
 * nested virtualisation. Linux then believes that an instruction has asked for the exception (int1)
 * and sends SIGTRAP, which ends a process that does not handle it: whoever set the breakpoint.
 * Nothing of that is the program's business.
 */
#ifndef PIEPROFD_ATTACH_SIGNAL_ORIGIN_H
#define PIEPROFD_ATTACH_SIGNAL_ORIGIN_H

#include "attach/thread_events.h"

#include <stdbool.h>

enum signal_origin {
	SIGNAL_FOREIGN, /* the program's own, or somebody's to it: to be delivered */
	SIGNAL_OURS,    /* by one of the thread's events */
	SIGNAL_STRAY,   /* SIGTRAP by a debug exception that nothing in the program has asked for */
};

/* Of a thread that this thread traces, stopped to receive signal. System calls alone. */
enum signal_origin signal_origin(pid_t tid, const struct thread_events *events, int stop_signal,
				 int signal);
bool signal_is_stray(pid_t tid, int signal);

#endif

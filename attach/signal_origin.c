/* SPDX-License-Identifier: Apache-2.0 */
#include "attach/signal_origin.h"

#include <errno.h>
#include <signal.h>
#include <sys/ptrace.h>

/* int1, also called icebp: an instruction of one byte. */
#define INT1 0xf1u

/* False where that cannot be read: nothing was run there. */
static bool is_int1(pid_t tid, remote_addr address)
{
	remote_addr word = address & ~(remote_addr)7;
	long bytes;

	errno = 0;
	/* Aligned, so that it is all of one page. */
	bytes = ptrace(PTRACE_PEEKDATA, tid, (void *)word, NULL);
	return !errno && ((unsigned long)bytes >> (8 * (address - word)) & 0xff) == INT1;
}

/*
 * The exception is behind the instruction. Under some hypervisors (an AMD EPYC, Linux 6.18) it is
 * at the instruction, which is then run again: a signal kept back would be the first of endlessly
 * many.
 */
static bool is_by_int1(pid_t tid, remote_addr ip)
{
	return is_int1(tid, ip - 1) || is_int1(tid, ip);
}

bool signal_is_stray(pid_t tid, int signal)
{
	siginfo_t info;

	/* kill(2), int3 and perf's own traps have other codes; nobody else can trace the thread. */
	return signal == SIGTRAP && !ptrace(PTRACE_GETSIGINFO, tid, NULL, &info) &&
	       (info.si_code == TRAP_BRKPT || info.si_code == TRAP_HWBKPT) &&
	       !is_by_int1(tid, (remote_addr)info.si_addr);
}

enum signal_origin signal_origin(pid_t tid, const struct thread_events *events, int stop_signal,
				 int signal)
{
	siginfo_t info;

	/* si_code of a file descriptor's signal is POLL_IN ... POLL_HUP; tgkill, OOB data and
	 * timers have others. */
	if (signal == stop_signal && !ptrace(PTRACE_GETSIGINFO, tid, NULL, &info) &&
	    info.si_code >= POLL_IN && info.si_code <= POLL_HUP &&
	    thread_events_own(events, info.si_fd))
		return SIGNAL_OURS;
	return signal_is_stray(tid, signal) ? SIGNAL_STRAY : SIGNAL_FOREIGN;
}

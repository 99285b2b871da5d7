/* SPDX-License-Identifier: Apache-2.0 */
/* What a wait status of a seized thread means. Pure. */
#ifndef PIEPROFD_ATTACH_STOP_H
#define PIEPROFD_ATTACH_STOP_H

/*
 * The closed list of things a seized thread can report. Everything that
 * ptrace(2) describes falls on one of these.
 */
enum stop {
	STOP_EXITED, /* ended by itself */
	STOP_KILLED, /* ended by a signal */
	STOP_SIGNAL, /* about to receive a signal (signal-delivery-stop) */
	STOP_GROUP,  /* stopped with its whole process by SIGSTOP, SIGTSTP, SIGTTIN or SIGTTOU */
	STOP_TRAP,   /* PTRACE_EVENT_STOP otherwise: a new thread's first stop, SIGCONT's end of a
			group-stop */
	STOP_CLONE,  /* has made a thread (or another child by clone) */
	STOP_FORK,   /* has made a process: fork or vfork */
	STOP_EXEC,   /* runs another program now; all other threads are gone */
	STOP_OTHER,  /* an event that was not asked for: vfork-done, exit, seccomp, syscall */
	STOP_CONTINUED, /* WCONTINUED was not asked for: never from us */
	STOP_COUNT
};

/* From waitpid's status; *ret_signal gets the signal of STOP_SIGNAL, STOP_GROUP and STOP_KILLED,
 * else 0. */
enum stop stop_decode(int status, int *ret_signal);

#endif

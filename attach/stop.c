/* SPDX-License-Identifier: Apache-2.0 */
#include "attach/stop.h"

#include <signal.h>
#include <sys/ptrace.h>
#include <sys/wait.h>

enum stop stop_decode(int status, int *ret_signal)
{
	int event = status >> 16;

	*ret_signal = 0;
	if (WIFEXITED(status))
		return STOP_EXITED;
	if (WIFSIGNALED(status)) {
		*ret_signal = WTERMSIG(status);
		return STOP_KILLED;
	}
	if (WIFCONTINUED(status))
		return STOP_CONTINUED;
	switch (event) {
	case 0:
		*ret_signal = WSTOPSIG(status);
		return STOP_SIGNAL;
	case PTRACE_EVENT_STOP:
		switch (WSTOPSIG(status)) {
		case SIGSTOP:
		case SIGTSTP:
		case SIGTTIN:
		case SIGTTOU:
			*ret_signal = WSTOPSIG(status);
			return STOP_GROUP;
		default:
			return STOP_TRAP;
		}
	case PTRACE_EVENT_CLONE:
		return STOP_CLONE;
	case PTRACE_EVENT_FORK:
	case PTRACE_EVENT_VFORK:
		return STOP_FORK;
	case PTRACE_EVENT_EXEC:
		return STOP_EXEC;
	default:
		return STOP_OTHER;
	}
}

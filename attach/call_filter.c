/* SPDX-License-Identifier: Apache-2.0 */
#include "attach/call_filter.h"

#include <errno.h>
#include <linux/seccomp.h>
#include <stddef.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

/* The last call has failed, as it does anywhere. */
static bool is_refused(void)
{
	int error = errno;

	return error != EINVAL && prctl(PR_GET_SECCOMP, 0, 0, 0, 0) == SECCOMP_MODE_FILTER;
}

bool call_filter_refuses_perf(void)
{
	/* Flags are looked at first, by every kernel. */
	return syscall(SYS_perf_event_open, NULL, 0, -1, -1, ~0ul) < 0 && is_refused();
}

bool call_filter_refuses_scheduling(void)
{
	return syscall(SYS_sched_setscheduler, 0, -1, NULL) < 0 && is_refused();
}

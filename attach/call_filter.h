/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Whether a filter of system calls (seccomp: a container's, a systemd unit's), and
 * not the kernel itself, refuses a call. The two have different cures, and the same
 * errno. Told by calls that do nothing anywhere: the kernel calls their arguments
 * invalid before it asks who is calling, and a filter looks at the call's number.
 */
#ifndef PIEPROFD_ATTACH_CALL_FILTER_H
#define PIEPROFD_ATTACH_CALL_FILTER_H

#include <stdbool.h>

/* perf_event_open(2) */
bool call_filter_refuses_perf(void);
/* sched_setscheduler(2) */
bool call_filter_refuses_scheduling(void);

#endif

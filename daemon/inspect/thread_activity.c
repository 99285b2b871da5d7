/* SPDX-License-Identifier: Apache-2.0 */
#include "daemon/inspect/thread_activity.h"

const char *thread_activity_name(enum thread_activity activity)
{
	static const char *const names[THREAD_ACTIVITY_COUNT] = {
		[THREAD_RUNNING] = "running",
		[THREAD_SLEEPING] = "sleeping",
		[THREAD_STOPPED] = "stopped",
		[THREAD_GIL_WAIT] = "waiting for the GIL",
	};

	return names[activity];
}

enum thread_activity thread_activity_of(char state)
{
	switch (state) {
	case 'R':
		return THREAD_RUNNING;
	case 'T':
	case 't':
		return THREAD_STOPPED;
	default:
		return THREAD_SLEEPING;
	}
}

/* SPDX-License-Identifier: Apache-2.0 */
#include "daemon/process_watch.h"

#include "common/clock.h"

#include <time.h>

#define PAUSE_MIN_NS (200 * NS_PER_MS)
/* Pauses, as multiples of the CPU time that the last search took. */
#define PAUSE_COSTS 50

static uint64_t cpu_now_ns(void)
{
	struct timespec now;

	if (clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now) < 0)
		return 0;
	return (uint64_t)now.tv_sec * NS_PER_SECOND + (uint64_t)now.tv_nsec;
}

size_t process_watch_look(struct process_watch *watch, pid_t *pids, size_t maximum)
{
	uint64_t began_ns, pause_ns;
	size_t count = 0;

	if (clock_now_ns() < watch->next_ns)
		return 0;
	began_ns = cpu_now_ns();
	if (process_search(&watch->query, pids, maximum, &count, NULL))
		count = 0;
	pause_ns = (cpu_now_ns() - began_ns) * PAUSE_COSTS;
	watch->next_ns = clock_now_ns() + (pause_ns > PAUSE_MIN_NS ? pause_ns : PAUSE_MIN_NS);
	return count;
}

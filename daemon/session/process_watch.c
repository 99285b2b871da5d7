/* SPDX-License-Identifier: Apache-2.0 */
#include "daemon/session/process_watch.h"

#include "common/clock.h"

#define PAUSE_MIN_NS (200 * NS_PER_MS)
#define SHARE_DEFAULT 0.01

void process_watch_deinit(struct process_watch *watch)
{
	strangers_deinit(&watch->strangers);
}

void process_watch_look(struct process_watch *watch, struct pid_list *ret_found)
{
	uint64_t began_ns, pause_ns;

	ret_found->count = 0;
	if (clock_now_ns() < watch->next_ns)
		return;
	watch->query.strangers = &watch->strangers;
	began_ns = clock_thread_cpu_ns();
	if (process_search(&watch->query, ret_found, NULL))
		ret_found->count = 0;
	pause_ns = (uint64_t)((double)(clock_thread_cpu_ns() - began_ns) /
			      (watch->share > 0 ? watch->share : SHARE_DEFAULT));
	watch->next_ns = clock_now_ns() + (pause_ns > PAUSE_MIN_NS ? pause_ns : PAUSE_MIN_NS);
}

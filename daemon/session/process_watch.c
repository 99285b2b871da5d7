/* SPDX-License-Identifier: Apache-2.0 */
#include "daemon/session/process_watch.h"

#include "common/clock.h"

#define PAUSE_MIN_NS  (200 * NS_PER_MS)
#define PAUSE_GOOD_NS (2 * NS_PER_SECOND)
#define SHARE_DEFAULT 0.01

static uint64_t pause_after(const struct process_watch *watch, uint64_t cost_ns)
{
	double share = watch->share > 0 ? watch->share : SHARE_DEFAULT;
	double most = watch->share_most > share ? watch->share_most : share;
	double longest_ns = (double)cost_ns / share, shortest_ns = (double)cost_ns / most;

	if (longest_ns > PAUSE_GOOD_NS && !watch->searched)
		return PAUSE_GOOD_NS;
	if (longest_ns > PAUSE_GOOD_NS)
		longest_ns = shortest_ns > PAUSE_GOOD_NS ? shortest_ns : PAUSE_GOOD_NS;
	return longest_ns > PAUSE_MIN_NS ? (uint64_t)longest_ns : PAUSE_MIN_NS;
}

static void look_for_births(struct process_watch *watch, struct pid_list *ret_found)
{
	double most = watch->share_most > watch->share ? watch->share_most : watch->share;
	uint64_t began_ns, cost_ns;

	if (watch->births.fd <= 0 || clock_now_ns() < watch->next_births_ns)
		return;
	began_ns = clock_thread_cpu_ns();
	if (process_search_births(&watch->query, &watch->births, ret_found))
		ret_found->count = 0;
	cost_ns = clock_thread_cpu_ns() - began_ns;
	watch->next_births_ns = clock_now_ns() + (uint64_t)((double)cost_ns / most);
}

void process_watch_deinit(struct process_watch *watch)
{
	strangers_deinit(&watch->strangers);
	births_close(&watch->births);
}

void process_watch_look(struct process_watch *watch, struct pid_list *ret_found)
{
	uint64_t began_ns;

	ret_found->count = 0;
	/* Before the first search, so that none is missed. Where that fails, searches find all. */
	if (watch->share > 0 && !watch->births.fd)
		(void)!births_open(&watch->births);
	if (clock_now_ns() < watch->next_ns) {
		look_for_births(watch, ret_found);
		return;
	}
	watch->query.strangers = &watch->strangers;
	began_ns = clock_thread_cpu_ns();
	if (process_search(&watch->query, ret_found, NULL))
		ret_found->count = 0;
	watch->next_ns = clock_now_ns() + pause_after(watch, clock_thread_cpu_ns() - began_ns);
	watch->searched = true;
}

/* SPDX-License-Identifier: Apache-2.0 */
#include "daemon/trace/counter_watch.h"

#include "attach/procfs.h"
#include "common/clock.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

/* Looks are so much rarer than long. */
#define LOOK_COSTS 50
/* That are told from each other: of more there are so many left out. */
#define TIDS_MAX (4 * COUNTER_THREADS_MAX)

struct counter_thread {
	pid_t tid;
	bool seen; /* in this look */
	bool moved[COUNTER_KINDS];
	struct counter_set set;
	uint64_t read_ns;
	uint64_t values[COUNTER_KINDS];
};

void counter_watch_init(struct counter_watch *watch, unsigned kinds)
{
	*watch = (struct counter_watch){ .kinds = kinds };
}

void counter_watch_deinit(struct counter_watch *watch)
{
	for (size_t i = 0; i < watch->thread_count; i++)
		counter_set_close(&watch->threads[i].set);
	free(watch->threads);
	*watch = (struct counter_watch){ 0 };
}

static struct counter_thread *find(struct counter_watch *watch, pid_t tid)
{
	for (size_t i = 0; i < watch->thread_count; i++)
		if (watch->threads[i].tid == tid)
			return &watch->threads[i];
	return NULL;
}

/* False: it is left out. */
static bool add(struct counter_watch *watch, pid_t tid)
{
	struct counter_thread thread = { .tid = tid, .seen = true };
	int error;

	if (!watch->threads)
		watch->threads = calloc(COUNTER_THREADS_MAX, sizeof(watch->threads[0]));
	if (!watch->threads || watch->thread_count == COUNTER_THREADS_MAX)
		return false;
	error = counter_set_open(&thread.set, tid, watch->kinds);
	if (error)
		return error == -ESRCH;
	thread.read_ns = clock_now_ns();
	watch->threads[watch->thread_count++] = thread;
	return true;
}

/* One that stands still is told once: viewers draw on what they were told last. */
static void take(struct counter_thread *thread, const struct counter_taker *taker)
{
	uint64_t values[COUNTER_KINDS], now_ns;
	unsigned known;

	counter_set_read(&thread->set, values, &known);
	now_ns = clock_now_ns();
	for (int i = 0; i < COUNTER_KINDS; i++) {
		uint64_t more = values[i] > thread->values[i] ? values[i] - thread->values[i] : 0;

		if (!(known >> i & 1) || (!more && !thread->moved[i]))
			continue;
		taker->take(taker->context, &(struct trace_event){
						    .begin_ns = thread->read_ns,
						    .end_ns = now_ns,
						    .wait_ns = thread->read_ns,
						    .kind = TRACE_COUNTER,
						    .function = (uint16_t)i,
						    .thread = (uint32_t)thread->tid,
						    .bytes = more,
						    .peer = -1,
						    .tag = -1,
					    });
		thread->values[i] += more;
		thread->moved[i] = more != 0;
	}
	thread->read_ns = now_ns;
}

/* Those that were not seen, with what they did last. */
static void drop_the_gone(struct counter_watch *watch, const struct counter_taker *taker)
{
	size_t kept = 0;

	for (size_t i = 0; i < watch->thread_count; i++) {
		if (watch->threads[i].seen) {
			watch->threads[kept++] = watch->threads[i];
			continue;
		}
		take(&watch->threads[i], taker);
		counter_set_close(&watch->threads[i].set);
	}
	watch->thread_count = kept;
}

static uint64_t pause_of(const struct counter_watch *watch, uint64_t cost_ns)
{
	uint64_t events = watch->thread_count * (uint64_t)__builtin_popcount(watch->kinds);
	uint64_t pause_ns = events * NS_PER_SECOND / COUNTER_EVENTS_SECOND;

	if (pause_ns < COUNTER_LOOK_NS)
		pause_ns = COUNTER_LOOK_NS;
	return pause_ns > LOOK_COSTS * cost_ns ? pause_ns : LOOK_COSTS * cost_ns;
}

void counter_watch_look(struct counter_watch *watch, pid_t pid, uint64_t now_ns,
			const struct counter_taker *taker)
{
	uint64_t cpu_ns = clock_thread_cpu_ns();
	pid_t tids[TIDS_MAX];
	size_t count, left_out = 0;

	if (!watch->kinds || now_ns < watch->next_ns)
		return;
	for (size_t i = 0; i < watch->thread_count; i++) {
		take(&watch->threads[i], taker);
		watch->threads[i].seen = false;
	}
	if (!procfs_read_threads(pid, tids, TIDS_MAX, &count))
		for (size_t i = 0; i < count && i < TIDS_MAX; i++) {
			struct counter_thread *known = find(watch, tids[i]);

			if (known)
				known->seen = true;
			else
				left_out += !add(watch, tids[i]);
		}
	if (left_out > watch->threads_left_out)
		watch->threads_left_out = left_out;
	drop_the_gone(watch, taker);
	watch->next_ns = now_ns + pause_of(watch, clock_thread_cpu_ns() - cpu_ns);
}

void counter_watch_end(struct counter_watch *watch, const struct counter_taker *taker)
{
	for (size_t i = 0; i < watch->thread_count; i++) {
		take(&watch->threads[i], taker);
		counter_set_close(&watch->threads[i].set);
	}
	watch->thread_count = 0;
}

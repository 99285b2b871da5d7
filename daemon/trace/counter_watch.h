/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Counters of the threads of one process, looked at every few milliseconds.
 *
 *   a thread is new    --> its counters are opened (attach/counter_set.h)
 *   at each look       --> an event for each that has moved on: by how much, since when
 *   a thread is gone   --> the rest, and they are closed
 *
 * What a thread does before it is first seen is not counted. With more threads and counters, looks
 * are rarer, so that events stay under a limit a second.
 */
#ifndef PIEPROFD_DAEMON_TRACE_COUNTER_WATCH_H
#define PIEPROFD_DAEMON_TRACE_COUNTER_WATCH_H

#include "attach/counter_set.h"
#include "daemon/trace/trace_event.h"

#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

/* Of a process at a time; how many others there were is said. */
#define COUNTER_THREADS_MAX 256
/* Of a process. */
#define COUNTER_EVENTS_SECOND 10000u
#define COUNTER_LOOK_NS       (10 * 1000000ull)

struct counter_thread;

struct counter_watch {
	unsigned kinds;                 /* a bit for each that is asked for; 0: none is */
	struct counter_thread *threads; /* COUNTER_THREADS_MAX of them, once there are any */
	size_t thread_count;
	uint64_t next_ns;
	size_t threads_left_out; /* at most at a time: too many, or not permitted */
};

/* Whose events they become. */
struct counter_taker {
	void (*take)(void *context, const struct trace_event *event);
	void *context;
};

void counter_watch_init(struct counter_watch *watch, unsigned kinds);
void counter_watch_deinit(struct counter_watch *watch);

/* If it is time. */
void counter_watch_look(struct counter_watch *watch, pid_t pid, uint64_t now_ns,
			const struct counter_taker *taker);
/* The trace ends, or the process has: what is left. */
void counter_watch_end(struct counter_watch *watch, const struct counter_taker *taker);

#endif

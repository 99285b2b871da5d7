/* SPDX-License-Identifier: Apache-2.0 */
#include "attach/fork_counter.h"

#include <errno.h>
#include <linux/perf_event.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

/* PERF_RECORD_FORK of perf_event_open(2). */
struct fork_record {
	struct perf_event_header header;
	uint32_t pid, parent;
	uint32_t tid, parent_tid;
	uint64_t time;
};

/* PERF_RECORD_LOST */
struct lost_record {
	struct perf_event_header header;
	uint64_t id;
	uint64_t lost;
};

int fork_counter_open(struct fork_counter *counter, pid_t tid)
{
	struct perf_event_attr attributes = {
		.size = sizeof(attributes),
		.type = PERF_TYPE_SOFTWARE,
		.config = PERF_COUNT_SW_DUMMY,
		.exclude_kernel = 1,
		.exclude_hv = 1,
		.task = 1,
	};
	long fd = syscall(SYS_perf_event_open, &attributes, tid, -1, -1, PERF_FLAG_FD_CLOEXEC);
	int error;

	*counter = (struct fork_counter){ .fd = fd < 0 ? -1 : (int)fd };
	if (fd < 0)
		return -errno;
	error = event_ring_map(&counter->ring, counter->fd);
	if (error)
		fork_counter_close(counter);
	return error;
}

void fork_counter_close(struct fork_counter *counter)
{
	/* Before the close: a mapping keeps its event alive. */
	event_ring_unmap(&counter->ring);
	if (counter->fd >= 0)
		close(counter->fd);
	counter->fd = -1;
}

/* Threads are told of by the same records. */
static uint64_t forks_in(const struct event_ring_record *raw)
{
	struct fork_record fork;
	struct lost_record lost;

	if (raw->type == PERF_RECORD_FORK && raw->size >= sizeof(fork)) {
		memcpy(&fork, raw->bytes, sizeof(fork));
		return fork.pid != fork.parent;
	}
	if (raw->type == PERF_RECORD_LOST && raw->size >= sizeof(lost)) {
		memcpy(&lost, raw->bytes, sizeof(lost));
		return lost.lost;
	}
	return 0;
}

uint64_t fork_counter_take(struct fork_counter *counter)
{
	struct event_ring_record raw;
	uint64_t count = 0;

	if (counter->fd < 0)
		return 0;
	while (event_ring_next(&counter->ring, &raw))
		count += forks_in(&raw);
	return count;
}

/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Time beside the time classes (cct.h), never added to them: time asleep, by
 * what is waited for, and which part of the CPU time the interpreter spent on
 * itself. The collector is known by its flag, which is read with the frames of the
 * same stop and so costs nothing, and by names of functions.
 *
 * And what is no time, but is kept and passed along with it: fresh memory, the pages that were
 * touched for the first time, by samples of page faults; what was copied, by samples of time; and
 * what was allocated, by probes.
 */
#ifndef PIEPROFD_DAEMON_CCT_SIDE_TIME_H
#define PIEPROFD_DAEMON_CCT_SIDE_TIME_H

#include "daemon/cct/window_fields.h"

#include <stdbool.h>
#include <stdint.h>

enum wait_kind {
	WAIT_LOCK,  /* a mutex, condition, semaphore, or what is made of them: queues, join() */
	WAIT_GIL,   /* the global interpreter lock */
	WAIT_IO,    /* files, sockets, pipes, and readiness of them */
	WAIT_SLEEP, /* a time */
	WAIT_CHILD, /* another process */
	WAIT_OTHER, /* a signal, a page, nothing known */
	WAIT_KIND_COUNT
};

/* "lock", "gil", "io", "sleep", "child", "other" */
const char *wait_kind_name(enum wait_kind kind);

/* Who touched it, as for time in user code. */
enum fresh_owner {
	FRESH_PYTHON, /* the interpreter, for its objects */
	FRESH_NATIVE, /* a library that it called */
	FRESH_OWNER_COUNT
};

struct side_time {
	uint64_t waiting_ns[WAIT_KIND_COUNT];
	uint64_t collecting_ns; /* of the CPU time: the garbage collector */
	uint64_t contending_ns; /* of the CPU time: asking for the GIL */
	uint64_t fresh_bytes[FRESH_OWNER_COUNT];
	uint64_t fresh_samples;
	uint64_t copying_ns; /* of the CPU time: in the C library's copying */
	uint64_t copied_low_bytes, copied_high_bytes; /* in it: from and to */
	/* While probes were at the allocators (allocation_windows.h): made, and of that given back
	 * before they were gone. By samples. */
	uint64_t allocated_bytes, allocated_objects;
	uint64_t released_bytes, released_objects;
	uint64_t allocation_samples;
};

uint64_t side_time_waiting_ns(const struct side_time *side);
uint64_t side_time_fresh_bytes(const struct side_time *side);
/* Is there anything that is no part of the CPU time: waiting, fresh memory, or allocations? */
bool side_time_any(const struct side_time *side);
void side_time_add(struct side_time *to, const struct side_time *more);
/* less was part of it. */
void side_time_subtract(struct side_time *from, const struct side_time *less);
extern const struct window_table window_side_time;

#endif

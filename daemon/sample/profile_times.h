/* SPDX-License-Identifier: Apache-2.0 */
/* Time by thread, and by slice of the run, as sampling gathers it and a profile shows it. */
#ifndef PIEPROFD_DAEMON_SAMPLE_PROFILE_TIMES_H
#define PIEPROFD_DAEMON_SAMPLE_PROFILE_TIMES_H

#include "daemon/cct/side_time.h"
#include "daemon/cct/time_class.h"

#include <stddef.h>
#include <sys/types.h>

struct profile_thread {
	pid_t pid;      /* 0: the profile's only process */
	pid_t tid;      /* 0: all those for which there was no room */
	char name[128]; /* threading's, else the kernel's */
	uint64_t time_ns[TIME_CLASS_COUNT];
	struct side_time side;
	uint64_t unstopped_ns;  /* of its time: read without stops, as it blocked the stop signal */
	uint64_t gil_ns;        /* of its time in user code: while it held the GIL */
	uint64_t gil_asleep_ns; /* of its waiting: while it held the GIL */
};

/* What there is to say of how it was sampled, in words; NULL: nothing. */
const char *profile_thread_mark(const struct profile_thread *thread);

/*
 * CPU time by owner and slice of the run, from its beginning; a cell only where
 * there is any time. By owner, then slice, when the profile is finished.
 */
struct profile_cell {
	uint32_t owner;
	uint32_t slice;
	uint64_t time_ns[TIME_CLASS_COUNT];
};

struct profile_timeline {
	uint64_t slice_ns;
	size_t slice_count; /* up to the last one with time in it */
	const struct profile_cell *cells;
	size_t cell_count;
	uint64_t left_out_ns; /* for which there was no room */
};

/* What one thread did in one node of the tree. */
struct profile_stack {
	uint32_t thread, node;
	uint64_t samples[TIME_CLASS_COUNT];
	uint64_t time_ns[TIME_CLASS_COUNT];
	uint64_t waiting_ns[WAIT_KIND_COUNT];
};

#endif

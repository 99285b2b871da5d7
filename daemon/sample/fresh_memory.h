/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Which lines make a process's resident memory grow: samples of page faults, one in so many,
 * charged to the stack at which the page was touched first. Beside it, what was resident over time.
 *
 *   a fault that is sampled --> how many it stands for x size of its page --> node, thread
 *   now and then            --> /proc/PID/statm                           --> at most 200 points
 *
 * A page that is touched, given back and touched again counts each time: these are bytes that
 * came, and what went away is in no account. Memory that an allocator takes out of what it holds
 * has no faults, so whoever touches a page first is charged, not who keeps it.
 *
 * Of a huge page there is one fault. Its size is asked for when the sample is read: the page may
 * not be there yet, as the kernel is still filling it, and then counts as small until it is. What
 * was given back by then stays small: with huge pages, the sum is a lower bound.
 */
#ifndef PIEPROFD_DAEMON_SAMPLE_FRESH_MEMORY_H
#define PIEPROFD_DAEMON_SAMPLE_FRESH_MEMORY_H

#include "common/address.h"
#include "daemon/cct/side_time.h"
#include "daemon/sample/resident_figures.h"

#include <sys/types.h>

/* Faults whose pages were not there when it was asked how large they are. */
#define FRESH_AWAITED_MAX 256

struct awaited_page {
	remote_addr fault;
	uint64_t faults, charged_ns;
	struct side_time *node, *thread;
	enum fresh_owner owner;
};

struct fresh_memory {
	pid_t pid;    /* 0: not asked for */
	int page_map; /* -1: not open */
	bool kernel_seen;
	struct resident_counts counts;
	uint64_t began_ns;        /* when the run began */
	uint64_t faults_at_start; /* since it began or went on, and */
	uint64_t faults_over;     /* of what was before that */
	/* VmHWM when the run began, and later; 0: not known. */
	uint64_t peak_at_start, peak_now;
	uint64_t counts_read_ns;       /* the latter, and faults */
	uint64_t interval_ns, read_ns; /* between two points; of the last one */
	uint64_t seen_bytes;           /* the most of all readings */
	struct resident_point points[RESIDENT_POINTS_MAX];
	size_t point_count;
	struct awaited_page awaited[FRESH_AWAITED_MAX];
	size_t awaited_count;
};

/* All zeros is a valid one, too, that does nothing. */
void fresh_memory_init(struct fresh_memory *memory, pid_t pid);
void fresh_memory_deinit(struct fresh_memory *memory);

/* Sampling begins, or goes on after a pause; and it ends. */
void fresh_memory_begin(struct fresh_memory *memory, uint64_t now_ns);
void fresh_memory_end(struct fresh_memory *memory, uint64_t now_ns);

/* Often: asks for pages that were not there, and reads what is resident, when it is time to. */
void fresh_memory_look(struct fresh_memory *memory, uint64_t now_ns);

/* A sample of a fault that stands for so many; either of the two may be NULL, and stays where it is
 * until the end of the run. */
void fresh_memory_charge(struct fresh_memory *memory, remote_addr fault, uint64_t faults,
			 enum fresh_owner owner, struct side_time *node, struct side_time *thread);

/* So far. The points are borrowed. */
struct resident_figures fresh_memory_figures(const struct fresh_memory *memory);

#endif

/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * What the program at functions that are not MPI's (span.h) and the daemon say to each other: one
 * record for each call when it has returned, or for what lies between two places in the code; and
 * for each time that a thread was off the processor (switch.h), and each page fault (fault.h).
 */
#ifndef PIEPROFD_ATTACH_BPF_SPAN_RECORD_H
#define PIEPROFD_ATTACH_BPF_SPAN_RECORD_H

#include <linux/types.h>

#define SPANS_MAX 32 /* functions, of all processes together */
/* A span whose begin and end are places of one function: it has no return address. */
#define SPAN_AT_PLACES (1ull << 32) /* of a probe's cookie */

#define SPAN_IS_OPEN (1u << 0) /* has not ended: the daemon's, never the program's */
#define SPAN_IS_OVER (1u << 1) /* the program's: counted alone */

/* Of a span of a thread off the processor (switch.h): the system call in which it waits, or ... */
#define SWITCH_WAITING   (-1) /* waits in none, say for a page */
#define SWITCH_PREEMPTED (-2) /* would run on */
#define SWITCH_READY     (-3) /* was woken, and waits for a processor */
/* Of a span of a page fault (fault.h): */
#define FAULT_MINOR 0 /* the page was in memory, or was made */
#define FAULT_MAJOR 1 /* it was read in */
/* No system call has such a number. */
#define SWITCH_CALLS_MAX 4096
/* Of a process in MPI_WINDOW_NS: switches beyond are counted alone, and so are page faults. */
#define SWITCH_LIMIT 1000

struct span_record {
	__u32 kind; /* MPI_RECORD_SPAN */
	__u16 slot;
	__u16 span;
	__u32 tid;
	__u32 flags;
	__u64 begin_ns;
	__u64 end_ns;
	__u64 path;   /* the Python lines from which it was called; 0: not known */
	__s32 detail; /* of a thread off the processor, or of a page fault */
	__u32 unused;
};

/* A thread that is off the processor. */
struct switched {
	struct span_record record;
	__u64 woken_ns; /* 0: not yet */
};

/* Of one span, whatever process. */
struct span_config {
	__u64 least_ns; /* what is shorter is counted alone */
};

/* Of one span in one process. */
struct span_counts {
	__u64 begun, ended;
	__u64 short_ones, short_ns; /* shorter than the least */
	__u64 over_limit, over_ns;  /* for which there was no record */
	__u64 window_ns;            /* when the window began, of what has a limit of its own */
	__u64 in_window;
};

#endif

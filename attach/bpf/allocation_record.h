/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause OR Apache-2.0 */
/*
 * What allocation.bpf.c, in the kernel, and allocation_probes.c, in the daemon, share: what a
 * probe's function does with memory, as its cookie has it, and what was counted.
 *
 * Records are those of clock_record.h, into the same ring.
 */
#ifndef PIEPROFD_ATTACH_BPF_ALLOCATION_RECORD_H
#define PIEPROFD_ATTACH_BPF_ALLOCATION_RECORD_H

#include "attach/bpf/clock_record.h"

#include <linux/types.h>

enum allocation_operation {
	ALLOCATION_MAKE,    /* size; times count, if there is one; the address is returned */
	ALLOCATION_RESIZE,  /* pointer, size; likewise */
	ALLOCATION_ALIGN,   /* pointer to where the address will be, size */
	ALLOCATION_RELEASE, /* pointer */
};

/* Where arguments are: 0 to 4, rdi, rsi, rdx, rcx, rax; for count, ALLOCATION_NONE. */
#define ALLOCATION_NONE 15u

/*
 * most: larger ones are another function's, which is probed as well; 0: none are. header: in front
 * of a block stands a chunk's size as glibc keeps it.
 */
#define ALLOCATION_COOKIE(operation, pointer, size, count, header, most)                           \
	((__u64)(operation) | (__u64)(pointer) << 4 | (__u64)(size) << 8 | (__u64)(count) << 12 |  \
	 (__u64)(header) << 16 | (__u64)(most) << 32)
#define ALLOCATION_OPERATION(cookie) ((__u32)(cookie)&15u)
#define ALLOCATION_POINTER(cookie)   ((__u32)((cookie) >> 4) & 15u)
#define ALLOCATION_SIZE(cookie)      ((__u32)((cookie) >> 8) & 15u)
#define ALLOCATION_COUNT(cookie)     ((__u32)((cookie) >> 12) & 15u)
#define ALLOCATION_HEADER(cookie)    ((__u32)((cookie) >> 16) & 1u)
#define ALLOCATION_MOST(cookie)      ((cookie) >> 32)
/* The probe is where the function returns. */
#define ALLOCATION_AT_RETURN (1ull << 17)
/* The instruction is one that the kernel does not emulate. */
#define ALLOCATION_STEPPED (1ull << 18)

/* A byte's chance to be sampled is scale in so many. */
#define ALLOCATION_SCALE_BITS 32

/* Sampled and not given back: by address. */
#define ALLOCATION_BLOCKS_MAX 16384
struct allocation_block {
	__u32 number; /* of the sample */
	__u32 window;
};

/* Counted of all calls while recording, but for idle_hits, whether sampled or not; they only grow.
 */
struct allocation_counts {
	__u64 hits; /* of probes, and of those, at instructions that are stepped over */
	__u64 stepped;
	__u64 idle_hits; /* while it did not record: probes come and go one by one */
	__u64 objects;   /* made */
	__u64 bytes;     /* of these, and by which others grew */
	__u64 samples;
	__u64 missed; /* should have been samples: there was no room, or there were too many */
	__u64 missed_bytes;
	__u64 cost_ns; /* of the program, for samples */
};

/* The daemon writes the first part. */
struct allocation_target {
	struct clock_config config;
	__u32 recording;
	__u32 stack_pages;
	__u32 namespace_inode; /* the daemon's, of processes */
	__u32 at_entry_alone;  /* the kernel asks at each entry whether the return matters */
	__u32 window;          /* a number for it */
	__u32 samples_most;    /* in it */
	__u64 interval_bytes;  /* a sample stands for so many, */
	__u64 scale;           /* so that is a byte's chance to be sampled; */
	__u64 object_bytes;    /* each object counts as if it had so many more: small ones are seen,
				  too */
	__u64 samples;         /* in this window */
	struct allocation_counts counts;
};

#endif

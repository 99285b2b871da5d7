/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A sample that the program in the kernel has taken of a running thread (bpf/clock.bpf.c): its
 * registers, and copies of pieces of its memory, all of one moment. Pure.
 */
#ifndef PIEPROFD_ATTACH_CLOCK_SAMPLE_H
#define PIEPROFD_ATTACH_CLOCK_SAMPLE_H

#include "attach/bpf/clock_record.h"
#include "common/memory.h"
#include "common/registers.h"
#include "common/stack_snapshot.h"

#include <sys/types.h>

#define CLOCK_SAMPLE_PIECES_MAX 640

/* Bytes that clock_sample_stack() needs at most. */
#define CLOCK_SAMPLE_STACK_BYTES ((CLOCK_STACK_PAGES_MAX + 1) * CLOCK_PAGE_BYTES)

struct memory_piece {
	remote_addr address;
	size_t size;
	const uint8_t *bytes; /* borrowed from the record */
};

struct clock_sample {
	uint64_t time_ns;       /* CLOCK_MONOTONIC */
	uint64_t stands_for_ns; /* wall time of its processor since that was looked at before */
	uint64_t started_ns;    /* when the thread began: tells those of one tid apart */
	uint64_t cost_ns;       /* what the copying took */
	remote_addr state;      /* its PyThreadState; 0: none was found */
	pid_t tid, inner_tid;   /* in our namespace of processes, and in its own */
	unsigned cpu;
	bool in_kernel;    /* registers and stack are those with which it entered it */
	bool cut_short;    /* some memory was left out for lack of room */
	remote_addr fault; /* of a page fault: what was touched */
	uint64_t faults;   /* likewise: so many it stands for; 0: it is a sample of the clock */
	/* Of an allocation: its number; 0: it is none. */
	uint32_t allocation;
	bool released;                              /* it was given back: nothing else is told */
	uint64_t allocated_bytes, allocation_bytes; /* its own, and for how many it stands */
	char comm[CLOCK_COMM_BYTES];
	struct registers registers;
	long system_call; /* that is being served; -1: none, or it is not known which */
	/* Of the kernel's stack, if it was copied: clock_sample_kernel_address(). Borrowed. */
	const uint8_t *kernel;
	size_t kernel_count; /* at most CLOCK_KERNEL_MAX */
	/* Pieces of the stack come last, by ascending addresses. */
	struct memory_piece pieces[CLOCK_SAMPLE_PIECES_MAX];
	size_t piece_count;
	size_t stack_pieces;
};

/* Of a record of size bytes. -EBADMSG: it is none; what is behind a piece that does not fit is
 * left out. */
__attribute__((warn_unused_result)) int clock_sample_parse(const void *record, size_t size,
							   struct clock_sample *ret_sample);

/*
 * Where the kernel was, innermost first, each behind a call but for the first one; index below
 * kernel_count. For kernel_functions.h alone: no such address is to leave the daemon.
 */
uint64_t clock_sample_kernel_address(const struct clock_sample *sample, size_t index);

/* Its stack in one piece, copied into bytes, CLOCK_SAMPLE_STACK_BYTES of them; borrows them. */
struct stack_snapshot clock_sample_stack(const struct clock_sample *sample, uint8_t *bytes);

/*
 * A reader of memory in which what a sample has copied hides what the process has there by
 * now: from the thread that looks at the sample, and from no other, which may read the process at
 * the same time. Valid as long as copied is. Without a sample it is the process's own.
 */
struct copied_memory {
	struct memory_reader process;
	uint64_t ranges_copied; /* wholly served from a sample */
	uint64_t ranges_read;   /* for which the process was asked beside a sample */
};

/*
 * To this thread, until it says otherwise; borrowed. NULL: no more. One at a time a thread. What
 * lies further up on the sample's stack than was copied is not to be had meanwhile: it is another
 * moment's.
 */
void copied_memory_show(const struct copied_memory *copied, const struct clock_sample *sample);

struct memory_reader copied_memory_reader(struct copied_memory *copied);

#endif

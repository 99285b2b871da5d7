/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause OR Apache-2.0 */
/*
 * What clock.bpf.c, in the kernel, and kernel_clocks.c, in the daemon, share: what is to
 * be copied of a sampled thread, and what a sample looks like.
 *
 *   struct clock_record | piece | piece | ...       a piece: where it lay, how long it is, bytes
 *
 * Pieces are in the order in which they were copied, each padded to 8 bytes: the kernel's stack,
 * of a thread that is in it; the thread state, words, the data stack, frames; then the stack,
 * from below the stack pointer upwards.
 */
#ifndef PIEPROFD_ATTACH_BPF_CLOCK_RECORD_H
#define PIEPROFD_ATTACH_BPF_CLOCK_RECORD_H

#include <linux/types.h>

#define CLOCK_WORDS_MAX       4
#define CLOCK_COMM_BYTES      16
#define CLOCK_PAGE_BYTES      4096u
#define CLOCK_STACK_PAGES_MAX 32u
#define CLOCK_CHUNK_PAGES_MAX 4u
#define CLOCK_STATE_BYTES_MAX 1024u
#define CLOCK_FRAME_BYTES_MAX 256u
#define CLOCK_FRAMES_MAX      512u
#define CLOCK_RED_ZONE_BYTES  128u
#define CLOCK_SYSTEM_CALL_MAX 1023 /* more than there are */
#define CLOCK_KERNEL_MAX      64u  /* of the kernel's own stack, innermost first */

/* All pieces of one record, headers included, and room for one more. */
#define CLOCK_PIECES_BYTES (256u << 10)

struct clock_piece {
	__u64 address;
	__u32 bytes;
	__u32 kind; /* enum clock_piece_kind */
};

enum clock_piece_kind {
	CLOCK_PIECE_STACK,
	CLOCK_PIECE_STATE,
	CLOCK_PIECE_DATA,   /* all else that is read by its address */
	CLOCK_PIECE_KERNEL, /* no memory: addresses of the kernel's code, address is 0 */
};

enum clock_flag {
	CLOCK_IN_KERNEL = 1 << 0, /* the registers are those with which it entered the kernel */
	CLOCK_CUT_SHORT = 1 << 1, /* there was no room for all pieces */
	CLOCK_FAULT = 1 << 2,     /* of a page fault, not of the clock: fault and faults are set */
	/* Of an allocation (allocation_record.h): since_ns is its number, fault its bytes, faults
	 * for how many bytes it stands; and that it was given back: no pieces, the number alone. */
	CLOCK_ALLOCATION = 1 << 3,
	CLOCK_RELEASE = 1 << 4,
};

/* Registers in the order of enum register_id (common/registers.h), then rip. */
#define CLOCK_REGISTERS   17
#define CLOCK_REGISTER_SP 4
#define CLOCK_REGISTER_IP 16

struct clock_record {
	__u64 time_ns;    /* CLOCK_MONOTONIC */
	__u64 since_ns;   /* since this processor's clock fired before */
	__u64 started_ns; /* when the thread began, by a clock of the kernel's: tells tids apart */
	__u64 state;      /* its PyThreadState; 0: it has none, or none was found */
	__u64 cost_ns;    /* of the program, until it handed the record over */
	__u64 fault;      /* the address that was touched */
	__u64 faults;     /* for which it stands */
	__u32 tid;        /* in the daemon's namespace of processes */
	__u32 inner_tid;  /* in the thread's own */
	__u32 cpu;
	__u32 flags;       /* enum clock_flag */
	__s64 system_call; /* that is being served; -1: none, or it is not known which */
	__u64 registers[CLOCK_REGISTERS];
	char comm[CLOCK_COMM_BYTES];
};

/* Where an interpreter keeps what, absent offsets as CLOCK_ABSENT. Constant from the beginning. */
#define CLOCK_ABSENT 0xffffffffu

struct clock_config {
	__u32 has_python;
	__u32 state_bytes, frame_bytes, cframe_bytes;
	__u64 interpreters; /* address of the pointer to the first one */
	__u32 interpreter_next, interpreter_threads;
	__u32 thread_next, thread_pthread, thread_native_id;
	__u32 thread_frame;  /* or, to find it: */
	__u32 thread_cframe; /* 3.11, 3.12 */
	__u32 cframe_current, cframe_previous;
	__u32 thread_chunk, thread_chunk_top;
	__u32 frame_previous, frame_code, frame_instruction;
	__u32 word_count;
	struct {
		__u64 address;
		__u64 bytes;
	} words[CLOCK_WORDS_MAX];
};

/* Page faults of a processor from one call of the program to the next; those it samples are a
 * multiple. */
#define CLOCK_FAULT_PERIOD 4u
#define CLOCK_FAULTS_MAX   65536u

/* Processes that are sampled at a time. */
#define CLOCK_TARGETS_MAX 64u

/* Constant once the program is loaded. */
struct clock_machine {
	__u32 namespace_inode; /* the daemon's, of processes */
	__u32 processors;      /* possible ones */
};

/* All of a clock's ticks, see share. */
#define CLOCK_SHARE_ALL 0xffffffffu

/* Of a function's name as the kernel prints it: "name+0x1a/0x90 [module]". */
#define CLOCK_SYMBOL_BYTES 640u

/* One process: what the daemon writes, some of it at any time; and counters, which the program
 * does. */
struct clock_target {
	struct clock_config config;
	__u32 enabled;
	__u32 share; /* of CLOCK_SHARE_ALL: at random, so many of the ticks that meet it */
	__u32 stack_pages;
	__u32 kernel_frames;     /* whether the kernel's stack is copied, too */
	__u32 wants_faults;      /* whether page faults are sampled */
	__u32 fault_interval_us; /* at least that on a processor between two samples of faults */
	__u64 dropped;           /* samples for which the ring had no room */
	__u64 faults_dropped;    /* for which these would have stood */
	__u64 asked;             /* to on_symbol: an address of the kernel's code */
	char symbol[CLOCK_SYMBOL_BYTES]; /* its answer */
};

#endif

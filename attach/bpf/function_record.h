/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * What the program in the interpreter's own code (function.h) and the daemon say to each other.
 *
 *   a code object that was not seen before: a record of it, so that the daemon may say whether its
 *   calls are wanted; until it has, they are recorded
 *   a call: a record when it has been left, be it by a return, a yield or an exception
 */
#ifndef PIEPROFD_ATTACH_BPF_FUNCTION_RECORD_H
#define PIEPROFD_ATTACH_BPF_FUNCTION_RECORD_H

#include <linux/types.h>

#define FUNCTION_CODES_MAX   65536 /* code objects, of all processes together */
#define FUNCTION_THREADS_MAX 512   /* that run Python, likewise */
/* Pointers to its file's name, its two names and its line table, one behind the other. */
#define FUNCTION_NAME_WORDS 4
/* Calls in each other, of those that are wanted. */
#define FUNCTION_DEPTH_MAX 128

/* Of a probe's cookie, above the slot and the span (mpi_record.h). */
#define FUNCTION_COOKIE_KIND(cookie)     ((__u32)((cookie) >> 40) & 0xf)
#define FUNCTION_COOKIE_REGISTER(cookie) ((__u32)((cookie) >> 44) & 0xf)
#define FUNCTION_COOKIE(kind, number)    ((__u64)(kind) << 40 | (__u64)(number) << 44)
#define FUNCTION_COOKIE_STEPPED          (1ull << 48)
/* Above it, how far the stack pointer is from where it was at the entry, in words. */
#define FUNCTION_COOKIE_ABOVE(cookie)    (((cookie) >> 49) * 8)
#define FUNCTION_COOKIE_FROM_ABOVE(size) ((__u64)(size) / 8 << 49)
#define FUNCTION_ABOVE_MAX               (((1u << 15) - 1) * 8) /* that it has room for */

enum function_probe_kind {
	FUNCTION_PROBE_ENTER, /* RESUME: a call begins, or goes on */
	FUNCTION_PROBE_LEAVE, /* RETURN_VALUE, YIELD_VALUE */
	FUNCTION_PROBE_RAISE, /* an exception may leave this frame */
	/* Likewise; the frame is that of the PyFrameObject in the first argument. */
	FUNCTION_PROBE_TRACEBACK,
	/* ENTER_EXECUTOR: what the interpreter has compiled itself goes on, past all handlers. */
	FUNCTION_PROBE_COMPILED,
	/* Of an evaluation loop that runs one call: it is entered, and the register has the frame;
	 * it is left, and the register has what it returns. */
	FUNCTION_PROBE_CALL,
	FUNCTION_PROBE_RETURN,
};

enum function_verdict {
	FUNCTION_UNDECIDED,
	FUNCTION_WANTED,
	FUNCTION_UNWANTED,
};

/* One trap in so many is timed; longer ones were interrupted. */
#define FUNCTION_TIMED_EACH   16
#define FUNCTION_TIMED_MAX_NS 20000

#define FUNCTION_IS_OPEN (1u << 0) /* has not ended: the daemon's, never the program's */
#define FUNCTION_RAISED  (1u << 1) /* left by an exception */
#define FUNCTION_LOST    (1u << 2) /* was not seen to end: it had by then */
#define FUNCTION_BEFORE  (1u << 3) /* began before it was recorded: seen since then */

struct function_record {
	__u32 kind; /* MPI_RECORD_FUNCTION */
	__u16 slot;
	__u16 span;
	__u32 tid;
	__u32 flags;
	__u64 begin_ns;
	__u64 end_ns;
	__u64 code;     /* address of its code object */
	__u64 identity; /* made of its names: another one may lie there later */
	__u32 depth;    /* wanted calls in which it lies */
	__u32 unused;
};

/* A code object that was not seen before. */
struct function_code_record {
	__u32 kind; /* MPI_RECORD_CODE */
	__u16 slot;
	__u16 span;
	__u64 code;
	__u64 identity;
};

struct function_code_key {
	__u64 code;
	__u64 slot;
};

struct function_code {
	__u64 identity;
	__u32 verdict; /* enum function_verdict */
	__u32 unused;
};

/* FRAME_OWNED_BY_GENERATOR, ever since there are such frames. */
#define FUNCTION_OWNER_GENERATOR 1

/* Of one process. */
struct function_config {
	__u32 epoch;      /* calls of an earlier one are forgotten; 0: nothing is recorded */
	__u32 frame_code; /* offsets */
	__u32 frame_previous;
	__u32 frame_owner;  /* a byte */
	__u32 thread_frame; /* to 3.10: of the innermost frame in a PyThreadState */
	__u32 code_names;   /* of name_words pointers in a code object */
	__u32 name_words;   /* FUNCTION_NAME_WORDS at most */
	__u32 object_frame; /* of its frame in a PyFrameObject */
	__u32 depth_max;    /* deeper ones are counted alone */
	__u64 least_ns;     /* likewise shorter ones */
	__u64 begin_ns;     /* recorded since then */
	/* Of the pointer to the PyThreadState that runs; 0: it is not needed, or not known. */
	__u64 current_thread;
	__u32 met_frames; /* frames of a thread that is met are put on its stack */
	__u32 unused;
};

struct function_counts {
	__u64 traps;        /* how often a probe was hit */
	__u64 stepped;      /* of them: where the kernel single-steps the instruction */
	__u64 begun, ended; /* of those wanted, or not decided yet */
	__u64 passed_over;  /* of those unwanted */
	__u64 short_ones, short_ns;
	__u64 too_deep; /* for the depth that was asked for */
	__u64 no_room;  /* in each other deeper than FUNCTION_DEPTH_MAX, or too many threads */
	__u64 over_limit, over_ns; /* for which the ring had no room */
	__u64 unreadable;          /* frames */
	__u64 codes_left_out;
	__u64 compiled; /* how often code that the interpreter has compiled was entered */
	/* What the program itself took, of some traps: not the trap around it. */
	__u64 timed, timed_ns;
};

/* Higher than all of them. */
#define FUNCTION_SP_UNKNOWN (~0ull)

/* A call that has not been left. */
struct function_call {
	__u64 frame;
	__u64 code;
	__u64 identity;
	__u64 begin_ns;
	__u64 raised_ns; /* when an exception may have left it; 0: none did */
	__u64 sp;        /* of the evaluation loop that runs it; FUNCTION_SP_UNKNOWN */
	__u64 flags;     /* FUNCTION_BEFORE */
	__u32 depth;
	__u32 verdict; /* of enum function_verdict, as it was known */
};

/* Of one thread, the innermost call last. */
struct function_stack {
	__u32 count;
	__u32 wanted; /* of them: counted in a depth */
	__u32 epoch;
	__u32 undecided; /* of them: their verdict was not known */
	__u32 tid;
	__u16 slot, span;
	__u64 met_sp; /* of the call that it was met by: those that had begun are above */
	struct function_call calls[FUNCTION_DEPTH_MAX];
};

#endif

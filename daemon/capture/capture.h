/* SPDX-License-Identifier: Apache-2.0 */
/*
 * One stopped thread, copied: what is taken while it waits (capture_take,
 * capture_unwind_call), and what is made of it once it runs again
 * (capture_finish). One capture serves all events of a stop; its storage is
 * used over and over.
 */
#ifndef PIEPROFD_DAEMON_CAPTURE_CAPTURE_H
#define PIEPROFD_DAEMON_CAPTURE_CAPTURE_H

#include "common/registers.h"
#include "daemon/capture/loss.h"
#include "daemon/capture/target.h"
#include "daemon/cct/frame.h"
#include "pyintrospect/python_stack.h"

#define CAPTURE_NATIVE_MAX 512
#define CAPTURE_FRAMES_MAX (CAPTURE_NATIVE_MAX + PYTHON_STACK_FRAMES_MAX)

/* Where a thread's outermost frame lies: no stack need be copied beyond. */
struct stack_top {
	pid_t tid; /* 0: none */
	remote_addr address;
};

#define CAPTURE_TOPS 64 /* a table by tid: of threads that share a place the last one has it */

struct capture {
	pid_t tid;
	struct registers registers;
	uint8_t *stack_bytes;
	size_t stack_capacity;
	size_t stack_wanted; /* grows when stacks turn out to be deeper, see capture.c */
	struct stack_top tops[CAPTURE_TOPS];
	struct stack_snapshot stack;
	int python_error; /* of python_stack_read */
	struct python_stack python;
	struct native_frame native[CAPTURE_NATIVE_MAX]; /* innermost first */
	size_t native_count;
	enum unwind_end native_end;
	struct frame frames[CAPTURE_FRAMES_MAX]; /* hybrid, outermost first */
	size_t frame_count;
	uint32_t stitch_flags;
};

__attribute__((warn_unused_result)) int capture_init(struct capture *capture);
void capture_deinit(struct capture *capture);

/* In the stop: registers, the top of the stack, the Python frames. Three to eight system calls. */
void capture_take(struct capture *capture, struct target *target, pid_t tid, pid_t inner_tid,
		  const struct registers *registers);

/*
 * Of a thread that was sampled in the kernel: what was copied of it there. The sample need not
 * outlive the call.
 */
void capture_load(struct capture *capture, struct target *target,
		  const struct clock_sample *sample);
/* After capture_finish(): the target's memory is as it is now again. */
void capture_unload(struct target *target);

/*
 * Of a thread that was not stopped: its frames as far as they stood still. Of its
 * registers the instruction and stack pointers are known where it sleeps.
 */
void capture_look(struct capture *capture, struct target *target, pid_t tid, pid_t inner_tid,
		  const struct registers *registers);

/*
 * Of a thread that sleeps, after one of these: /proc does not tell rbp, which the
 * frames of code that keeps frame pointers are found by. Looks for it on the
 * stack, at so many places at most; without it native frames may be missing.
 */
void capture_find_frame_pointer(struct capture *capture, struct target *target, unsigned attempts);

/*
 * In the stop: the native frames from the innermost to the innermost
 * evaluation loop, which is the last of native[]. 0, or -ENOENT when the walk
 * does not get there (or the thread runs no Python).
 */
__attribute__((warn_unused_result)) int capture_unwind_call(struct capture *capture,
							    struct target *target);

/* Afterwards: the whole native stack and the hybrid one; counts what went wrong. */
void capture_finish(struct capture *capture, struct target *target, struct losses *losses);

/*
 * Who executes: the interpreter on behalf of its line, or library code called
 * from there? After capture_unwind_call or capture_finish. True: some frame
 * between the innermost evaluation loop and the leaf is a native library's.
 */
bool capture_in_library(const struct capture *capture, const struct target *target);

#endif

/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Unwinding a stopped thread in place with libunwind-ptrace: the last fallback,
 * for the stacks on which the unwinder over copies (unwinder.h) does not reach
 * the evaluation loop.
 *
 * Must be called on the tracer's thread while the thread unwound is in a
 * ptrace stop. It takes 0.4 to 10 ms, because it reads the target with one
 * PTRACE_PEEKDATA a word, and the thread waits meanwhile: callers ration it.
 *
 * Unlike the others it makes do with frame pointers where there is no unwind
 * information, but believes them only if they lead to the function asked for
 * or to the thread's start. libunwind maps the modules' files anew by itself,
 * and is let near those only whose image has been checked (module.h).
 */
#ifndef PIEPROFD_SYMBOLIZE_UNWINDER_LIVE_H
#define PIEPROFD_SYMBOLIZE_UNWINDER_LIVE_H

#include "symbolize/unwinder.h"

#include <sys/types.h>

struct unwinder_live;

/* modules is borrowed for the unwinder's life. NULL: out of memory. */
struct unwinder_live *unwinder_live_create(const struct module_table *modules);
void unwinder_live_destroy(struct unwinder_live *unwinder);

/*
 * Forgets cached rules: call after module_table_update changed something,
 * never while a thread is stopped.
 */
void unwinder_live_flush(struct unwinder_live *unwinder);

/*
 * As unwinder_unwind(), with the registers and the stack of tid. Frames past
 * one without unwind information have NATIVE_FRAME_GUESSED, and are left out
 * when nothing confirms them. UNWIND_STACK_MISSING also means that tid is not
 * stopped, or gone; UNWIND_CORRUPT also that it took too many reads.
 */
enum unwind_end unwinder_live_unwind(struct unwinder_live *unwinder, pid_t tid,
				     const struct address_ranges *until,
				     struct native_frame *frames, size_t maximum,
				     size_t *ret_count);

#endif

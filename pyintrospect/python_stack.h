/* SPDX-License-Identifier: Apache-2.0 */
/* Reading one thread's Python frames, as they are when it is stopped, or while it runs. */
#ifndef PIEPROFD_PYINTROSPECT_PYTHON_STACK_H
#define PIEPROFD_PYINTROSPECT_PYTHON_STACK_H

#include "common/stack_snapshot.h"
#include "pyintrospect/python_frame.h"

#include <sys/types.h>

struct python_runtime;
struct thread_state;

/*
 * Reads the frames of the thread with this kernel tid (as its own pid
 * namespace numbers it), which is stopped or asleep. stack serves reads of the
 * C stack without a system call; it may be NULL. Returns 0, -ESRCH (no
 * PyThreadState has this tid), -EFAULT or -ENOMEM.
 *
 * Code objects seen for the first time are read and interned here.
 */
int python_stack_read(struct python_runtime *runtime, pid_t tid, const struct stack_snapshot *stack,
		      struct python_stack *ret_stack);

/*
 * The same for a known thread; -ESTALE when it is no longer the one. For this
 * folder: the layout is checked by it.
 */
int python_stack_read_thread(struct python_runtime *runtime, struct thread_state *thread,
			     const struct stack_snapshot *stack, struct python_stack *ret_stack);

/*
 * Of a thread whose PyThreadState, at address, and frames the runtime's reader has copies of, made
 * at one moment together with the stack; the thread itself may be gone. tid: by which it may be
 * known from before, 0: not. 0, -EFAULT, or what the reader said.
 */
int python_stack_read_copied(struct python_runtime *runtime, pid_t tid, remote_addr address,
			     const struct stack_snapshot *stack, struct python_stack *ret_stack);

/*
 * As python_stack_read() for a thread that was not stopped. Frames are read again
 * until readings agree, a bounded number of times, else there are none and
 * PYTHON_STACK_TORN says so. A thread without the GIL (asleep, waiting) costs
 * two readings. One that has it and stays in one native call is read, too, from
 * 3.11; to 3.10 the frames of a thread that holds the GIL cannot be told from
 * the remains of earlier ones, so it has to be stopped.
 */
int python_stack_read_running(struct python_runtime *runtime, pid_t tid,
			      struct python_stack *ret_stack);

/*
 * The same for samples of a thread that runs: what would be given up above is
 * cut down to the frames that readings in a row agree on, counted from the
 * outermost, and PYTHON_STACK_MOVED says so. To wait for a thread to hold still
 * would find it in long calls alone. A thread that runs Python costs two
 * readings mostly (five to 3.10), one in a native call five. What agrees by
 * chance is rare, not impossible: a caller may be shown one line off.
 */
int python_stack_read_passing(struct python_runtime *runtime, pid_t tid,
			      struct python_stack *ret_stack);

/*
 * The frames of a greenlet that is suspended, from its innermost one on: a frame
 * object to 3.10, then the frame proper. Nobody is running them; where somebody
 * begins to meanwhile, PYTHON_STACK_INVALID may say so. No groups, no GIL. 0,
 * -EFAULT or -ENOMEM.
 */
int python_stack_read_suspended(struct python_runtime *runtime, remote_addr frame,
				struct python_stack *ret_stack);

#endif

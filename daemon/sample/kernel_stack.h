/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The kernel's frames of a sample that met its thread in the kernel, innermost of all. What every
 * system call and fault passes first is left out, as it tells nothing:
 *
 *   entry_SYSCALL_64_after_hwframe  do_syscall_64 | __x64_sys_getrandom  ...  chacha_block_generic
 *                                    left out     | frames of [kernel]
 */
#ifndef PIEPROFD_DAEMON_SAMPLE_KERNEL_STACK_H
#define PIEPROFD_DAEMON_SAMPLE_KERNEL_STACK_H

#include "attach/clock_sample.h"
#include "attach/kernel_functions.h"
#include "daemon/capture/loss.h"
#include "daemon/cct/frame.h"

/*
 * Appends them to frames[count], outermost first, at most up to maximum; returns the new count.
 * Names are those of functions. Without any name of a function it is the system call's number, if
 * that is known, and the sample is counted.
 */
size_t kernel_stack_append(struct kernel_functions *functions, const struct kernel_symbols *symbols,
			   const struct clock_sample *sample, struct losses *losses,
			   struct frame *frames, size_t count, size_t maximum);

#endif

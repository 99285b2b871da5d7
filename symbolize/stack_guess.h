/* SPDX-License-Identifier: Apache-2.0 */
/* Past code without unwind information: the caller's frame is guessed, and proved by a walk. */
#ifndef PIEPROFD_SYMBOLIZE_STACK_GUESS_H
#define PIEPROFD_SYMBOLIZE_STACK_GUESS_H

#include "symbolize/stack_walk.h"

/*
 * The last frame found, at which the walk is stuck, has no unwind information.
 * Goes on from the first word above its stack pointer that looks like a return
 * address and from which a walk reaches the thread's start, if there is one.
 */
void stack_guess(struct stack_walker *walker, const struct stack_walk *stuck,
		 const struct address_ranges *until, struct native_frame *frames, size_t maximum,
		 size_t *count, enum unwind_end *ret_end);

#endif

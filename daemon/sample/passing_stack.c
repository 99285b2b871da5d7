/* SPDX-License-Identifier: Apache-2.0 */
#include "daemon/sample/passing_stack.h"

#include <errno.h>

static void count_losses(const struct python_stack *stack, int error, struct losses *losses)
{
	uint64_t *counts = losses->counts;

	if (error == -ESRCH)
		counts[LOSS_NO_PYTHON_THREAD]++;
	else if (error)
		counts[LOSS_PYTHON_UNREADABLE]++;
	counts[LOSS_PYTHON_TORN] += (stack->flags & PYTHON_STACK_TORN) != 0;
	counts[LOSS_PYTHON_MOVED] += (stack->flags & PYTHON_STACK_MOVED) != 0;
	counts[LOSS_PYTHON_TRUNCATED] += (stack->flags & PYTHON_STACK_TRUNCATED) != 0;
}

static void forget_frames(struct python_stack *stack)
{
	stack->count = 0;
	stack->flags = 0;
	stack->gil = GIL_UNKNOWN;
	stack->collecting = false;
}

void passing_stack_read(const struct target *target, pid_t inner_tid, struct python_stack *stack,
			struct losses *losses)
{
	int error;

	forget_frames(stack);
	if (!target->runtime)
		return;
	error = python_stack_read_passing(target->runtime, inner_tid, stack);
	if (error)
		forget_frames(stack);
	count_losses(stack, error, losses);
}

struct cct_node *passing_stack_insert(const struct python_stack *stack, struct cct *cct,
				      struct frame *frames, struct losses *losses)
{
	struct cct_node *node;

	for (size_t i = 0; i < stack->count; i++) {
		const struct python_frame *frame = &stack->frames[stack->count - 1 - i];

		frames[i] = (struct frame){
			.kind = FRAME_PYTHON,
			.python = { .code = frame->code,
				    .instruction_offset = frame->instruction_offset },
		};
	}
	node = cct_insert(cct, frames, stack->count);
	if (!node)
		losses->counts[LOSS_TREE_FULL]++;
	return node ? node : cct_root(cct);
}

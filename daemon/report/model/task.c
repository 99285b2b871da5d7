/* SPDX-License-Identifier: Apache-2.0 */
#include "daemon/report/model/task.h"

static bool is_root(const struct profile_tree *tree, const struct profile_node *node)
{
	return node->parent == PROFILE_NODE_NONE ||
	       tree->frames[tree->nodes[node->parent].frame].kind == FRAME_PROCESS;
}

const char *task_of_node(const struct profile_tree *tree, const struct profile_node *node)
{
	const struct profile_frame *outermost = NULL;

	for (;; node = &tree->nodes[node->parent]) {
		const struct profile_frame *frame = &tree->frames[node->frame];

		if (frame->kind == FRAME_PYTHON && frame->flags & FRAME_COROUTINE)
			outermost = frame;
		if (!is_root(tree, node))
			continue;
		/* What runs a coroutine is on its stack: where it is missing, others may be, too.
		 */
		if (node->flags & FRAME_TRUNCATED_ABOVE || outermost == frame)
			outermost = NULL;
		return outermost ? outermost->function : NULL;
	}
}

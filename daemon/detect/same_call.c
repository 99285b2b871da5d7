/* SPDX-License-Identifier: Apache-2.0 */
#include "daemon/detect/same_call.h"

#include "daemon/cct/library_path.h"

static const struct cct_node *python_node(const struct cct_node *node)
{
	/* The root has no parent, and no frame. */
	while (node && node->parent && node->frame.kind != FRAME_PYTHON)
		node = node->parent;
	return node && node->parent ? node : NULL;
}

static bool same_python_place(const struct cct_node *node, const struct python_frame *now)
{
	return node->frame.python.code == now->code &&
	       node->frame.python.instruction_offset == now->instruction_offset;
}

bool same_call_python(const struct cct_node *first, const struct capture *capture)
{
	const struct cct_node *node = python_node(first);

	return node && capture->python.count && same_python_place(node, &capture->python.frames[0]);
}

bool same_call_user(const struct cct_node *first, const struct capture *capture)
{
	const struct cct_node *node = python_node(first);
	size_t now = 0;

	for (unsigned i = 0; i < WRAPPERS_MAX && node; i++) {
		if (!path_is_library(node->frame.python.code->file))
			break;
		node = python_node(node->parent);
	}
	while (now < WRAPPERS_MAX && now < capture->python.count &&
	       path_is_library(capture->python.frames[now].code->file))
		now++;
	return node && now < capture->python.count &&
	       same_python_place(node, &capture->python.frames[now]);
}

/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The profile's tree (profile.h) from the calling context tree: paths instead
 * of nodes, named, sorted, within limits.
 */
#ifndef PIEPROFD_DAEMON_REPORT_MODEL_CALL_TREE_H
#define PIEPROFD_DAEMON_REPORT_MODEL_CALL_TREE_H

#include "daemon/report/model/arena.h"
#include "daemon/report/model/path.h"
#include "daemon/report/model/profile.h"
#include "daemon/report/model/source.h"

struct call_tree_input {
	const struct cct *cct;
	struct path_table *paths; /* made for cct; gains the paths of all samples */
	struct source_cache *sources;
	struct line_info *line_info; /* NULL: no source lines of native functions */
	size_t nodes_max;
	uint64_t stack_frames_max;
	/* Filled in for each node of cct with samples: its node in the tree, or the one that it
	 * was folded into. NULL: not asked for. */
	uint32_t *positions;
};

/* The tree lies in the arena, its strings where names come from. 0 or -ENOMEM. */
__attribute__((warn_unused_result)) int call_tree_build(const struct call_tree_input *input,
							struct arena *arena,
							struct profile_tree *ret_tree);

#endif

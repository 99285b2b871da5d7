/* SPDX-License-Identifier: Apache-2.0 */
/* What the files of profile_merge gather, and profile_merge_build.c makes a profile of. */
#ifndef PIEPROFD_DAEMON_REPORT_MERGE_PROFILE_MERGE_PARTS_H
#define PIEPROFD_DAEMON_REPORT_MERGE_PROFILE_MERGE_PARTS_H

#include "daemon/report/merge/merge_fields.h"
#include "daemon/report/merge/merge_paths.h"
#include "daemon/report/merge/merge_resident.h"
#include "daemon/report/merge/merge_timeline.h"
#include "daemon/report/model/profile.h"

#define MERGE_NONE ID_NONE

struct merged_pair {
	struct profile_pair pair; /* first and second are this entry's own; line is not used */
	uint32_t first, second;   /* paths, by what a reader tells frames apart by */
	uint32_t line;            /* index; MERGE_NONE */
};

struct profile_merge {
	struct merge_frames frames;
	struct profile_facts facts; /* its strings are frames'; the command is owned */
	struct resident_point resident_points[RESIDENT_POINTS_MAX]; /* the facts' */
	struct stop_histograms stops;
	bool any;                     /* a profile was added */
	bool one_process;             /* profile_merge_set_one_process() */
	bool fleet;                   /* profile_merge_set_fleet() */
	struct process_labels labels; /* that all have in common */
	char host[sizeof(((struct profile_target *)0)->host)];
	char **command;
	struct profile_line *lines;
	size_t line_count, line_capacity;
	struct id_table line_ids;
	struct profile_function *functions;
	size_t function_count, function_capacity;
	struct id_table function_ids;
	struct merged_pair *pairs;
	size_t pair_count, pair_capacity;
	struct id_table pair_ids;
	struct merge_paths pair_paths;
	struct merge_paths tree_paths;
	struct profile_node *nodes; /* by tree path; 0 is not used */
	size_t node_capacity;
	uint64_t stack_frames; /* as PROFILE_STACK_FRAMES_MAX counts them */
	struct profile_thread *threads;
	size_t thread_count, thread_capacity;
	struct profile_process *processes;
	size_t process_count, process_capacity;
	size_t pairs_omitted, nodes_folded;
	struct profile_source *sources; /* their texts are owned */
	size_t source_count, source_capacity;
	struct profile_stack *stacks; /* by thread of the merge, and tree path */
	size_t stack_count, stack_capacity;
	struct id_table stack_ids;
	struct merge_timelines timelines; /* by thread, tree path and stack */
	struct profile sums;              /* its figures of the whole run alone */
};

/* profile_merge_sources.c. 0 or -ENOMEM; over a limit they are left out. */
__attribute__((warn_unused_result)) int merge_source_add(struct profile_merge *merge,
							 const struct profile_source *source);
void merge_sources_free(struct profile_merge *merge);

/* profile_merge_lines.c. All: 0 or -ENOMEM; over a limit they are counted and left out. */
__attribute__((warn_unused_result)) int merge_line_add(struct profile_merge *merge,
						       const struct profile_line *line);
__attribute__((warn_unused_result)) int merge_function_add(struct profile_merge *merge,
							   const struct profile_function *function);
/* ret_line MERGE_NONE: there is no such line. */
__attribute__((warn_unused_result)) int merge_line_find(struct profile_merge *merge,
							const struct profile_line *line,
							uint64_t *ret_hash, const char **ret_file,
							const char **ret_function,
							uint32_t *ret_line);

/* merge_stacks.c. ret_stacks: of each of the profile's, MERGE_NONE where there is no room. */
__attribute__((warn_unused_result)) int merge_stacks_add(struct profile_merge *merge,
							 const struct profile_facts *facts,
							 const struct merge_owners *owners,
							 uint32_t *ret_stacks);

/* profile_merge_pairs.c */
__attribute__((warn_unused_result)) int merge_pair_add(struct profile_merge *merge,
						       const struct profile_pair *pair);
void merge_pairs_free(struct profile_merge *merge);

#endif

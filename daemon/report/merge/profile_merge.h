/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Several profiles made one: of the processes of a group, or of runs.
 *
 * Counts are added up; what follows from them (intervals, avoidable time,
 * categories, the duration of calls) is computed anew from the sums, by the code
 * that does it for one process (line_estimate.h). Lines, functions and pairs
 * are those of all processes together; the tree has an outermost frame for
 * each, "process 1234 (python3 worker.py)", so that they can be told apart.
 *
 * The order in which profiles are added makes no difference, nor does whether
 * some of them were merged before, as long as no limit is reached: of processes
 * beyond MERGE_PROCESSES_MAX, the later ones share an entry and a frame; paths
 * over the limit are folded into their callers. So memory is bounded however
 * many short-lived processes there are.
 *
 * Labels and host of the target are those that all have in common.
 *
 * A profile that is to be merged must have been built with facts.all_pairs: a
 * pair that was never redundant in one process counts against it in another.
 */
#ifndef PIEPROFD_DAEMON_REPORT_MERGE_PROFILE_MERGE_H
#define PIEPROFD_DAEMON_REPORT_MERGE_PROFILE_MERGE_H

#include "daemon/report/model/profile.h"

#define MERGE_PROCESSES_MAX     1024
#define MERGE_THREADS_MAX       16384
#define MERGE_FLEET_THREADS_MAX 256
#define MERGE_STACKS_MAX        (1u << 18)
#define MERGE_LINES_MAX         (1u << 20)
#define MERGE_SOURCES_MAX       4096
#define MERGE_PAIRS_MAX         (4 * PROFILE_PAIRS_MAX)
#define MERGE_PATHS_MAX         (1u << 21)

struct profile_merge;

/* NULL: out of memory. */
struct profile_merge *profile_merge_create(void);
void profile_merge_destroy(struct profile_merge *merge);

/*
 * All that will be added is of one process, in parts of its life: it is no group,
 * the tree has no frame for it. Before anything is added.
 */
void profile_merge_set_one_process(struct profile_merge *merge);

/*
 * So many processes will be added that a frame and threads for each would say nothing: the tree's
 * outermost frames are the services, or else the programs, and threads of one name are one. Before
 * anything is added.
 */
void profile_merge_set_fleet(struct profile_merge *merge);

/* Copies what it needs: the profile may be destroyed. 0 or -ENOMEM, after which the merge is void.
 */
__attribute__((warn_unused_result)) int profile_merge_add(struct profile_merge *merge,
							  const struct profile *profile);

/*
 * All that was added, as a profile. It borrows from the merge: it is to be
 * destroyed (profile_destroy) before more is added. all_pairs: for merging it
 * again. NULL: nothing was added, or out of memory.
 */
struct profile *profile_merge_build(const struct profile_merge *merge, bool all_pairs);

/* A process's command without the folder of its program: part of it. */
const char *process_title(const char *command);

#endif

/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Groups of ranks of one process, by handle: as far as needed to tell who is in a communicator that
 * MPI_Comm_create makes of one.
 *
 *   MPI_Comm_group        all ranks of a communicator
 *   MPI_Group_incl        some of these, by their numbers
 *   MPI_Comm_create       a communicator of them: as if MPI_Comm_split had had their first one for
 *                         a colour, since no two groups of one call may share a rank
 *
 * Only groups whose ranks are in ascending order keep that order in the communicator; others, and
 * groups made in other ways, are not known. Pure.
 */
#ifndef PIEPROFD_DAEMON_TRACE_GROUP_TABLE_H
#define PIEPROFD_DAEMON_TRACE_GROUP_TABLE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* At a time; then the oldest is forgotten. */
#define GROUPS_MAX 256

struct rank_group {
	uint64_t handle;
	uint32_t communicator; /* whose ranks they are: the process's number of it */
	int32_t first;         /* the lowest rank */
	bool is_whole;         /* all of its ranks */
};

struct group_table { /* all zeros: empty */
	struct rank_group items[GROUPS_MAX];
	unsigned count, oldest;
};

/* NULL: it is not known. */
const struct rank_group *group_table_find(const struct group_table *table, uint64_t handle);
void group_table_add_whole(struct group_table *table, uint64_t handle, uint32_t communicator);
/* Of some ranks of a group: where that is known, and they are in ascending order. */
void group_table_add_some(struct group_table *table, uint64_t handle, uint64_t of,
			  const int32_t *ranks, size_t count);
void group_table_remove(struct group_table *table, uint64_t handle);

#endif

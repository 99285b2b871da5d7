/* SPDX-License-Identifier: Apache-2.0 */
/* The members of a group, found by their pid in a time that does not grow with their number. */
#ifndef PIEPROFD_DAEMON_MEMBER_TABLE_H
#define PIEPROFD_DAEMON_MEMBER_TABLE_H

#include "daemon/cct/id_table.h"
#include "daemon/group_member.h"

/* All zeros: empty. */
struct member_table {
	struct member *items;
	size_t count, capacity;
	struct id_table index;
};

void member_table_deinit(struct member_table *table);

/* One that is not gone; NULL: none. */
struct member *member_table_find(const struct member_table *table, pid_t pid);

/* May move all of them. NULL: no memory. */
struct member *member_table_add(struct member_table *table, const struct member *member);

/* Removes those that are gone; the others keep their order. */
void member_table_remove_gone(struct member_table *table);

#endif

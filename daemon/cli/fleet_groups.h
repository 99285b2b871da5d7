/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Recordings grouped by a label, of which each is read once; a group can then be folded
 * (recording_fold.h), one after the other, so that memory is that of one group.
 */
#ifndef PIEPROFD_DAEMON_CLI_FLEET_GROUPS_H
#define PIEPROFD_DAEMON_CLI_FLEET_GROUPS_H

#include "daemon/cli/fleet_label.h"
#include "daemon/cli/recording_fold.h"
#include "daemon/cli/recording_list.h"
#include "daemon/report/encode/string_table.h"

struct fleet_group {
	const char *value; /* "": of recordings that lack the label */
	size_t recordings;
	uint64_t cpu_ns, duration_ns; /* added up */
};

struct fleet_groups {
	const struct recording_list *list;
	struct fleet_group *items; /* in the order of their first recordings */
	size_t count, capacity;
	uint64_t cpu_ns;
	struct string_table strings;
	uint32_t *group_of; /* by recording: the number of its group */
};

/* The list must outlive them. Says on stderr what goes wrong. Deinit also those that failed. */
enum exit_code fleet_groups_find(struct fleet_groups *groups, const struct fleet_label *label,
				 const struct recording_list *list);
void fleet_groups_deinit(struct fleet_groups *groups);

/* As recording_fold_open() has it, but quiet; a fold that failed is closed. */
enum exit_code fleet_group_fold(const struct fleet_groups *groups, const struct fleet_group *group,
				bool with_spread, struct recording_fold *fold);

#endif

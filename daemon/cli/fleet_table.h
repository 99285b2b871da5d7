/* SPDX-License-Identifier: Apache-2.0 */
/*
 * report --by LABEL: recordings grouped by a label, a row for each of its values. Each group is
 * folded by itself (recording_fold.h), one after the other, so that estimates are those of the
 * group's counts, and memory is that of one group.
 */
#ifndef PIEPROFD_DAEMON_CLI_FLEET_TABLE_H
#define PIEPROFD_DAEMON_CLI_FLEET_TABLE_H

#include "common/error.h"
#include "daemon/cli/options.h"
#include "daemon/cli/recording_list.h"

/* Text and JSON have a row for each value; rows for tables (jsonl) are the lines of each group. */
bool fleet_table_writes(const struct writer *writer);

/* All outputs of the options; what goes wrong is said on stderr. */
enum exit_code fleet_table_report(const struct options *options,
				  const struct writer_options *terminal,
				  const struct recording_list *list);

#endif

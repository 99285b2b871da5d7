/* SPDX-License-Identifier: Apache-2.0 */
/*
 * report --by LABEL --diff BASE: what changed, for each value of a label by itself. Groups of both
 * sets are folded and compared one after the other (diff.h), with what their recordings differ by
 * (spread.h), so that what is told of a value is what `--diff` of its recordings alone tells.
 */
#ifndef PIEPROFD_DAEMON_CLI_FLEET_DIFF_H
#define PIEPROFD_DAEMON_CLI_FLEET_DIFF_H

#include "common/error.h"
#include "daemon/cli/options.h"
#include "daemon/cli/recording_list.h"

/* Text and JSON have a row for each value. */
bool fleet_diff_writes(const struct writer *writer);

/* All outputs of the options, then --fail-if; what goes wrong is said on stderr. */
enum exit_code fleet_diff_report(const struct options *options,
				 const struct writer_options *terminal,
				 const struct recording_list *list,
				 const struct recording_list *base);

#endif

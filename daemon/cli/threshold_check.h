/* SPDX-License-Identifier: Apache-2.0 */
/* report --fail-if: whether a difference passes. */
#ifndef PIEPROFD_DAEMON_CLI_THRESHOLD_CHECK_H
#define PIEPROFD_DAEMON_CLI_THRESHOLD_CHECK_H

#include "common/error.h"
#include "daemon/cli/options.h"
#include "daemon/report/diff/diff.h"

/*
 * EXIT_CHANGED, and it is said on stderr which line broke which of the thresholds, or EXIT_OK. of:
 * what is said before the line, such as "service shop: ", escaped; "": nothing.
 */
enum exit_code threshold_check(const struct options *options, const struct diff *diff,
			       const char *of);

#endif

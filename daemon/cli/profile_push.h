/* SPDX-License-Identifier: Apache-2.0 */
/* --push: from the options to the process that sends. */
#ifndef PIEPROFD_DAEMON_CLI_PROFILE_PUSH_H
#define PIEPROFD_DAEMON_CLI_PROFILE_PUSH_H

#include "daemon/cli/options.h"
#include "daemon/push/push.h"

#define PUSH_EVERY_DEFAULT_S 15

/* Before there is a second thread, and before privileges are given up. 0, with NULL where it is not
 * asked for, or -1 with *error filled. */
__attribute__((warn_unused_result)) int profile_push_start(const struct options *options,
							   struct push **ret_push,
							   struct error *error);

#endif

/* SPDX-License-Identifier: Apache-2.0 */
/* What options mean together, once each was read. */
#ifndef PIEPROFD_DAEMON_CLI_OPTIONS_SETTLE_H
#define PIEPROFD_DAEMON_CLI_OPTIONS_SETTLE_H

#include "daemon/cli/option_table.h"

/* Fills in what was not given. 0, or -1 after one line about what does not go together. */
__attribute__((warn_unused_result)) int options_settle(struct option_parser *parser);

#endif

/* SPDX-License-Identifier: Apache-2.0 */
/* Is a slow call (slow_call.h) a waste, by what it was last given? Pure. */
#ifndef PIEPROFD_DAEMON_DETECT_ARGUMENT_MEETS_H
#define PIEPROFD_DAEMON_DETECT_ARGUMENT_MEETS_H

#include "daemon/detect/argument_log.h"
#include "daemon/detect/slow_call.h"

/* What it sorts has so few items that it hardly matters how. */
bool argument_sorts_few(const struct argument_site *site);

/* sum(lists, []) */
bool argument_joins_lists(const struct argument_site *site);

/* Are the operands such that a slow call is a waste? Of SLOW_IN_TURN, SLOW_SORT, SLOW_END and
 * SLOW_ENLARGES they do not tell. */
bool argument_meets(const struct argument_site *site, enum slow_when when);

#endif

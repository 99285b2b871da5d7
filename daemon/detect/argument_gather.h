/* SPDX-License-Identifier: Apache-2.0 */
/* Makes argument_facts.h of a log: counts its samples site by site, and judges each site alone.
 * Pure. */
#ifndef PIEPROFD_DAEMON_DETECT_ARGUMENT_GATHER_H
#define PIEPROFD_DAEMON_DETECT_ARGUMENT_GATHER_H

#include "daemon/detect/argument_facts.h"

/* Facts, one for each site of the log, summaries set. 0 or -ENOMEM. */
__attribute__((warn_unused_result)) int argument_gather(struct argument_facts *facts,
							const struct argument_log *log,
							struct call_site_table *sites);

#endif

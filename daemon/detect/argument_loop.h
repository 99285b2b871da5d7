/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Which loops have called again what samples saw. Not every loop on a stack has: that of
 * a process which was forked in it stays there for as long as the process lives, in
 * the round of the fork.
 *
 *   stands   the only loop of its function around the site goes over an iterator whose
 *            position was the same in all samples: it has not turned
 *   stays    its position cannot be told (while, a generator), but its function was at
 *            this one instruction in all samples: it may turn or not. It is not asked
 *            where frames of libraries in between are in loops of their own.
 */
#ifndef PIEPROFD_DAEMON_DETECT_ARGUMENT_LOOP_H
#define PIEPROFD_DAEMON_DETECT_ARGUMENT_LOOP_H

#include "daemon/cct/cct.h"
#include "daemon/detect/argument_facts.h"

/* Sets stands and stays of all sites. Facts are gathered. 0 or -ENOMEM. */
__attribute__((warn_unused_result)) int argument_loop_judge(struct argument_facts *facts,
							    const struct argument_log *log,
							    struct call_site_table *sites);

/*
 * Is the loop of the sample's frame `outer` what calls its frame `inner` again, for all
 * that is known? True for a frame's own loop. cct may be NULL. 0 or -ENOMEM.
 */
__attribute__((warn_unused_result)) int argument_loop_calls(
	const struct argument_facts *facts, const struct argument_log *log, const struct cct *cct,
	struct call_site_table *sites, const struct argument_sample *sample, unsigned inner,
	unsigned outer, bool *ret_calls);

#endif

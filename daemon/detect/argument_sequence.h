/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Sites that go over all of a sequence in each call: one that grows, one that hardly changes, one
 * that is searched, or copied bar its beginning. Pure.
 */
#ifndef PIEPROFD_DAEMON_DETECT_ARGUMENT_SEQUENCE_H
#define PIEPROFD_DAEMON_DETECT_ARGUMENT_SEQUENCE_H

#include "daemon/detect/argument_facts.h"

/* From so many items on it matters that a sequence grows. */
#define ARGUMENT_GROWN_ITEMS_MIN 64

/* Sets growing, searched and cut, of a site whose samples were counted. */
void argument_sequence_judge(struct argument_facts *facts, const struct argument_site *site);

/*
 * min(xs), sorted(xs), sum(xs) of a list to which a few items come, or go, from call to call: sets
 * kept, but where it grows, which argument_sequence_judge() and slow_call.h know.
 */
void argument_sequence_judge_kept(struct argument_facts *facts, const struct argument_site *site);

#endif

/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Which of a sample's own frames does again what it has done, and which of them to name: the
 * outermost, as all that it calls is for nothing then, unless one further in saves more over all
 * samples. A helper that parses the same text for each of its callers is mended in one place,
 * however often each of these asks for the same. Pure, but for the bytecode that the call site
 * table reads.
 */
#ifndef PIEPROFD_DAEMON_DETECT_ARGUMENT_REPETITION_H
#define PIEPROFD_DAEMON_DETECT_ARGUMENT_REPETITION_H

#include "daemon/detect/argument_judgement.h"

/* Before the first vote, facts gathered: what to name, and how much it saves. 0 or -ENOMEM. */
__attribute__((warn_unused_result)) int argument_repetition_find(struct judgement *judgement);

/*
 * Of a sample: INVARIANT, REPEATED or FEW with a site; NEEDED: what was compared differs;
 * UNKNOWN. 0 or -ENOMEM.
 */
__attribute__((warn_unused_result)) int argument_repetition_vote(
	const struct judgement *judgement, const struct argument_sample *sample,
	struct argument_vote *vote);

#endif

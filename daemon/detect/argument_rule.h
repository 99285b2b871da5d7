/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What the arguments seen at time samples say of the time that could be saved.
 * Pure, but for the bytecode that the call site table reads.
 *
 * Each sample gets at most one vote, for the outermost of its own frames that is
 * known to do again what it has done. Walking outwards from the innermost own
 * frame, up to the first one in a loop:
 *
 *   same      a site has the same contents of all operands, in most samples (the
 *             lower end of the interval is above a half), in different rounds:
 *             invariant in its loop, or a function of the program's own called again
 *   again     a call often has the contents of the one before it: the same, for a
 *             while (argument_watch.h)
 *   entry     a function that several places call gets what it has just got from another
 *   few       a function is called with few sets of arguments, in turn
 *   growing   a sequence that the site goes over has grown from sample to sample
 *   searched  x in a list; cut: x = x[n:], which copies the rest; slow: slow_call.h
 *   elements  the line takes single elements out of an array, each time another one
 *
 * A sample whose operands were compared and that no rule speaks for is cleared:
 * its call works on something else each time. Not judged are calls without data
 * among their operands, those with operands known by identity alone, and those
 * whose result is dropped: they are called for their effect.
 */
#ifndef PIEPROFD_DAEMON_DETECT_ARGUMENT_RULE_H
#define PIEPROFD_DAEMON_DETECT_ARGUMENT_RULE_H

#include "daemon/cct/cct.h"
#include "daemon/detect/argument_vote.h"

/* Votes that a site must have to count, and share of the time of all samples. */
#define ARGUMENT_VOTES_MIN 5
#define ARGUMENT_SHARE_MIN 0.02

/* The log is borrowed; cct: that of its samples' nodes, or NULL. 0 or -ENOMEM. */
__attribute__((warn_unused_result)) int argument_findings_make(struct argument_findings *findings,
							       const struct argument_log *log,
							       const struct cct *cct,
							       struct call_site_table *sites);
void argument_findings_deinit(struct argument_findings *findings);

#endif

/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Votes that one change of the program answers: those for elements taken anywhere in
 * one loop, those for one function that several places call, and those of lines that do the same
 * wrong in one loop. Each fix's votes
 * are joined to the site that has most of them, so that its line says what the change
 * saves. A loop over elements goes as a whole: samples in it that no other rule
 * speaks for are its votes, too. Pure.
 */
#ifndef PIEPROFD_DAEMON_DETECT_ARGUMENT_FIX_H
#define PIEPROFD_DAEMON_DETECT_ARGUMENT_FIX_H

#include "daemon/detect/argument_vote.h"

/* facts: one for each site of the log. */
void argument_fixes_join(struct argument_findings *findings, const struct argument_facts *facts);

#endif

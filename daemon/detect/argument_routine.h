/* SPDX-License-Identifier: Apache-2.0 */
/* Functions that do the same work in each call (argument_work.h): which they are. Pure. */
#ifndef PIEPROFD_DAEMON_DETECT_ARGUMENT_ROUTINE_H
#define PIEPROFD_DAEMON_DETECT_ARGUMENT_ROUTINE_H

#include "daemon/detect/argument_facts.h"

/* Facts are gathered: sets work.same of each function's first site. */
void argument_routine_judge(struct argument_facts *facts, const struct argument_log *log);

/*
 * The outermost frame of the sample whose function does the same in each call; its caller is the
 * one after it. Negative: there is none.
 */
int argument_routine_frame(const struct argument_facts *facts, const struct argument_log *log,
			   const struct argument_sample *sample);

#endif

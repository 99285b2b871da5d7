/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What one site's facts say of another one's: a call within an expression, a store behind it, a
 * function's entry. Pure.
 */
#ifndef PIEPROFD_DAEMON_DETECT_ARGUMENT_RELATION_H
#define PIEPROFD_DAEMON_DETECT_ARGUMENT_RELATION_H

#include "daemon/detect/argument_facts.h"

/* Once each site was judged alone. */
void argument_relations_judge(struct argument_facts *facts, const struct argument_log *log);

#endif

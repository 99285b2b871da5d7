/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Lines that take elements, by several instructions each: one of these stands for the line, and
 * tells whether they are mostly calls on single numbers. Pure.
 */
#ifndef PIEPROFD_DAEMON_DETECT_ARGUMENT_LINE_H
#define PIEPROFD_DAEMON_DETECT_ARGUMENT_LINE_H

#include "daemon/detect/argument_facts.h"

/* Sets the facts' line, line_site and line_scalars. 0 or -ENOMEM. */
__attribute__((warn_unused_result)) int argument_lines_join(struct argument_facts *facts,
							    const struct argument_log *log);

#endif

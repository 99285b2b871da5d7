/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What the change looks like that a finding asks for, a line of Python: of the
 * expression itself where it stays as it is, else of the kind of change.
 */
#ifndef PIEPROFD_DAEMON_REPORT_MODEL_ARGUMENT_EXAMPLE_H
#define PIEPROFD_DAEMON_REPORT_MODEL_ARGUMENT_EXAMPLE_H

#include "daemon/detect/argument_log.h"
#include "daemon/detect/argument_verdict.h"
#include "daemon/report/model/arena.h"

/* A longer expression is not repeated in its example. */
#define ARGUMENT_EXAMPLE_EXPRESSION_MAX 60

/*
 * expression: its text; NULL: unknown. NULL: there is none, or no memory, which the arena
 * says then.
 */
const char *argument_example(struct arena *arena, const struct argument_site *site,
			     enum argument_verdict verdict, const char *expression);

#endif

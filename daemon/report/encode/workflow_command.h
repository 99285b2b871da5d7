/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Strings of the target in GitHub's workflow commands, "::warning file=a.py::text": a line break
 * would begin a new command, and colons and commas end a property. What else a terminal might obey
 * is shown as printable.h does.
 */
#ifndef PIEPROFD_DAEMON_REPORT_ENCODE_WORKFLOW_COMMAND_H
#define PIEPROFD_DAEMON_REPORT_ENCODE_WORKFLOW_COMMAND_H

#include <stdio.h>

/* 0 or -ENOMEM. */
__attribute__((warn_unused_result)) int workflow_message(FILE *file, const char *text);
__attribute__((warn_unused_result)) int workflow_property(FILE *file, const char *text);

#endif

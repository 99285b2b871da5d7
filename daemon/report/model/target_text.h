/* SPDX-License-Identifier: Apache-2.0 */
/* What a process runs, as text. */
#ifndef PIEPROFD_DAEMON_REPORT_MODEL_TARGET_TEXT_H
#define PIEPROFD_DAEMON_REPORT_MODEL_TARGET_TEXT_H

#include "daemon/report/model/profile.h"

/* The words of its command line with spaces between them, cut at size; "": unknown. */
void target_command_text(const struct profile_target *target, char *text, size_t size);

/* "3.11.2"; "": unknown. */
void target_python_text(const struct profile_target *target, char *text, size_t size);

#endif

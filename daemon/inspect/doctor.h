/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What of a profile works on this machine, or with one process, and how to get
 * what does not: a line each. What can be tried is tried (attach/trial.h), on
 * a child; the process asked about is only looked at, never attached.
 */
#ifndef PIEPROFD_DAEMON_INSPECT_DOCTOR_H
#define PIEPROFD_DAEMON_INSPECT_DOCTOR_H

#include "attach/impersonator.h"
#include "daemon/inspect/doctor_report.h"

/*
 * debuginfod: DEBUGINFOD_URLS was set when the program began. impersonator: borrowed. -1 with
 * *error filled: no such process, or none that can be asked about.
 */
__attribute__((warn_unused_result)) int doctor_examine(pid_t pid, bool debuginfod,
						       struct impersonator *impersonator,
						       struct doctor_report *ret_report,
						       struct error *error);

#endif

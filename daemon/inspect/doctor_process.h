/* SPDX-License-Identifier: Apache-2.0 */
/* The part of doctor.h about one process. Looks only: nothing is attached or stopped. */
#ifndef PIEPROFD_DAEMON_INSPECT_DOCTOR_PROCESS_H
#define PIEPROFD_DAEMON_INSPECT_DOCTOR_PROCESS_H

#include "attach/impersonator.h"
#include "daemon/inspect/doctor_report.h"

/* Adds the lines about one process. 0, or -1 with *error filled. */
__attribute__((warn_unused_result)) int doctor_examine_process(struct doctor_report *report,
							       pid_t pid,
							       struct impersonator *impersonator,
							       struct error *error);

#endif

/* SPDX-License-Identifier: Apache-2.0 */
/* What works here in words, or as JSON. */
#ifndef PIEPROFD_DAEMON_INSPECT_DOCTOR_WRITER_H
#define PIEPROFD_DAEMON_INSPECT_DOCTOR_WRITER_H

#include "daemon/inspect/doctor_report.h"
#include "daemon/report/format/writer.h"

/* options: columns. */
void doctor_write_text(const struct doctor_report *report, const struct writer_options *options,
		       FILE *file);

/* As pieprofd-formats(5) has it. 0, -ENOMEM or -EIO. */
int doctor_write_json(const struct doctor_report *report, FILE *file);

#endif

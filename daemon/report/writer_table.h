/* SPDX-License-Identifier: Apache-2.0 */
/* Every format that there is, by its name and by the file it is for. */
#ifndef PIEPROFD_DAEMON_REPORT_WRITER_TABLE_H
#define PIEPROFD_DAEMON_REPORT_WRITER_TABLE_H

#include "daemon/report/format/writer.h"

#include <stdio.h>

/* NULL: unknown. */
const struct writer *writer_by_name(const char *name);
const struct writer *writer_by_path(const char *path);
/* For people: "text, json, ...". */
void writer_names(FILE *file);

#endif

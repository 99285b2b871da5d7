/* SPDX-License-Identifier: Apache-2.0 */
/* The Python processes of a machine in words, or as JSON. */
#ifndef PIEPROFD_DAEMON_INSPECT_LIST_WRITER_H
#define PIEPROFD_DAEMON_INSPECT_LIST_WRITER_H

#include "daemon/inspect/process_list.h"
#include "daemon/report/format/writer.h"

/* options: columns. */
void list_write_text(const struct process_list *list, const struct writer_options *options,
		     FILE *file);

/* As pieprofd-formats(5) has it. 0, -ENOMEM or -EIO. */
int list_write_json(const struct process_list *list, FILE *file);

#endif

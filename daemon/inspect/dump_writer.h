/* SPDX-License-Identifier: Apache-2.0 */
/* The threads of a process in words, or as JSON. */
#ifndef PIEPROFD_DAEMON_INSPECT_DUMP_WRITER_H
#define PIEPROFD_DAEMON_INSPECT_DUMP_WRITER_H

#include "daemon/inspect/thread_dump.h"
#include "daemon/report/format/writer.h"

/* Innermost frame first. options: columns and colour. 0 or -ENOMEM. */
int dump_write_text(const struct thread_dump *dump, const struct writer_options *options,
		    FILE *file);

/* Outermost frame first, as pieprofd-formats(5) has it. 0, -ENOMEM or -EIO. */
int dump_write_json(const struct thread_dump *dump, FILE *file);

#endif

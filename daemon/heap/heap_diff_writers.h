/* SPDX-License-Identifier: Apache-2.0 */
/* The difference of two looks at a heap as files: those formats that have one. */
#ifndef PIEPROFD_DAEMON_HEAP_HEAP_DIFF_WRITERS_H
#define PIEPROFD_DAEMON_HEAP_HEAP_DIFF_WRITERS_H

#include "daemon/heap/heap_diff.h"
#include "daemon/report/format/writer.h"

/* 0, -ENOMEM or -EIO. Strings of the targets are escaped as the format needs. */
typedef int heap_diff_write(const struct heap_diff *diff, const struct writer_options *options,
			    FILE *file);

/* Of a profile's writer, what writes a difference so; NULL: its format has none here. */
heap_diff_write *heap_diff_write_of(const struct writer *writer);

/* options: columns, colour, brief, lines_max, verdict_last. */
heap_diff_write heap_diff_write_text;
/* As pieprofd-formats(5) has it. */
heap_diff_write heap_diff_write_json;
/* A page for a browser. */
heap_diff_write heap_diff_write_html;

#endif

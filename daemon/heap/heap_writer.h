/* SPDX-License-Identifier: Apache-2.0 */
/* A look at a heap in words, on one screen unless all is asked for, or for other programs. */
#ifndef PIEPROFD_DAEMON_HEAP_HEAP_WRITER_H
#define PIEPROFD_DAEMON_HEAP_HEAP_WRITER_H

#include "daemon/heap/heap_look.h"
#include "daemon/report/format/writer.h"

/* options: columns, colour, brief, lines_max. 0, -ENOMEM or -EIO. */
__attribute__((warn_unused_result)) int heap_write_text(const struct heap_look *look,
							const struct writer_options *options,
							FILE *file);

/* As pieprofd-formats(5) has it. 0, -ENOMEM or -EIO. */
__attribute__((warn_unused_result)) int heap_write_json(const struct heap_look *look, FILE *file);

/* Stacks of live bytes, with all that the formats can say (heap_tree.h). 0, -ENOMEM or -EIO. */
__attribute__((warn_unused_result)) int heap_write_collapsed(const struct heap_look *look,
							     const struct writer_options *options,
							     FILE *file);
__attribute__((warn_unused_result)) int heap_write_pprof(const struct heap_look *look,
							 const struct writer_options *options,
							 FILE *file);

/* A page for a browser. 0, -ENOMEM or -EIO. */
__attribute__((warn_unused_result)) int heap_write_html(const struct heap_look *look,
							const struct writer_options *options,
							FILE *file);

#endif

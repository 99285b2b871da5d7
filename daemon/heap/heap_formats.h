/* SPDX-License-Identifier: Apache-2.0 */
/* Which formats a look at a heap has, of those of reports. */
#ifndef PIEPROFD_DAEMON_HEAP_HEAP_FORMATS_H
#define PIEPROFD_DAEMON_HEAP_HEAP_FORMATS_H

#include "daemon/heap/heap_writer.h"

/* 0 or a negative errno. Strings of the target are escaped as the format needs. */
typedef int heap_write(const struct heap_look *look, const struct writer_options *options,
		       FILE *file);

/* Of a profile's writer, what writes a look so; NULL: its format has none here. */
heap_write *heap_write_of(const struct writer *writer);

#endif

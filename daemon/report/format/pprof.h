/* SPDX-License-Identifier: Apache-2.0 */
/*
 * pprof files for one purpose each, as the endpoints of Go programs have them:
 * scrapers take the values of a file for one kind of thing. The writer of -o
 * (writer.h) puts all of them into one.
 */
#ifndef PIEPROFD_DAEMON_REPORT_FORMAT_PPROF_H
#define PIEPROFD_DAEMON_REPORT_FORMAT_PPROF_H

#include "daemon/report/format/stack_sample.h"

#include <stdio.h>

/* 0 or a negative errno. */
__attribute__((warn_unused_result)) int pprof_write_view(const struct profile *profile,
							 enum pprof_view view, FILE *file);

/* The samples of some processes, with some of their labels. */
struct pprof_part {
	struct stack_part of;
	bool (*has_label)(const char *key);
};

/* part: NULL: all. As above, or -ENODATA: the part has no samples. */
__attribute__((warn_unused_result)) int pprof_write_part(const struct profile *profile,
							 enum pprof_view view,
							 const struct pprof_part *part, FILE *file);

#endif

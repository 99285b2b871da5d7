/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Time beside the time classes while a profile is made: of a node, by what was
 * seen at its samples and by the functions on its path; of lines, functions and
 * the run. Fresh memory goes with it, to the line that is charged (line_stats.h).
 */
#ifndef PIEPROFD_DAEMON_REPORT_MODEL_SIDE_TIMES_H
#define PIEPROFD_DAEMON_REPORT_MODEL_SIDE_TIMES_H

#include "daemon/report/model/line_stats.h"
#include "daemon/report/model/path.h"

/* Of one node alone, whose path is given. */
struct side_time side_times_of(const struct cct_node *node, const struct path *path);

/*
 * Adds those of all nodes to the lines and functions, which are built. 0 or
 * -ENOMEM.
 */
__attribute__((warn_unused_result)) int side_times_charge(struct path_table *paths,
							  const struct cct *cct,
							  struct line_stats *lines,
							  struct line_stats *functions,
							  struct side_time *ret_run);

#endif

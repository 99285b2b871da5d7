/* SPDX-License-Identifier: Apache-2.0 */
/* The call tree, and what ended in it over time, as the page's script reads them. */
#ifndef PIEPROFD_DAEMON_REPORT_HTML_HTML_TREE_H
#define PIEPROFD_DAEMON_REPORT_HTML_HTML_TREE_H

#include "daemon/report/model/profile.h"

#include <stdio.h>

/* The members of a JSON object, with the brace that ends it. lines_max: as many lines are in the
 * report beside it. 0 or -EIO. */
__attribute__((warn_unused_result)) int html_tree(FILE *file, const struct profile *profile,
						  size_t lines_max);

#endif

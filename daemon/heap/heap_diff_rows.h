/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Which paths of a difference are worth a row: from each root as far as most of what grew goes one
 * way, and no further than to where there are more objects; the same for what shrank.
 *
 *   app.cache (dict) +101 MB -> {*} (app.Order) +101 MB, +100,000 -> .lines (list) +80 MB
 *                               `-- this one
 *
 * Where as much shrank below as grew, the branches have rows of their own. Of what grew none is
 * inside of another, nor of what shrank. What is in one file alone, and so small that it may have
 * been left out of the other one, has none.
 */
#ifndef PIEPROFD_DAEMON_HEAP_HEAP_DIFF_ROWS_H
#define PIEPROFD_DAEMON_HEAP_HEAP_DIFF_ROWS_H

#include "daemon/heap/heap_diff.h"

/* rows and entries of a joined difference. 0 or -ENOMEM. */
__attribute__((warn_unused_result)) int heap_diff_choose_rows(struct heap_diff *diff);

#endif

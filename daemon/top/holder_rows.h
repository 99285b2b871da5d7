/* SPDX-License-Identifier: Apache-2.0 */
/* What grows, as rows of the screen: a heading that says how old it is, and a row each. */
#ifndef PIEPROFD_DAEMON_TOP_HOLDER_ROWS_H
#define PIEPROFD_DAEMON_TOP_HOLDER_ROWS_H

#include "daemon/top/holders.h"
#include "daemon/top/screen.h"

/* How many rows it takes. */
unsigned holder_rows_count(const struct top_growth *growth);

void holder_rows_put(const struct top_growth *growth, uint64_t now_ns, struct screen *screen,
		     unsigned row);

#endif

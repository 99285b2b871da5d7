/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Lays a model out on a screen:
 *
 *   title       what is looked at, for how long
 *   figures     CPU, samples, overhead, stops ... in one line, or two
 *   bar         Python, native and system time of the process
 *   tabs        views, window, order
 *   heading
 *   rows ...
 *   growth      containers that grow, where memory is looked at
 *   details     of the selected row: whole path, source, advice
 *   keys
 *
 * In a small terminal details go first, then figures and bar; in a narrow one
 * columns, from the right; rows and the name of each always stay.
 */
#ifndef PIEPROFD_DAEMON_TOP_LAYOUT_H
#define PIEPROFD_DAEMON_TOP_LAYOUT_H

#include "daemon/top/model.h"
#include "daemon/top/screen.h"

/* screen has been cleared to its size. Scrolls model. */
void layout_draw(struct top_model *model, struct screen *screen);

#endif

/* SPDX-License-Identifier: Apache-2.0 */
/* Which rows are shown: those of the program itself, or with some words in them. */
#ifndef PIEPROFD_DAEMON_TOP_FILTER_H
#define PIEPROFD_DAEMON_TOP_FILTER_H

#include "daemon/top/model.h"

/* The one of that position in the profile's own order, in the view that is shown. */
bool filter_wants(const struct top_model *model, size_t index);

#endif

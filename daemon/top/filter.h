/* SPDX-License-Identifier: Apache-2.0 */
/* Which rows are shown: those of the program itself, or with some words in them. */
#ifndef PIEPROFD_DAEMON_TOP_FILTER_H
#define PIEPROFD_DAEMON_TOP_FILTER_H

#include "daemon/top/history.h"

#include <stdbool.h>

struct filter {
	enum top_view view;
	bool own_only;     /* lines and functions of the program itself */
	const char *words; /* in names or source; "": anything */
	/* Text of a Python line; NULL: what the profile has. */
	const char *(*source)(void *context, const char *file, int line);
	void *source_context;
};

/* The one of that position in the profile's own order. */
bool filter_wants(const struct filter *filter, const struct profile *profile, size_t index);

#endif

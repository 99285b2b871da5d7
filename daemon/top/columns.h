/* SPDX-License-Identifier: Apache-2.0 */
/* The table of `top`: which columns fit, its heading, its rows. */
#ifndef PIEPROFD_DAEMON_TOP_COLUMNS_H
#define PIEPROFD_DAEMON_TOP_COLUMNS_H

#include "daemon/top/model.h"
#include "daemon/top/screen.h"

enum column {
	COLUMN_SELF,
	COLUMN_TOTAL,
	COLUMN_CPU, /* of a thread, of one processor */
	COLUMN_BAR,
	COLUMN_REDUNDANT,
	COLUMN_AVOIDABLE,
	COLUMN_FRESH, /* where rows are sorted by it, in place of the two before */
	COLUMN_KIND,  /* of a pair: load or store */
	COLUMN_PLACE,
	COLUMN_SOURCE, /* or what else there is room for at the end */
	COLUMN_COUNT
};

struct columns {
	enum top_view view;
	enum top_sort sort;
	struct {
		unsigned at, width; /* width 0: not shown */
	} columns[COLUMN_COUNT];
};

/* For a screen that wide, and the rows that model shows now. */
void columns_plan(struct columns *columns, const struct top_model *model, unsigned width);
void columns_put_heading(const struct columns *columns, struct screen *screen, unsigned row);
void columns_put_row(const struct columns *columns, struct screen *screen, unsigned screen_row,
		     const struct top_model *model, const struct top_row *row);

/* The parts of the times, as long as they are, width columns in all. */
void columns_put_bar(struct screen *screen, unsigned row, unsigned column, unsigned width,
		     const uint64_t time_ns[TIME_CLASS_COUNT]);
const char *columns_bar_character(const struct screen *screen, size_t time_class);

/* The last component; the path when it ends in none. */
const char *columns_base_name(const char *path);

#endif

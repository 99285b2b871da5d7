/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Tables gone through row by row, each row an object of its own: beside the making of
 * these (slow_call.h, SLOW_ROWS), what they are asked for is spared by the same fix.
 *
 *   for _, row in frame.iterrows():      SLOW_ROWS, in a loop
 *       total += row.price               asks a row: Series.__getattr__()
 *   frame.apply(lambda row: row["x"])    SLOW_ROWS, and a function that asks
 *
 * Pure.
 */
#ifndef PIEPROFD_DAEMON_DETECT_ARGUMENT_ROW_H
#define PIEPROFD_DAEMON_DETECT_ARGUMENT_ROW_H

#include "daemon/detect/argument_facts.h"

#define ARGUMENT_ROW_SITES_MAX 16

struct argument_rows {
	uint32_t sites[ARGUMENT_ROW_SITES_MAX]; /* that make rows in a loop */
	size_t count;
};

void argument_rows_find(struct argument_rows *rows, const struct argument_facts *facts,
			const struct argument_log *log);

/*
 * Is the sample where a row that such a loop makes is asked for something: in the loop, or in a
 * function that it calls? The site that makes it, and the frame in the loop; ID_NONE: it is not.
 */
uint32_t argument_row_asked(const struct argument_rows *rows, const struct argument_facts *facts,
			    const struct argument_log *log, const struct argument_sample *sample,
			    unsigned *ret_frame);

/*
 * Is the sample in what the function that frame `number` has called for each row does with it
 * itself? What it calls in its turn is not known to go with the row.
 */
bool argument_row_is_used(const struct argument_log *log, const struct argument_sample *sample,
			  unsigned number);

/*
 * Of calls that have a function called for each group of rows (SLOW_GROUPS): no slow ones where
 * it works in loops and functions of its own, which nothing of the library's can do instead.
 * Or for each item (SLOW_ITEMS): where it works on other things than numbers.
 */
void argument_groups_judge(struct argument_facts *facts, const struct argument_log *log);

#endif

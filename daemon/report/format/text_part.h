/* SPDX-License-Identifier: Apache-2.0 */
/* A part of a screen, made before it is known where it goes and what else there is room for. */
#ifndef PIEPROFD_DAEMON_REPORT_FORMAT_TEXT_PART_H
#define PIEPROFD_DAEMON_REPORT_FORMAT_TEXT_PART_H

#include "daemon/report/format/text_layout.h"

struct text_part {
	char *text; /* NULL: not made */
	size_t size;
	unsigned lines;
};

/*
 * A layout that is set into the part, until text_part_end(), which must follow. The part begins as
 * zeroes. 0 or -ENOMEM, then as before.
 */
__attribute__((warn_unused_result)) int text_part_begin(struct text_part *part,
							const struct text_layout *layout,
							struct text_layout *ret_inside);
__attribute__((warn_unused_result)) int text_part_end(struct text_part *part,
						      const struct text_layout *inside);

/* Where it belongs. Nothing of one that was not made. */
void text_part_put(const struct text_layout *layout, const struct text_part *part);

/* It can be made again. */
void text_part_deinit(struct text_part *part);

#endif

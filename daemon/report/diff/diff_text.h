/* SPDX-License-Identifier: Apache-2.0 */
/* What the text of a difference says of findings (finding_change.h). */
#ifndef PIEPROFD_DAEMON_REPORT_DIFF_DIFF_TEXT_H
#define PIEPROFD_DAEMON_REPORT_DIFF_DIFF_TEXT_H

#include "daemon/report/diff/finding_change.h"
#include "daemon/report/format/text_part.h"

/* How many changed, by chance or not: each is worth a row. */
size_t diff_text_changed(const struct finding_changes *changes);

/*
 * A heading with how many of each kind there are, and the table: what is new and has grown first,
 * at last what may be chance. remedy: what to do about the first row, below it; NULL: not said.
 */
void diff_text_put_changed(const struct text_layout *layout, const struct finding_changes *changes,
			   size_t maximum, const struct text_part *remedy);

/* Of the first row, in sentences; nothing where that is not new and has not grown. */
void diff_text_put_remedy(const struct text_layout *layout, const struct finding_changes *changes);

/* All of them, those that did not change too, and all of what is known of the new and grown ones.
 */
void diff_text_put_findings(const struct text_layout *layout,
			    const struct finding_changes *changes);

#endif

/* SPDX-License-Identifier: Apache-2.0 */
/* What grew in a heap, as sections of its text. */
#ifndef PIEPROFD_DAEMON_HEAP_HEAP_GROWTH_TEXT_H
#define PIEPROFD_DAEMON_HEAP_HEAP_GROWTH_TEXT_H

#include "daemon/heap/heap_course.h"
#include "daemon/report/format/text_layout.h"

/* The verdict. look has a course. */
void heap_text_verdict(const struct text_layout *layout, const struct heap_look *look);

/* GROWING, GROWTH and GROWTH BY TYPE: rows of each table. 0 or -ENOMEM. */
__attribute__((warn_unused_result)) int heap_text_growth(const struct text_layout *layout,
							 const struct heap_look *look, size_t rows);

/* How far to trust it: a sentence. */
void heap_text_looks(const struct text_layout *layout, const struct heap_look *look);

/* "+3.1 MB" */
struct figure heap_text_signed(double bytes);

#endif

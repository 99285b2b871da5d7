/* SPDX-License-Identifier: Apache-2.0 */
/* What the text of a source line tells of a slow way to write it. A line may be a part of a
 * statement, and text is not bytecode: each of these is to be borne out by what runs under it. */
#ifndef PIEPROFD_DAEMON_REPORT_MODEL_PATTERN_TEXT_H
#define PIEPROFD_DAEMON_REPORT_MODEL_PATTERN_TEXT_H

#include <stdbool.h>

/* "a = np.append(a, x)", "df = pd.concat([df, row])": what is joined gets the name of a part. */
bool pattern_text_grows(const char *source);

/* "a = a + [x]", "sum(lists, [])". */
bool pattern_text_adds_list(const char *source);

/* "float(a[i])", also of int. */
bool pattern_text_single_float(const char *source);

/* "df.apply(f, axis=1)" */
bool pattern_text_by_rows(const char *source);

#endif

/* SPDX-License-Identifier: Apache-2.0 */
/* sorted(x)[0]: which item is taken stands in the source; the bytecode has its number alone. Pure.
 */
#ifndef PIEPROFD_DAEMON_REPORT_MODEL_SORTED_END_H
#define PIEPROFD_DAEMON_REPORT_MODEL_SORTED_END_H

#include <stdbool.h>

/* Does a line of source take the first or last item of sorted(...) or np.sort(...), as min() and
 * max() do? NULL: no. */
bool sorted_end_is_taken(const char *line);

#endif

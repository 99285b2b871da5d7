/* SPDX-License-Identifier: Apache-2.0 */
/* What the JSON report says of time in the kernel. */
#ifndef PIEPROFD_DAEMON_REPORT_FORMAT_JSON_KERNEL_H
#define PIEPROFD_DAEMON_REPORT_FORMAT_JSON_KERNEL_H

#include "daemon/report/format/json_value.h"

/* The array `kernel`. NULL: out of memory. */
json_t *json_kernel(const struct profile *profile);

#endif

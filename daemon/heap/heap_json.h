/* SPDX-License-Identifier: Apache-2.0 */
/* A look at a heap as JSON values, as pieprofd-formats(5) has them; NULL: no memory. */
#ifndef PIEPROFD_DAEMON_HEAP_HEAP_JSON_H
#define PIEPROFD_DAEMON_HEAP_HEAP_JSON_H

#include "daemon/heap/heap_look.h"
#include "daemon/report/format/json_value.h"

/* All of it, with at most so many holders, those that hold most. */
json_t *heap_json_look(const struct heap_look *look, size_t holders_max);

#endif

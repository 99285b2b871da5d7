/* SPDX-License-Identifier: Apache-2.0 */
/* What the program in the kernel is told of a target's interpreter. */
#ifndef PIEPROFD_DAEMON_CAPTURE_CLOCK_PLACES_H
#define PIEPROFD_DAEMON_CAPTURE_CLOCK_PLACES_H

#include "attach/bpf/clock_record.h"
#include "daemon/capture/target.h"

/* Without a runtime, or one whose structures are too large to be copied: native stacks alone. */
struct clock_config clock_places_of(const struct target *target);

#endif

/* SPDX-License-Identifier: Apache-2.0 */
/* Python frames that are on no thread's stack, as a dump shows them: of tasks and greenlets that
 * wait. */
#ifndef PIEPROFD_DAEMON_INSPECT_SUSPENDED_FRAMES_H
#define PIEPROFD_DAEMON_INSPECT_SUSPENDED_FRAMES_H

#include "daemon/report/model/profile.h"
#include "daemon/report/model/source.h"
#include "pyintrospect/python_frame.h"

/* In the order given; NULL: out of memory. Strings are of the code objects and the cache. */
struct profile_frame *suspended_frames_show(const struct python_frame *frames, size_t count,
					    struct source_cache *sources);

#endif

/* SPDX-License-Identifier: Apache-2.0 */
/* Where a process runs, in words: of the target's container (attach/container.h). */
#ifndef PIEPROFD_DAEMON_REPORT_MODEL_CONTAINER_TEXT_H
#define PIEPROFD_DAEMON_REPORT_MODEL_CONTAINER_TEXT_H

#include "attach/container.h"
#include "daemon/report/model/profile.h"

struct container_text {
	char text[256];
};

/* Of NULL: none. */
struct profile_container profile_container_of(const struct container *container);

/* "web (podman 0123456789ab)", "docker 0123456789ab" without a name, "" where there is no
 * container. */
struct container_text container_words(const struct profile_container *container);

/* Behind a process in a label: " in web (0123456789ab)", " in 0123456789ab", "". */
struct container_text container_suffix(const struct profile_container *container);

#endif

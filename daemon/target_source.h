/* SPDX-License-Identifier: Apache-2.0 */
/* Source files as the target sees them, also after it has ended. */
#ifndef PIEPROFD_DAEMON_TARGET_SOURCE_H
#define PIEPROFD_DAEMON_TARGET_SOURCE_H

#include <limits.h>
#include <stdbool.h>
#include <sys/types.h>

struct target_source {
	pid_t pid;
	bool same_root;           /* the target's files are ours: they can be read when it ended */
	char directory[PATH_MAX]; /* its working directory, for relative names */
};

/* While the process lives. */
void target_source_init(struct target_source *source, pid_t pid);

/* For source_cache_create(); context is the target_source. A descriptor or a negative errno. */
int target_source_open(void *context, const char *path);

#endif

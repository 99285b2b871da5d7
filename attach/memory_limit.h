/* SPDX-License-Identifier: Apache-2.0 */
/*
 * How much memory a process's control group may have, how much it has, and how often the kernel
 * has killed for want of it: memory.max, memory.current and memory.events of version 2,
 * memory.limit_in_bytes, memory.usage_in_bytes and memory.oom_control of version 1. Of the group
 * and all that it is in, the one with least room counts. Caches of files are part of what a group
 * has, and are given back before anybody is killed.
 */
#ifndef PIEPROFD_ATTACH_MEMORY_LIMIT_H
#define PIEPROFD_ATTACH_MEMORY_LIMIT_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

struct memory_limit {
	bool known; /* there is a limit */
	uint64_t limit_bytes;
	uint64_t used_bytes; /* without caches of files that can be given back at once */
	bool kills_known;
	uint64_t kills; /* in the process's own group, since it was made */
};

void memory_limit_read(pid_t pid, struct memory_limit *ret_limit);

#endif

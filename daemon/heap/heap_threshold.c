/* SPDX-License-Identifier: Apache-2.0 */
#include "daemon/heap/heap_threshold.h"

#include "attach/memory_limit.h"
#include "attach/resident_memory.h"

#include <errno.h>

int heap_threshold_test(const struct heap_threshold *threshold, pid_t pid,
			struct heap_level *ret_level)
{
	struct memory_limit limit;
	int error = resident_memory_read(pid, &ret_level->used_bytes);

	ret_level->reached = false;
	ret_level->wanted_bytes = threshold->bytes;
	if (error)
		return error;
	if (threshold->share > 0) {
		memory_limit_read(pid, &limit);
		if (!limit.known)
			return -ENODATA;
		ret_level->used_bytes = limit.used_bytes;
		ret_level->wanted_bytes = (uint64_t)(threshold->share * (double)limit.limit_bytes);
	}
	ret_level->reached = ret_level->used_bytes >= ret_level->wanted_bytes;
	return 0;
}

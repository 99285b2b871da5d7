/* SPDX-License-Identifier: Apache-2.0 */
#include "attach/memory_limit.h"

#include "attach/cgroup_folder.h"

#include <stdlib.h>

/* Version 1 says so where there is none: the largest multiple of a page. */
#define LIMIT_BELIEVED (1ull << 62)

static bool read_number(const struct cgroup_folder *folder, const char *name, uint64_t *ret_number)
{
	char text[CGROUP_FILE_SIZE], *end;

	/* "max": there is none. */
	if (!cgroup_folder_read(folder, name, text))
		return false;
	*ret_number = strtoull(text, &end, 10);
	return end != text;
}

static void read_kills(const struct cgroup_folder *folder, struct memory_limit *limit)
{
	char text[CGROUP_FILE_SIZE];

	if (limit->kills_known || !folder->own ||
	    !cgroup_folder_read(
		    folder, folder->version == 2 ? "memory.events" : "memory.oom_control", text))
		return;
	limit->kills = cgroup_line_value(text, "oom_kill");
	limit->kills_known = true;
}

static void take_folder(void *context, const struct cgroup_folder *folder)
{
	struct memory_limit *limit = context;
	bool second = folder->version == 2;
	uint64_t most, used, files;
	char text[CGROUP_FILE_SIZE];

	read_kills(folder, limit);
	if (!read_number(folder, second ? "memory.max" : "memory.limit_in_bytes", &most) ||
	    !read_number(folder, second ? "memory.current" : "memory.usage_in_bytes", &used) ||
	    most >= LIMIT_BELIEVED)
		return;
	if (cgroup_folder_read(folder, "memory.stat", text)) {
		files = cgroup_line_value(text, second ? "inactive_file" : "total_inactive_file");
		used = used > files ? used - files : 0;
	}
	used = used < most ? used : most;
	if (limit->known && limit->limit_bytes - limit->used_bytes <= most - used)
		return;
	limit->known = true;
	limit->limit_bytes = most;
	limit->used_bytes = used;
}

void memory_limit_read(pid_t pid, struct memory_limit *ret_limit)
{
	*ret_limit = (struct memory_limit){ 0 };
	cgroup_folders_visit(pid, "memory", take_folder, ret_limit);
}

/* SPDX-License-Identifier: Apache-2.0 */
#include "daemon/session/descendants.h"

#include "attach/children.h"
#include "attach/procfs.h"
#include "daemon/session/process_search.h"

#include <unistd.h>

/* A number that came up before: it has ended, and another process has got it. */
static bool is_known(const struct pid_list *found, pid_t pid)
{
	for (size_t i = 0; i < found->count; i++)
		if (found->items[i] == pid)
			return true;
	return false;
}

int descendants_read(pid_t pid, struct pid_list *ret_found)
{
	struct pid_list children = { 0 };
	/* A target may have started us itself. */
	pid_t self = getpid();
	int error = children_read(pid, &children);

	ret_found->count = 0;
	for (size_t next = 0; !error; next++) {
		for (size_t i = 0;
		     i < children.count && ret_found->count < DESCENDANTS_MAX && !error; i++)
			if (children.items[i] != pid && children.items[i] != self &&
			    !is_known(ret_found, children.items[i]))
				error = pid_list_add(ret_found, children.items[i]);
		if (next == ret_found->count || error)
			break;
		/* One that has ended by now has none. */
		if (children_read(ret_found->items[next], &children))
			children.count = 0;
	}
	pid_list_deinit(&children);
	return error;
}

int descendants_work(pid_t pid, uint64_t *ret_cpu_ns, size_t *ret_count)
{
	struct pid_list found = { 0 };
	struct process_times times;
	int error = procfs_read_times(pid, 0, &times);
	uint64_t cpu_ns;

	if (error)
		return error;
	cpu_ns = times.children_ns;
	error = descendants_read(pid, &found);
	for (size_t i = 0; i < found.count && !error; i++)
		if (!procfs_read_times(found.items[i], 0, &times))
			cpu_ns += times.user_ns + times.system_ns + times.children_ns;
	if (!error) {
		*ret_cpu_ns = cpu_ns;
		*ret_count = found.count;
	}
	pid_list_deinit(&found);
	return error;
}

int descendants_read_python(pid_t pid, struct pid_list *ret_found)
{
	int error = descendants_read(pid, ret_found);
	size_t kept = 0;

	if (error)
		return error;
	/* Its program is shown to whoever may read its memory. */
	for (size_t i = 0; i < ret_found->count; i++)
		if (process_seems_python(ret_found->items[i]))
			ret_found->items[kept++] = ret_found->items[i];
	ret_found->count = kept;
	return 0;
}

/* SPDX-License-Identifier: Apache-2.0 */
#include "daemon/sample/program_watch.h"

#include "attach/procfs.h"
#include "common/clock.h"

#define PROGRAM_NS NS_PER_SECOND

static bool read_program(pid_t pid, struct stat *ret_program)
{
	char path[PROCFS_PATH_SIZE];

	procfs_living_path(path, pid, "exe");
	return stat(path, ret_program) == 0;
}

static remote_addr read_stack(pid_t pid)
{
	struct process_times times;

	return procfs_read_times(pid, 0, &times) ? 0 : times.stack;
}

void program_watch_begin(struct program_watch *watch, pid_t pid)
{
	*watch = (struct program_watch){ 0 };
	if (!read_program(pid, &watch->program))
		watch->program.st_ino = 0;
	watch->stack = read_stack(pid);
}

static bool program_replaced(struct program_watch *watch, pid_t pid, uint64_t now_ns)
{
	struct stat now;
	remote_addr stack;

	if (now_ns - watch->seen_ns < PROGRAM_NS || !watch->program.st_ino)
		return false;
	watch->seen_ns = now_ns;
	if (!read_program(pid, &now))
		return false;
	if (now.st_ino != watch->program.st_ino || now.st_dev != watch->program.st_dev)
		return true;
	/* Servers that reload their code become the same interpreter anew. */
	stack = watch->stack ? read_stack(pid) : 0;
	return stack && stack != watch->stack;
}

enum program_state program_watch_look(struct program_watch *watch, pid_t pid, uint64_t now_ns)
{
	struct process_status status;

	/* A zombie still has its folder. */
	if (procfs_read_status(pid, 0, &status) || procfs_has_ended(pid, status.state))
		return PROGRAM_EXITED;
	return program_replaced(watch, pid, now_ns) ? PROGRAM_REPLACED : PROGRAM_RUNS;
}

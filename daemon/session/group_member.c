/* SPDX-License-Identifier: Apache-2.0 */
#include "daemon/session/group_member.h"

#include "attach/procfs.h"
#include "common/clock.h"

#include <errno.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>

#define FIRST_PAUSE_NS (50 * NS_PER_MS)

/* The program it runs; zeros when that cannot be told. */
static void member_read_program(pid_t pid, dev_t *ret_device, ino_t *ret_inode)
{
	struct stat status = { 0 };
	char path[PROCFS_PATH_SIZE];

	procfs_living_path(path, pid, "exe");
	if (stat(path, &status))
		memset(&status, 0, sizeof(status));
	*ret_device = status.st_dev;
	*ret_inode = status.st_ino;
}

int member_init(struct member *member, pid_t pid, pid_t parent, uint64_t try_ns)
{
	struct process_times times;
	int error = procfs_read_times(pid, 0, &times);

	if (error)
		return error;
	/* Already known, or counted as an unseen fork. */
	if (parent && procfs_has_ended(pid, times.state))
		return -ESRCH;
	*member = (struct member){
		.pid = pid,
		.start_time = times.start_time,
		.parent = parent,
		.refusal = LOSS_PROCESS_UNSEEN,
	};
	member_try_again(member, try_ns);
	return 0;
}

void member_try_again(struct member *member, uint64_t try_ns)
{
	uint64_t now_ns = clock_now_ns();

	member->state = MEMBER_TRIED;
	member->next_try_ns = now_ns + 1;
	member->give_up_ns = try_ns == UINT64_MAX ? UINT64_MAX : now_ns + try_ns;
	member->pause_ns = member->given ? MEMBER_COMMAND_LOOK_NS : FIRST_PAUSE_NS;
	member_read_program(member->pid, &member->device, &member->inode);
}

void member_try_later(struct member *member, uint64_t now_ns)
{
	member->next_try_ns = now_ns + member->pause_ns;
	if (member->pause_ns < MEMBER_LONGEST_PAUSE_NS)
		member->pause_ns += member->pause_ns / (member->given ? 4 : 1);
}

bool member_is_alive(const struct member *member)
{
	struct process_times times;

	return !procfs_read_times(member->pid, 0, &times) &&
	       times.start_time == member->start_time &&
	       !procfs_has_ended(member->pid, times.state);
}

uint64_t member_cpu_ns(const struct member *member)
{
	clockid_t clock;
	struct timespec now;

	if (clock_getcpuclockid(member->pid, &clock) || clock_gettime(clock, &now) < 0)
		return 0;
	return (uint64_t)now.tv_sec * NS_PER_SECOND + (uint64_t)now.tv_nsec;
}

bool member_seems_same(const struct member *member)
{
	dev_t device;
	ino_t inode;

	/* What has ended runs no program. */
	member_read_program(member->pid, &device, &inode);
	return inode && device == member->device && inode == member->inode;
}

bool member_runs_another_program(const struct member *member)
{
	dev_t device;
	ino_t inode;

	member_read_program(member->pid, &device, &inode);
	return inode && (device != member->device || inode != member->inode);
}

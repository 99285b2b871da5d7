/* SPDX-License-Identifier: Apache-2.0 */
#include "attach/credentials.h"

#include "attach/procfs.h"
#include "common/whole_file.h"

#include <errno.h>
#include <linux/capability.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#define STATUS_BYTES_MAX (64u << 20)

/* The numbers of the line, separated by spaces. */
static void status_groups(const char *text, struct process_credentials *credentials)
{
	const char *value = procfs_status_value(text, "Groups");

	while (value && *value >= '0' && *value <= '9') {
		char *end;
		unsigned long group = strtoul(value, &end, 10);

		if (credentials->group_count == PROCFS_GROUPS_MAX) {
			credentials->groups_cut = true;
			return;
		}
		credentials->groups[credentials->group_count++] = (gid_t)group;
		value = end + strspn(end, " \t");
	}
}

int procfs_parse_credentials(const char *text, struct process_credentials *ret_credentials)
{
	const char *user = procfs_status_value(text, "Uid"),
		   *group = procfs_status_value(text, "Gid");
	struct process_credentials credentials = {
		.capabilities = procfs_status_number(text, "CapEff", 16),
		.permitted = procfs_status_number(text, "CapPrm", 16),
	};
	uid_t *users = credentials.other_users;
	gid_t *groups = credentials.other_groups;

	/* Real, effective, saved, file system. */
	if (!user || !group ||
	    sscanf(user, "%u %u %u %u", &users[0], &users[1], &users[2], &credentials.user) != 4 ||
	    sscanf(group, "%u %u %u %u", &groups[0], &groups[1], &groups[2], &credentials.group) !=
		    4)
		return -EPROTO;
	status_groups(text, &credentials);
	*ret_credentials = credentials;
	return 0;
}

/* What cannot be told is another one. */
static bool shares_user_namespace(pid_t pid)
{
	struct stat ours, theirs;
	char path[64];

	snprintf(path, sizeof(path), "/proc/%d/ns/user", pid);
	return !stat("/proc/self/ns/user", &ours) && !stat(path, &theirs) &&
	       ours.st_ino == theirs.st_ino && ours.st_dev == theirs.st_dev;
}

int procfs_read_credentials(pid_t pid, struct process_credentials *ret_credentials)
{
	struct process_credentials credentials;
	char path[64], *text;
	size_t size;
	int error;

	snprintf(path, sizeof(path), "/proc/%d/status", pid);
	error = whole_file_read(path, STATUS_BYTES_MAX, &text, &size);
	if (error)
		return error == -ENOENT ? -ESRCH : error;
	error = procfs_parse_credentials(text, &credentials);
	free(text);
	if (error)
		return error;
	/* In another one, they are rights over its files alone. */
	if (!shares_user_namespace(pid))
		credentials.capabilities = credentials.permitted = 0;
	*ret_credentials = credentials;
	return 0;
}

static bool may_be_user(const struct process_credentials *credentials, uid_t user)
{
	const uid_t *others = credentials->other_users;

	return user == credentials->user || user == others[0] || user == others[1] ||
	       user == others[2];
}

static bool may_be_group(const struct process_credentials *credentials, gid_t group)
{
	const gid_t *others = credentials->other_groups;

	if (group == credentials->group || group == others[0] || group == others[1] ||
	    group == others[2])
		return true;
	for (size_t i = 0; i < credentials->group_count; i++)
		if (group == credentials->groups[i])
			return true;
	return false;
}

int credentials_set_capabilities(uint64_t effective, uint64_t permitted)
{
	struct __user_cap_header_struct header = { .version = _LINUX_CAPABILITY_VERSION_3 };
	struct __user_cap_data_struct data[2] = {
		{ .effective = (uint32_t)effective, .permitted = (uint32_t)permitted },
		{ .effective = (uint32_t)(effective >> 32),
		  .permitted = (uint32_t)(permitted >> 32) },
	};

	return syscall(SYS_capset, &header, data) ? -errno : 0;
}

bool process_credentials_may_become(const struct process_credentials *before,
				    const struct process_credentials *after)
{
	bool sets_users = before->permitted >> CAP_SETUID & 1;
	bool sets_groups = before->permitted >> CAP_SETGID & 1;

	if (after->permitted & ~before->permitted)
		return false;
	if (!sets_users && !may_be_user(before, after->user))
		return false;
	if (!sets_groups && !may_be_group(before, after->group))
		return false;
	for (size_t i = 0; i < after->group_count && !sets_groups; i++)
		if (!may_be_group(before, after->groups[i]))
			return false;
	return true;
}

/* SPDX-License-Identifier: Apache-2.0 */
#include "daemon/target_source.h"

#include "attach/procfs.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static bool same_link(pid_t pid, const char *link)
{
	char ours[64], theirs[64];
	struct stat a, b;

	snprintf(ours, sizeof(ours), "/proc/self/%s", link);
	snprintf(theirs, sizeof(theirs), "/proc/%d/%s", pid, link);
	return !stat(ours, &a) && !stat(theirs, &b) && a.st_dev == b.st_dev && a.st_ino == b.st_ino;
}

void target_source_init(struct target_source *source, pid_t pid)
{
	char link[64], root[PATH_MAX];
	const char *directory;
	ssize_t length;

	*source = (struct target_source){ .pid = pid };
	source->same_root = same_link(pid, "ns/mnt") && same_link(pid, "root");
	snprintf(link, sizeof(link), "/proc/%d/cwd", pid);
	length = readlink(link, source->directory, sizeof(source->directory) - 1);
	source->directory[length > 0 ? length : 0] = '\0';
	procfs_read_root(pid, root, sizeof(root));
	directory = procfs_path_in_root(source->directory, root);
	memmove(source->directory, directory, strlen(directory) + 1);
}

int target_source_open(void *context, const char *path)
{
	const struct target_source *source = context;
	char full[PATH_MAX];
	int fd;

	if (snprintf(full, sizeof(full), "%s%s%s", path[0] == '/' ? "" : source->directory,
		     path[0] == '/' ? "" : "/", path) >= (int)sizeof(full))
		return -ENAMETOOLONG;
	fd = procfs_open_in_target(source->pid, full);
	/* The process may have ended, its files have not. */
	if (fd < 0 && source->same_root) {
		fd = open(full, O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK);
		fd = fd < 0 ? -errno : fd;
	}
	return fd;
}

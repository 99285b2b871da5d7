/* SPDX-License-Identifier: Apache-2.0 */
#include "symbolize/root_file.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/openat2.h>
#include <stdint.h>
#include <stdio.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

/* A descriptor for nothing but asking what the path is. */
static int locate(int root, const char *path, enum root_link link)
{
	int flags = O_PATH | O_CLOEXEC | (link == ROOT_LINK_REFUSE ? O_NOFOLLOW : 0);
	struct open_how how = { .flags = (uint64_t)flags,
				.resolve = RESOLVE_IN_ROOT | RESOLVE_NO_MAGICLINKS };
	long fd;

	if (root == ROOT_OWN)
		fd = open(path, flags);
	else
		fd = syscall(SYS_openat2, root, path, &how, sizeof(how));
	return fd < 0 ? -errno : (int)fd;
}

int root_file_open(int root, const char *path, enum root_link link)
{
	char located_path[32];
	struct stat status;
	int located, fd;

	if (path[0] != '/')
		return -EINVAL;
	located = locate(root, path, link);
	if (located < 0)
		return located;
	if (fstat(located, &status) < 0) {
		fd = -errno;
	} else if (S_ISLNK(status.st_mode)) {
		fd = -ELOOP;
	} else if (!S_ISREG(status.st_mode)) {
		fd = -EINVAL;
	} else {
		(void)snprintf(located_path, sizeof(located_path), "/proc/self/fd/%d", located);
		fd = open(located_path, O_RDONLY | O_CLOEXEC | O_NOCTTY);
		if (fd < 0)
			fd = -errno;
	}
	close(located);
	return fd;
}

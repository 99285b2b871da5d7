/* SPDX-License-Identifier: Apache-2.0 */
#include "attach/mapped_file.h"

#include "attach/procfs.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>

static int open_path(const struct mapped_files *files, const struct mapping *mapping)
{
	int root = procfs_open_root(files->pid), fd;
	struct process_credentials as;
	struct stat status;
	mode_t needed = 0;

	if (root < 0)
		return root;
	fd = procfs_read_credentials(files->pid, &as);
	if (!fd)
		fd = impersonator_open(files->impersonator, &as, root, mapping->path,
				       ROOT_LINK_FOLLOW);
	if (fd == IMPERSONATOR_REFUSED) {
		/* What everybody may read, we may read for it. */
		fd = root_file_open(root, mapping->path, ROOT_LINK_FOLLOW);
		needed = S_IROTH;
	}
	close(root);
	/* The device differs on overlay and btrfs mounts although the file is the same; the inode
	 * does not. */
	if (fd >= 0 && (fstat(fd, &status) || status.st_ino != mapping->inode ||
			(status.st_mode & needed) != needed)) {
		close(fd);
		return -ESTALE;
	}
	return fd;
}

/* The program itself needs no privilege but to look at the target, and may have been deleted. */
static int open_program(pid_t tid, const struct mapping *mapping)
{
	struct stat status;
	char path[64];
	int fd;

	snprintf(path, sizeof(path), "/proc/%d/exe", tid);
	fd = root_file_open_magic(path);
	if (fd >= 0 && (fstat(fd, &status) || status.st_ino != mapping->inode)) {
		close(fd);
		return -ESTALE;
	}
	return fd;
}

static int open_mapped(void *context, const struct mapping *mapping)
{
	const struct mapped_files *files = context;
	pid_t tid = procfs_living_thread(files->pid);
	struct stat status;
	char path[128];
	int fd, program;

	if (!mapping->inode)
		return -ENOENT;
	snprintf(path, sizeof(path), "/proc/%d/map_files/%" PRIx64 "-%" PRIx64, tid, mapping->start,
		 mapping->end);
	fd = root_file_open_magic(path);
	/* A thread's number, which may be another's by now. */
	if (fd >= 0 && tid != files->pid &&
	    (fstat(fd, &status) || status.st_ino != mapping->inode)) {
		close(fd);
		return -ESTALE;
	}
	/* What is no regular file there is none by its path either. */
	if (fd >= 0 || fd == -EINVAL)
		return fd;
	if (!mapping->deleted)
		fd = open_path(files, mapping);
	if (fd >= 0)
		return fd;
	program = open_program(tid, mapping);
	return program >= 0 ? program : fd;
}

struct mapping_opener mapped_files_opener(const struct mapped_files *files)
{
	return (struct mapping_opener){ .open = open_mapped, .context = (void *)(uintptr_t)files };
}

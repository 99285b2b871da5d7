/* SPDX-License-Identifier: Apache-2.0 */
#include "attach/target_files.h"

#include "attach/procfs.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static void read_working_directory(struct target_files *files)
{
	char link[PROCFS_PATH_SIZE], root[PATH_MAX];
	const char *directory;
	ssize_t length;

	procfs_living_path(link, files->pid, "cwd");
	length = readlink(link, files->directory, sizeof(files->directory) - 1);
	files->directory[length > 0 ? length : 0] = '\0';
	procfs_read_root(files->pid, root, sizeof(root));
	directory = procfs_path_in_root(files->directory, root);
	memmove(files->directory, directory, strlen(directory) + 1);
}

static bool same_link(pid_t pid, const char *link)
{
	char ours[64], theirs[PROCFS_PATH_SIZE];
	struct stat a, b;

	snprintf(ours, sizeof(ours), "/proc/self/%s", link);
	procfs_living_path(theirs, pid, link);
	return !stat(ours, &a) && !stat(theirs, &b) && a.st_dev == b.st_dev && a.st_ino == b.st_ino;
}

void target_files_init(struct target_files *files, pid_t pid, struct impersonator *impersonator)
{
	int root = procfs_open_root(pid);
	struct process_times times;

	*files = (struct target_files){ .pid = pid,
					.root = root < 0 ? -1 : root,
					.impersonator = impersonator };
	if (!procfs_read_times(pid, 0, &times))
		files->start_time = times.start_time;
	files->same_mounts = same_link(pid, "ns/mnt");
	files->same_root = files->same_mounts && same_link(pid, "root");
	pthread_mutex_init(&files->lock, NULL);
	read_working_directory(files);
	target_files_look(files);
}

void target_files_deinit(struct target_files *files)
{
	if (files->root >= 0)
		close(files->root);
	pthread_mutex_destroy(&files->lock);
}

static bool is_alive(const struct target_files *files)
{
	struct process_times times;

	return !procfs_read_times(files->pid, 0, &times) && times.start_time == files->start_time &&
	       !procfs_has_ended(files->pid, times.state);
}

void target_files_look(struct target_files *files)
{
	struct process_credentials now;
	struct process_times times;

	/* In this order: who is alive now was so before. */
	if (procfs_read_credentials(files->pid, &now) || procfs_read_times(files->pid, 0, &times) ||
	    times.start_time != files->start_time)
		return;
	pthread_mutex_lock(&files->lock);
	if (!files->credentials_known || process_credentials_may_become(&files->credentials, &now))
		files->credentials = now;
	files->credentials_known = true;
	pthread_mutex_unlock(&files->lock);
}

static int open_as_target(void *context, int root, const char *path, enum root_link link)
{
	struct target_files *files = context;
	struct process_credentials as;
	bool known;

	target_files_look(files);
	pthread_mutex_lock(&files->lock);
	known = files->credentials_known;
	if (known)
		as = files->credentials;
	pthread_mutex_unlock(&files->lock);
	return known ? impersonator_open(files->impersonator, &as, root, path, link)
		     : IMPERSONATOR_REFUSED;
}

struct file_opener target_files_opener(struct target_files *files)
{
	return (struct file_opener){ .open = open_as_target, .context = files };
}

int target_files_open_source(void *context, const char *name)
{
	struct target_files *files = context;
	char path[PATH_MAX];
	int fd;

	if (files->root < 0)
		return -ENOENT;
	if (snprintf(path, sizeof(path), "%s%s%s", name[0] == '/' ? "" : files->directory,
		     name[0] == '/' ? "" : "/", name) >= (int)sizeof(path))
		return -ENAMETOOLONG;
	fd = open_as_target(files, files->root, path, ROOT_LINK_FOLLOW);
	/* Alive now, the target was so when the file was opened. */
	if (fd >= 0 && !files->same_mounts && !is_alive(files)) {
		close(fd);
		return -ESRCH;
	}
	return fd;
}

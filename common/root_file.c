/* SPDX-License-Identifier: Apache-2.0 */
#include "common/root_file.h"

#include "common/whole_file.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <limits.h>
#include <linux/magic.h>
#include <linux/openat2.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/vfs.h>
#include <unistd.h>

#define LINKS_MAX       40 /* as the kernel follows in one path */
#define DEPTH_MAX       256
#define LOCKS_BYTES_MAX (1u << 20) /* read of /proc/locks */

/*
 * Whether somebody holds a lease on the file that opening it would break. The
 * kernel then sends the holder SIGIO, which ends a process that does not expect it.
 * Numbers of devices are not compared: on overlay and btrfs stat(2) tells others.
 */
static bool is_leased(uint64_t inode)
{
	char *text, *save = NULL;
	bool found = false;
	size_t size;

	if (whole_file_read("/proc/locks", LOCKS_BYTES_MAX, &text, &size))
		return false;
	for (char *line = strtok_r(text, "\n", &save); line && !found;
	     line = strtok_r(NULL, "\n", &save)) {
		char type[16];
		uint64_t leased;

		found = sscanf(line, "%*s %15s %*s %*s %*s %*x:%*x:%" SCNu64, type, &leased) == 2 &&
			leased == inode && !strcmp(type, "LEASE");
	}
	free(text);
	return found;
}

/* Takes over located, a descriptor for nothing but asking what it is. */
static int open_located(int located)
{
	char located_path[32];
	struct stat status;
	int fd;

	if (fstat(located, &status) < 0) {
		fd = -errno;
	} else if (S_ISLNK(status.st_mode)) {
		fd = -ELOOP;
	} else if (!S_ISREG(status.st_mode)) {
		fd = -EINVAL;
	} else if (is_leased(status.st_ino)) {
		fd = -EAGAIN;
	} else {
		(void)snprintf(located_path, sizeof(located_path), "/proc/self/fd/%d", located);
		fd = open(located_path, O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK);
		if (fd < 0)
			fd = -errno;
	}
	close(located);
	return fd;
}

/* ---- name by name ---- */

/* The folders from the root down to where the walk is. */
struct walk {
	int folders[DEPTH_MAX]; /* the first is the root and is not closed */
	size_t depth;
	char rest[PATH_MAX]; /* what is still to be walked */
	unsigned links;
};

static void leave_folder(struct walk *walk)
{
	if (walk->depth > 1)
		close(walk->folders[--walk->depth]);
}

/* Links in /proc lead anywhere, whatever they read: as by RESOLVE_NO_MAGICLINKS, none is followed.
 */
static bool is_in_proc(int fd)
{
	struct statfs status;

	return fstatfs(fd, &status) || status.f_type == PROC_SUPER_MAGIC;
}

/* Puts the link's text in front of what is still to be walked. */
static int follow(struct walk *walk, int link, bool folder_wanted, const char *rest)
{
	char text[PATH_MAX], joined[PATH_MAX];
	ssize_t length;

	if (++walk->links > LINKS_MAX || is_in_proc(link))
		return -ELOOP;
	length = readlinkat(link, "", text, sizeof(text) - 1);
	if (length < 0)
		return -errno;
	text[length] = '\0';
	if (length == 0)
		return -ENOENT;
	if (snprintf(joined, sizeof(joined), "%s%s%s", text, folder_wanted ? "/" : "", rest) >=
	    (int)sizeof(joined))
		return -ENAMETOOLONG;
	if (text[0] == '/')
		while (walk->depth > 1)
			leave_folder(walk);
	memcpy(walk->rest, joined, sizeof(joined));
	return 0;
}

/* One name further. *ret_found: a descriptor of the file at the end; -1: there is more to walk. */
static int step_one_name(struct walk *walk, enum root_link link, int *ret_found)
{
	char *name = walk->rest + strspn(walk->rest, "/"), *rest = name + strcspn(name, "/");
	bool folder_wanted = *rest == '/', last;
	struct stat status;
	int fd, error = 0;

	while (*rest == '/')
		*rest++ = '\0';
	last = !*rest;
	*ret_found = -1;
	if (!*name)
		return -EISDIR;
	if (!strcmp(name, "..")) {
		leave_folder(walk);
	} else if (strcmp(name, ".") != 0) {
		fd = openat(walk->folders[walk->depth - 1], name, O_PATH | O_NOFOLLOW | O_CLOEXEC);
		if (fd < 0)
			return -errno;
		if (fstat(fd, &status) < 0) {
			error = -errno;
		} else if (S_ISLNK(status.st_mode) && !(last && link == ROOT_LINK_REFUSE)) {
			char remaining[PATH_MAX];

			memcpy(remaining, rest, strlen(rest) + 1);
			error = follow(walk, fd, folder_wanted, remaining);
			close(fd);
			return error;
		} else if (S_ISDIR(status.st_mode) && !last) {
			if (walk->depth == DEPTH_MAX)
				error = -ENAMETOOLONG;
			else
				walk->folders[walk->depth++] = fd;
		} else if (last && !folder_wanted) {
			*ret_found = fd;
		} else {
			error = S_ISDIR(status.st_mode) ? -EISDIR : -ENOTDIR;
		}
		if (error)
			close(fd);
	}
	if (!error)
		memmove(walk->rest, rest, strlen(rest) + 1);
	return error;
}

static int locate_by_steps(int root, const char *path, enum root_link link)
{
	struct walk walk = { .folders = { root }, .depth = 1 };
	int found = -1, error = 0;

	if (strlen(path) >= sizeof(walk.rest))
		return -ENAMETOOLONG;
	memcpy(walk.rest, path, strlen(path) + 1);
	while (!error && found < 0)
		error = step_one_name(&walk, link, &found);
	while (walk.depth > 1)
		leave_folder(&walk);
	/* A folder: asked for as such, or at the end of "..". */
	return error == -EISDIR ? -EINVAL : error ? error : found;
}

/* ---- in one call ---- */

static int locate(int root, const char *path, enum root_link link)
{
	int flags = O_PATH | O_CLOEXEC | (link == ROOT_LINK_REFUSE ? O_NOFOLLOW : 0);
	struct open_how how = { .flags = (uint64_t)flags,
				.resolve = RESOLVE_IN_ROOT | RESOLVE_NO_MAGICLINKS };
	unsigned attempts = 0;
	long fd;

	/* Somebody renames while ".." is resolved: the kernel then asks for another try. */
	do
		fd = syscall(SYS_openat2, root, path, &how, sizeof(how));
	while (fd < 0 && errno == EAGAIN && ++attempts < LINKS_MAX);
	return fd < 0 ? -errno : (int)fd;
}

static int open_below(int root, const char *path, enum root_link link)
{
	int located = locate(root, path, link);

	/* A kernel before 5.6; a filter, which says one or the other. */
	if (located == -ENOSYS || located == -EPERM || located == -EAGAIN)
		located = locate_by_steps(root, path, link);
	return located < 0 ? located : open_located(located);
}

int root_file_open_by_steps(int root, const char *path, enum root_link link)
{
	int located = path[0] == '/' ? locate_by_steps(root, path, link) : -EINVAL;

	return located < 0 ? located : open_located(located);
}

int root_file_open(int root, const char *path, enum root_link link)
{
	int own, fd;

	if (path[0] != '/')
		return -EINVAL;
	if (root != ROOT_OWN)
		return open_below(root, path, link);
	own = open("/", O_PATH | O_DIRECTORY | O_CLOEXEC);
	if (own < 0)
		return -errno;
	fd = open_below(own, path, link);
	close(own);
	return fd;
}

int root_file_open_magic(const char *path)
{
	int located = open(path, O_PATH | O_CLOEXEC);

	return located < 0 ? -errno : open_located(located);
}

int file_opener_open(const struct file_opener *opener, int root, const char *path,
		     enum root_link link)
{
	if (opener && opener->open)
		return opener->open(opener->context, root, path, link);
	return root_file_open(root, path, link);
}

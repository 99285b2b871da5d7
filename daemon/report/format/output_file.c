/* SPDX-License-Identifier: Apache-2.0 */
#include "daemon/report/format/output_file.h"

#include <errno.h>
#include <fcntl.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <unistd.h>

#define NAMES_TRIED_MAX 100

struct content {
	int (*put)(void *context, FILE *file);
	void *context;
};

/* A whole decimal number in the environment, as sudo sets it. */
static bool environment_id(const char *name, unsigned *ret_id)
{
	const char *text = getenv(name);
	unsigned long value;
	char *end;

	if (!text || *text < '0' || *text > '9')
		return false;
	errno = 0;
	value = strtoul(text, &end, 10);
	/* The highest id means "unchanged" to chown. */
	if (errno || *end || value >= UINT32_MAX)
		return false;
	*ret_id = (unsigned)value;
	return true;
}

/* The file belongs to who called sudo: they are to read it. */
static void give_to_sudo_user(int fd)
{
	unsigned user, group;

	if (geteuid() != 0 || !environment_id("SUDO_UID", &user) ||
	    !environment_id("SUDO_GID", &group))
		return;
	/* On a file system that refuses it, the report stays root's. */
	if (fchown(fd, user, group) < 0)
		return;
}

/* Writes to the descriptor and closes it, also on failure. */
static int put_content(const struct content *content, int fd)
{
	FILE *file = fdopen(fd, "w");
	int result;

	if (!file) {
		result = -errno;
		close(fd);
		return result;
	}
	errno = 0;
	result = content->put(content->context, file);
	if (result == -EIO && errno)
		result = -errno; /* EPIPE, ENOSPC: what the stream met on its way */
	/* What is still in the buffer, or a full disk on NFS, shows here. */
	if (fflush(file) != 0 && result == 0)
		result = -errno;
	if (fclose(file) != 0 && result == 0)
		result = -errno;
	return result;
}

static int put_stdout(const struct content *content)
{
	int fd;

	if (fflush(stdout) != 0)
		return -errno;
	fd = fcntl(STDOUT_FILENO, F_DUPFD_CLOEXEC, 0);
	return fd < 0 ? -errno : put_content(content, fd);
}

/* name ends with room for six characters. */
static void choose_name(char *name)
{
	static const char characters[] =
		"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789";
	uint64_t random = 0;

	(void)!getrandom(&random, sizeof(random), 0);
	for (char *at = name + strlen(name) - 6; *at; at++) {
		*at = characters[random % (sizeof(characters) - 1)];
		random /= sizeof(characters) - 1;
	}
}

/* A file without a name gets one beside path, of which it is to take the place. */
static int name_file(int fd, char *temporary)
{
	char self[32];

	snprintf(self, sizeof(self), "/proc/self/fd/%d", fd);
	for (unsigned i = 0; i < NAMES_TRIED_MAX; i++) {
		choose_name(temporary);
		if (!linkat(AT_FDCWD, self, AT_FDCWD, temporary, AT_SYMLINK_FOLLOW))
			return 0;
		if (errno != EEXIST)
			break;
	}
	return -errno;
}

/* A descriptor of a file without a name in path's folder, or a negative errno. */
static int open_nameless(const char *path)
{
	const char *slash = strrchr(path, '/');
	char *folder = slash ? strndup(path, (size_t)(slash - path) + 1) : strdup(".");
	int fd = -ENOMEM;

	if (folder)
		fd = open(folder, O_TMPFILE | O_WRONLY | O_CLOEXEC, 0600);
	if (folder && fd < 0)
		fd = -errno;
	free(folder);
	return fd;
}

/* The file has a name only once it is complete. *ret_named: it has it. */
static int put_nameless(const struct content *content, int fd, char *temporary, bool *ret_named)
{
	int kept = fcntl(fd, F_DUPFD_CLOEXEC, 0), result;

	if (kept < 0) {
		result = -errno;
		close(fd);
		return result;
	}
	result = put_content(content, fd);
	if (!result)
		result = name_file(kept, temporary);
	*ret_named = !result;
	close(kept);
	return result;
}

static int put_beside(const struct content *content, const char *path)
{
	static const char suffix[] = ".XXXXXX";
	size_t length = strlen(path);
	char *temporary = malloc(length + sizeof(suffix));
	bool named = true;
	int fd, result;

	if (!temporary)
		return -ENOMEM;
	memcpy(temporary, path, length);
	memcpy(temporary + length, suffix, sizeof(suffix));
	fd = open_nameless(path);
	if (fd >= 0) {
		give_to_sudo_user(fd);
		result = put_nameless(content, fd, temporary, &named);
	} else {
		/* Not every file system has files without a name. */
		fd = mkostemp(temporary, O_CLOEXEC); /* mode 0600 */
		result = fd < 0 ? -errno : 0;
		named = fd >= 0;
		if (fd >= 0) {
			give_to_sudo_user(fd);
			result = put_content(content, fd);
		}
	}
	if (result == 0 && rename(temporary, path) < 0)
		result = -errno;
	if (result < 0 && named)
		(void)unlink(temporary);
	free(temporary);
	return result;
}

bool output_file_is_replaced(const char *path)
{
	struct stat status;

	return strcmp(path, "-") != 0 && (lstat(path, &status) != 0 || S_ISREG(status.st_mode));
}

int output_file_write(const char *path, int (*put)(void *context, FILE *file), void *context)
{
	const struct content content = { put, context };
	struct stat status;
	int fd;

	if (strcmp(path, "-") == 0)
		return put_stdout(&content);
	if (output_file_is_replaced(path))
		return *path ? put_beside(&content, path) : -ENOENT;
	/*
	 * Root must not replace /dev/stdout, nor follow a link that somebody
	 * else left in /tmp; a FIFO or device is written to.
	 */
	if (lstat(path, &status) < 0)
		return -errno;
	if (S_ISLNK(status.st_mode))
		return -ELOOP;
	if (S_ISDIR(status.st_mode))
		return -EISDIR;
	fd = open(path, O_WRONLY | O_NOFOLLOW | O_NOCTTY | O_CLOEXEC);
	return fd < 0 ? -errno : put_content(&content, fd);
}

/* In the folder of a file that is to be made or replaced. */
static int check_beside(const char *path)
{
	static const char suffix[] = ".XXXXXX";
	size_t length = strlen(path);
	char *temporary;
	int fd = open_nameless(path);

	if (fd >= 0) {
		close(fd);
		return 0;
	}
	temporary = malloc(length + sizeof(suffix));
	if (!temporary)
		return -ENOMEM;
	memcpy(temporary, path, length);
	memcpy(temporary + length, suffix, sizeof(suffix));
	fd = mkostemp(temporary, O_CLOEXEC);
	if (fd < 0)
		fd = -errno;
	else
		(void)unlink(temporary);
	free(temporary);
	if (fd < 0)
		return fd;
	close(fd);
	return 0;
}

int output_file_check(const char *path)
{
	struct stat status;

	if (strcmp(path, "-") == 0)
		return 0;
	if (output_file_is_replaced(path))
		return *path ? check_beside(path) : -ENOENT;
	if (lstat(path, &status) < 0)
		return -errno;
	if (S_ISLNK(status.st_mode))
		return -ELOOP;
	if (S_ISDIR(status.st_mode))
		return -EISDIR;
	/* Opening a FIFO would wait for its reader. */
	return faccessat(AT_FDCWD, path, W_OK, AT_EACCESS) ? -errno : 0;
}

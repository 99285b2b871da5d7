/* SPDX-License-Identifier: Apache-2.0 */
#include "daemon/report/writer.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static const struct writer *const writers[] = {
	&writer_text,       &writer_json,    &writer_collapsed, &writer_pprof,
	&writer_speedscope, &writer_firefox, &writer_html,
};

#define WRITER_COUNT (sizeof(writers) / sizeof(writers[0]))

const struct writer *writer_by_name(const char *name)
{
	for (size_t i = 0; i < WRITER_COUNT; i++)
		if (strcmp(writers[i]->name, name) == 0)
			return writers[i];
	return NULL;
}

const struct writer *writer_by_path(const char *path)
{
	size_t length = strlen(path), longest = 0;
	const struct writer *found = NULL;

	if (strcmp(path, "-") == 0)
		return &writer_text;
	/* The longest extension: ".speedscope.json" goes before ".json". */
	for (size_t i = 0; i < WRITER_COUNT; i++) {
		size_t extension = strlen(writers[i]->extension);

		if (length <= extension || extension <= longest ||
		    strcmp(path + length - extension, writers[i]->extension) != 0)
			continue;
		found = writers[i];
		longest = extension;
	}
	return found;
}

void writer_names(FILE *file)
{
	for (size_t i = 0; i < WRITER_COUNT; i++)
		fprintf(file, "%s%s", i ? ", " : "", writers[i]->name);
}

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

/* Writes and closes the stream, also on failure. */
static int write_stream(const struct writer *writer, const struct profile *profile,
			const struct writer_options *options, FILE *file)
{
	int result;

	errno = 0;
	result = writer->write(profile, options, file);
	if (result == -EIO && errno)
		result = -errno; /* EPIPE, ENOSPC: what the stream met on its way */
	/* What is still in the buffer, or a full disk on NFS, shows here. */
	if (fflush(file) != 0 && result == 0)
		result = -errno;
	if (fclose(file) != 0 && result == 0)
		result = -errno;
	return result;
}

static int write_descriptor(const struct writer *writer, const struct profile *profile,
			    const struct writer_options *options, int fd)
{
	FILE *file = fdopen(fd, "w");

	if (!file) {
		int result = -errno;

		close(fd);
		return result;
	}
	return write_stream(writer, profile, options, file);
}

static int write_stdout(const struct writer *writer, const struct profile *profile,
			const struct writer_options *options)
{
	int fd;

	if (fflush(stdout) != 0)
		return -errno;
	fd = fcntl(STDOUT_FILENO, F_DUPFD_CLOEXEC, 0);
	return fd < 0 ? -errno : write_descriptor(writer, profile, options, fd);
}

static int write_beside(const struct writer *writer, const struct profile *profile,
			const struct writer_options *options, const char *path)
{
	static const char suffix[] = ".XXXXXX";
	size_t length = strlen(path);
	char *temporary = malloc(length + sizeof(suffix));
	int fd, result;

	if (!temporary)
		return -ENOMEM;
	memcpy(temporary, path, length);
	memcpy(temporary + length, suffix, sizeof(suffix));
	fd = mkostemp(temporary, O_CLOEXEC); /* mode 0600 */
	if (fd < 0) {
		result = -errno;
		free(temporary);
		return result;
	}
	give_to_sudo_user(fd);
	result = write_descriptor(writer, profile, options, fd);
	if (result == 0 && rename(temporary, path) < 0)
		result = -errno;
	if (result < 0)
		(void)unlink(temporary);
	free(temporary);
	return result;
}

int writer_write_file(const struct writer *writer, const struct profile *profile,
		      const struct writer_options *options, const char *path)
{
	struct writer_options plain = *options;
	struct stat status;

	if (strcmp(path, "-") == 0)
		return write_stdout(writer, profile, options);
	plain.colour = false;
	if (lstat(path, &status) == 0 && !S_ISREG(status.st_mode)) {
		int fd;

		/*
		 * Root must not replace /dev/stdout, nor follow a link that
		 * somebody else left in /tmp; a FIFO or device is written to.
		 */
		if (S_ISLNK(status.st_mode))
			return -ELOOP;
		if (S_ISDIR(status.st_mode))
			return -EISDIR;
		fd = open(path, O_WRONLY | O_NOFOLLOW | O_NOCTTY | O_CLOEXEC);
		return fd < 0 ? -errno : write_descriptor(writer, profile, &plain, fd);
	}
	return write_beside(writer, profile, &plain, path);
}

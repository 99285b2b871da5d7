/* SPDX-License-Identifier: Apache-2.0 */
#include "daemon/push/spool.h"

#include "common/array.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>
#include <zlib.h>

#define MAGIC       "pieprofd push 1\n" /* 16 bytes */
#define MAGIC_BYTES 16
#define PARTIAL     "partial"
#define NAME_DIGITS 20
#define NAME_BYTES  32

/* ---- a file */

void spool_header_put(unsigned char header[SPOOL_HEADER_BYTES], const void *body, size_t size)
{
	uint32_t length = (uint32_t)size, sum = (uint32_t)crc32(0, body, (uInt)size);

	memcpy(header, MAGIC, MAGIC_BYTES);
	memcpy(header + MAGIC_BYTES, &length, sizeof(length));
	memcpy(header + MAGIC_BYTES + sizeof(length), &sum, sizeof(sum));
}

size_t spool_entry_body(const void *bytes, size_t size)
{
	unsigned char header[SPOOL_HEADER_BYTES];

	if (size <= SPOOL_HEADER_BYTES || size - SPOOL_HEADER_BYTES > SPOOL_ENTRY_BYTES_MAX)
		return 0;
	spool_header_put(header, (const char *)bytes + SPOOL_HEADER_BYTES,
			 size - SPOOL_HEADER_BYTES);
	return memcmp(header, bytes, sizeof(header)) == 0 ? SPOOL_HEADER_BYTES : 0;
}

static const char *entry_name(const struct spool *spool, const struct spool_entry *entry,
			      char name[NAME_BYTES])
{
	snprintf(name, NAME_BYTES, "%0*" PRIu64 "%.8s", NAME_DIGITS, entry->number, spool->suffix);
	return name;
}

/* ---- the folder */

static int by_number(const void *a, const void *b)
{
	uint64_t first = ((const struct spool_entry *)a)->number;
	uint64_t second = ((const struct spool_entry *)b)->number;

	return (first > second) - (first < second);
}

static bool is_entry(const struct spool *spool, const char *name)
{
	return strspn(name, "0123456789") == NAME_DIGITS &&
	       !strcmp(name + NAME_DIGITS, spool->suffix);
}

static int note_entry(struct spool *spool, const char *name)
{
	struct spool_entry entry;
	struct stat status;

	if (!is_entry(spool, name) || fstatat(spool->folder, name, &status, AT_SYMLINK_NOFOLLOW) ||
	    !S_ISREG(status.st_mode))
		return 0;
	if (!ARRAY_ROOM(spool->entries, spool->count, spool->capacity))
		return -ENOMEM;
	entry = (struct spool_entry){ strtoull(name, NULL, 10), (uint64_t)status.st_size };
	spool->entries[spool->count++] = entry;
	spool->bytes += entry.bytes;
	return 0;
}

int spool_look(struct spool *spool)
{
	int copy = openat(spool->folder, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	DIR *folder = copy < 0 ? NULL : fdopendir(copy);
	const struct dirent *item;
	int result = 0;

	spool->count = 0;
	spool->bytes = 0;
	if (!folder) {
		result = -errno;
		if (copy >= 0)
			close(copy);
		return result;
	}
	while (!result && (item = readdir(folder)))
		result = note_entry(spool, item->d_name);
	(void)closedir(folder);
	if (spool->count)
		qsort(spool->entries, spool->count, sizeof(spool->entries[0]), by_number);
	if (spool->count && spool->next <= spool->entries[spool->count - 1].number)
		spool->next = spool->entries[spool->count - 1].number + 1;
	return result;
}

static int make_temporary(struct spool *spool)
{
	const char *folder = getenv("TMPDIR");

	if (asprintf(&spool->path, "%s/pieprofd-push-XXXXXX",
		     folder && folder[0] == '/' ? folder : "/tmp") < 0) {
		spool->path = NULL;
		return -ENOMEM;
	}
	if (!mkdtemp(spool->path))
		return -errno;
	spool->temporary = true;
	return 0;
}

/* NULL: it is ours, and nobody else may put anything there. */
static const char *objection(int folder)
{
	struct stat status;

	if (fstat(folder, &status))
		return strerror(errno);
	if (status.st_uid != geteuid())
		return "it belongs to another user";
	if (status.st_mode & (S_IWGRP | S_IWOTH))
		return "others may write there";
	return NULL;
}

static int refuse(const struct spool *spool, struct error *error, const char *why)
{
	error_set(error, EXIT_USAGE, "--push-spool %s: %s", spool->path ? spool->path : "", why);
	error_set_cure(error, "It is a folder of pieprofd's own, one for each that pushes.");
	return -1;
}

static int open_folder(struct spool *spool, struct error *error)
{
	const char *why;

	spool->folder = open(spool->path, O_RDONLY | O_DIRECTORY | O_CLOEXEC | O_NOFOLLOW);
	if (spool->folder < 0)
		return refuse(spool, error, strerror(errno));
	why = objection(spool->folder);
	if (why)
		return refuse(spool, error, why);
	spool->lock =
		openat(spool->folder, "lock", O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0600);
	if (spool->lock < 0)
		return refuse(spool, error, strerror(errno));
	if (flock(spool->lock, LOCK_EX | LOCK_NB))
		return refuse(spool, error,
			      errno == EWOULDBLOCK ? "another pieprofd pushes from there"
						   : strerror(errno));
	(void)unlinkat(spool->folder, PARTIAL, 0);
	return spool_look(spool) ? refuse(spool, error, "it cannot be read") : 0;
}

int spool_open(struct spool *spool, const char *path, const char *suffix, struct error *error)
{
	int result = 0;

	*spool = (struct spool){
		.folder = -1, .lock = -1, .suffix = suffix, .bytes_max = SPOOL_BYTES_MAX
	};
	if (!path)
		result = make_temporary(spool);
	else if (!(spool->path = strdup(path)))
		result = -ENOMEM;
	else if (mkdir(path, 0700) && errno != EEXIST)
		result = -errno;
	if (result)
		result = refuse(spool, error, strerror(-result));
	else
		result = open_folder(spool, error);
	if (result)
		spool_close(spool);
	return result;
}

void spool_close(struct spool *spool)
{
	if (spool->temporary && !spool->count && spool->folder >= 0) {
		(void)unlinkat(spool->folder, "lock", 0);
		(void)rmdir(spool->path);
	}
	if (spool->lock >= 0)
		close(spool->lock);
	if (spool->folder >= 0)
		close(spool->folder);
	free(spool->path);
	free(spool->entries);
	*spool = (struct spool){ .folder = -1, .lock = -1 };
}

/* ---- requests */

static void forget(struct spool *spool, size_t index)
{
	char name[NAME_BYTES];

	(void)unlinkat(spool->folder, entry_name(spool, &spool->entries[index], name), 0);
	spool->bytes -= spool->entries[index].bytes;
	spool->count--;
	memmove(&spool->entries[index], &spool->entries[index + 1],
		(spool->count - index) * sizeof(spool->entries[0]));
}

static void give_way(struct spool *spool)
{
	forget(spool, 0);
	spool->gave_way++;
}

static int put_all(int file, const void *bytes, size_t size)
{
	const char *at = bytes;

	while (size > 0) {
		ssize_t written = write(file, at, size);

		if (written < 0 && errno == EINTR)
			continue;
		if (written <= 0)
			return written ? -errno : -EIO;
		at += written;
		size -= (size_t)written;
	}
	return 0;
}

static int write_entry(struct spool *spool, const struct spool_entry *entry, const void *bytes,
		       size_t size)
{
	unsigned char header[SPOOL_HEADER_BYTES];
	char name[NAME_BYTES];
	int file = openat(spool->folder, PARTIAL,
			  O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC | O_NOFOLLOW, 0600);
	int result;

	if (file < 0)
		return -errno;
	spool_header_put(header, bytes, size);
	result = put_all(file, header, sizeof(header));
	if (!result)
		result = put_all(file, bytes, size);
	if (!result && fdatasync(file))
		result = -errno;
	if (close(file) && !result)
		result = -errno;
	if (!result &&
	    renameat(spool->folder, PARTIAL, spool->folder, entry_name(spool, entry, name)))
		result = -errno;
	if (result)
		(void)unlinkat(spool->folder, PARTIAL, 0);
	return result;
}

static bool has_number(const struct spool *spool, uint64_t number)
{
	for (size_t i = spool->count; i-- > 0 && spool->entries[i].number >= number;)
		if (spool->entries[i].number == number)
			return true;
	return false;
}

int spool_add(struct spool *spool, uint64_t number, const void *bytes, size_t size)
{
	struct spool_entry entry = { number, size + SPOOL_HEADER_BYTES };
	int result;

	if (!size || size > SPOOL_ENTRY_BYTES_MAX || entry.bytes > spool->bytes_max)
		return -EMSGSIZE;
	if (has_number(spool, number))
		return 0;
	while (spool->count &&
	       (spool->count >= SPOOL_ENTRIES_MAX || spool->bytes + entry.bytes > spool->bytes_max))
		give_way(spool);
	if (!ARRAY_ROOM(spool->entries, spool->count, spool->capacity))
		return -ENOMEM;
	/* In order also when the clock was set back. */
	if (entry.number < spool->next)
		entry.number = spool->next;
	spool->next = entry.number + 1;
	/* A full disk: the newest say more than the oldest. */
	while ((result = write_entry(spool, &entry, bytes, size)) == -ENOSPC && spool->count)
		give_way(spool);
	if (result)
		return result;
	spool->entries[spool->count++] = entry;
	spool->bytes += entry.bytes;
	return 0;
}

/* All of the file, with its header. */
static int read_entry(const struct spool *spool, const struct spool_entry *entry, char **ret_bytes)
{
	char name[NAME_BYTES], *bytes;
	size_t done = 0, size = (size_t)entry->bytes;
	int file;

	if (entry->bytes <= SPOOL_HEADER_BYTES ||
	    entry->bytes > SPOOL_ENTRY_BYTES_MAX + SPOOL_HEADER_BYTES)
		return -EBADMSG;
	bytes = malloc(size);
	if (!bytes)
		return -ENOMEM;
	file = openat(spool->folder, entry_name(spool, entry, name),
		      O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);
	while (file >= 0 && done < size) {
		ssize_t got = read(file, bytes + done, size - done);

		if (got < 0 && errno == EINTR)
			continue;
		if (got <= 0)
			break;
		done += (size_t)got;
	}
	if (file >= 0)
		close(file);
	if (done < size || !spool_entry_body(bytes, size)) {
		free(bytes);
		return -EBADMSG;
	}
	*ret_bytes = bytes;
	return 0;
}

int spool_read_first(struct spool *spool, void **ret_bytes, size_t *ret_size,
		     struct spool_entry *ret_entry)
{
	while (spool->count) {
		struct spool_entry entry = spool->entries[0];
		char *bytes = NULL;
		int result = read_entry(spool, &entry, &bytes);

		if (result == -ENOMEM)
			return result;
		if (result) {
			forget(spool, 0);
			spool->damaged++;
			continue;
		}
		*ret_size = (size_t)entry.bytes - SPOOL_HEADER_BYTES;
		*ret_bytes = bytes;
		*ret_entry = entry;
		return 0;
	}
	return -ENOENT;
}

void spool_remove(struct spool *spool, const struct spool_entry *entry)
{
	for (size_t i = 0; i < spool->count; i++)
		if (spool->entries[i].number == entry->number) {
			forget(spool, i);
			return;
		}
}

/* SPDX-License-Identifier: Apache-2.0 */
#include "daemon/report/model/source.h"

#include "common/hash.h"
#include "common/printable.h"
#include "common/whole_file.h"
#include "daemon/report/encode/sha256.h"
#include "daemon/report/encode/zip_member.h"

#include <errno.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define BUCKET_COUNT 256
/* Folders inside an archive. */
#define ARCHIVE_LEVELS_MAX 16

struct source_file {
	struct source_file *next; /* in its bucket */
	char *text;               /* NULL: cannot be read; lines end with NUL */
	uint32_t *lines;          /* where each begins in text */
	uint32_t line_count;
	bool utf8; /* all of it */
	struct source_version version;
	char path[];
};

struct source_cache {
	int (*open)(void *context, const char *path);
	struct source_memory memory;
	void *context;
	struct source_file *buckets[BUCKET_COUNT];
	size_t file_count;
	const struct source_file *readable[SOURCE_FILES_MAX]; /* in order of reading */
	size_t readable_count;
	size_t bytes; /* held, at most SOURCE_BYTES_MAX */
	struct source_refusals refusals;
};

struct source_cache *source_cache_create(int (*open)(void *context, const char *path),
					 void *context)
{
	struct source_cache *cache = calloc(1, sizeof(*cache));

	if (!cache)
		return NULL;
	cache->open = open;
	cache->context = context;
	return cache;
}

void source_cache_use_memory(struct source_cache *cache, const struct source_memory *memory)
{
	cache->memory = *memory;
}

const char *source_cache_title(const struct source_cache *cache, const char *path)
{
	return cache->memory.title && cache->context ? cache->memory.title(cache->context, path)
						     : path;
}

void source_cache_destroy(struct source_cache *cache)
{
	if (!cache)
		return;
	for (size_t i = 0; i < BUCKET_COUNT; i++) {
		struct source_file *file = cache->buckets[i];

		while (file) {
			struct source_file *next = file->next;

			free(file->text);
			free(file->lines);
			free(file);
			file = next;
		}
	}
	free(cache);
}

static size_t source_bucket_of(const char *path)
{
	return hash_bytes(path, strlen(path)) % BUCKET_COUNT;
}

/* Counts against SOURCE_BYTES_MAX. */
static void account(struct source_cache *cache, size_t bytes)
{
	size_t left = SOURCE_BYTES_MAX - cache->bytes;

	cache->bytes += bytes < left ? bytes : left;
}

static struct source_version version_of(const struct stat *status, const char *text, size_t size)
{
	struct source_version version = {
		.size = (uint64_t)status->st_size,
		.modified_unix_ns = status->st_mtim.tv_sec > 0
					    ? (uint64_t)status->st_mtim.tv_sec * 1000000000u +
						      (uint64_t)status->st_mtim.tv_nsec
					    : 0,
	};
	uint8_t digest[SHA256_BYTES];

	if (size != version.size)
		return version;
	sha256(text, size, digest);
	for (size_t i = 0; i < sizeof(digest); i++)
		snprintf(version.sha256 + 2 * i, 3, "%02x", digest[i]);
	return version;
}

/*
 * The file's first bytes, at most limit, with a NUL behind them; NULL when it
 * cannot be read. When *ret_cut, the file is longer and they end with a line.
 */
static char *read_regular(int fd, size_t limit, size_t *ret_size, bool *ret_cut,
			  struct source_version *ret_version)
{
	size_t size, used;
	ssize_t got;
	struct stat status;
	char *text;

	if (limit > SOURCE_FILE_BYTES_MAX)
		limit = SOURCE_FILE_BYTES_MAX;
	/* A device or a FIFO could block, or never end. */
	if (fstat(fd, &status) < 0 || !S_ISREG(status.st_mode) || status.st_size < 0)
		return NULL;
	size = (uint64_t)status.st_size < limit ? (size_t)status.st_size : limit;
	text = malloc(size + 1);
	if (!text)
		return NULL;
	got = whole_file_fill(fd, text, size);
	used = got > 0 ? (size_t)got : 0;
	*ret_version = version_of(&status, text, used);
	*ret_cut = (uint64_t)status.st_size > limit;
	if (*ret_cut)
		while (used > 0 && text[used - 1] != '\n' && text[used - 1] != '\r')
			used--;
	text[used] = '\0';
	*ret_size = used;
	return text;
}

/* Ends lines with NUL, in place, wherever Python does: \n, \r\n, \r. */
static size_t end_lines(char *text, size_t size)
{
	size_t used = 0, lines = 1;

	for (size_t i = 0; i < size; i++) {
		if (text[i] == '\r' && i + 1 < size && text[i + 1] == '\n')
			i++;
		if (text[i] == '\n' || text[i] == '\r') {
			text[used++] = '\0';
			lines++;
		} else {
			/* A NUL of the file's own ends no line. */
			text[used++] = text[i] ? text[i] : '?';
		}
	}
	text[used] = '\0';
	return lines;
}

static bool is_utf8(const char *text, size_t size)
{
	size_t bytes = 1;

	for (size_t i = 0; i < size && bytes; i += bytes) {
		uint32_t code_point;

		bytes = utf8_decode(text + i, size - i, &code_point);
	}
	return bytes > 0;
}

static int index_lines(struct source_file *file, size_t count)
{
	size_t at = strncmp(file->text, "\xef\xbb\xbf", 3) == 0 ? 3 : 0; /* a byte order mark */

	file->lines = malloc((count + 1) * sizeof(*file->lines));
	if (!file->lines)
		return -ENOMEM;
	for (size_t i = 0; i < count; i++) {
		file->lines[i] = (uint32_t)at;
		at += strlen(file->text + at) + 1;
	}
	file->line_count = (uint32_t)count;
	return 0;
}

/* One of a file's texts, which the archive's time goes with. */
static char *read_member(int fd, const char *name, size_t limit, size_t *ret_size,
			 struct source_version *ret_version)
{
	struct stat status;
	char *text;

	if (limit > SOURCE_FILE_BYTES_MAX)
		limit = SOURCE_FILE_BYTES_MAX;
	if (fstat(fd, &status) < 0 || !S_ISREG(status.st_mode) ||
	    zip_member_read(fd, name, limit, &text, ret_size))
		return NULL;
	status.st_size = (off_t)*ret_size;
	*ret_version = version_of(&status, text, *ret_size);
	return text;
}

/* The archive is the file on the way there, after which no more folders can come. */
static char *read_archived(struct source_cache *cache, const char *path, size_t limit,
			   size_t *ret_size, struct source_version *ret_version)
{
	char *archive = strdup(path), *slash, *text = NULL;

	for (unsigned level = 0; archive && level < ARCHIVE_LEVELS_MAX; level++) {
		int fd;

		slash = strrchr(archive, '/');
		if (!slash || slash == archive)
			break;
		*slash = '\0';
		fd = cache->open(cache->context, archive);
		if (fd == -ENOTDIR)
			continue;
		if (fd < 0)
			break;
		text = read_member(fd, path + (slash - archive) + 1, limit, ret_size, ret_version);
		close(fd);
		break;
	}
	free(archive);
	return text;
}

static char *read_file(struct source_cache *cache, const char *path, size_t limit, size_t *ret_size,
		       bool *ret_cut, struct source_version *ret_version)
{
	int fd = cache->open(cache->context, path);
	char *text;

	if (fd == -ENOTDIR)
		return read_archived(cache, path, limit, ret_size, ret_version);
	if (fd < 0) {
		cache->refusals.denied += fd == -EACCES;
		cache->refusals.refused += fd == -EKEYREJECTED;
		cache->refusals.unanswered += fd == -ETIMEDOUT;
		return NULL;
	}
	text = read_regular(fd, limit, ret_size, ret_cut, ret_version);
	close(fd);
	return text;
}

static void source_load(struct source_cache *cache, struct source_file *file)
{
	size_t size = 0, line_count, limit = SOURCE_BYTES_MAX - cache->bytes;
	bool cut = false;

	if (!cache->open || file->path[0] == '\0')
		return;
	if (cache->memory.text)
		file->text = cache->memory.text(cache->context, file->path, &size);
	if (file->text && size > limit) {
		free(file->text);
		file->text = NULL;
		return;
	}
	if (file->text)
		file->version =
			version_of(&(struct stat){ .st_size = (off_t)size }, file->text, size);
	/* "<string>", "<frozen importlib._bootstrap>" are no files. */
	else if (file->path[0] != '<' || cache->memory.text)
		file->text = read_file(cache, file->path, limit, &size, &cut, &file->version);
	if (!file->text)
		return;
	/* Also what lies behind the last line that was read whole. */
	account(cache, file->version.size < SOURCE_FILE_BYTES_MAX ? (size_t)file->version.size
								  : SOURCE_FILE_BYTES_MAX);
	file->utf8 = is_utf8(file->text, size);
	/* Behind the last line end begins one that was not read. */
	line_count = end_lines(file->text, size) - cut;
	if (index_lines(file, line_count) < 0) {
		free(file->text);
		file->text = NULL;
		return;
	}
	account(cache, line_count * sizeof(*file->lines));
	cache->readable[cache->readable_count++] = file;
}

static struct source_file *find_or_load(struct source_cache *cache, const char *path)
{
	struct source_file **bucket = &cache->buckets[source_bucket_of(path)];
	struct source_file *file;

	for (file = *bucket; file; file = file->next)
		if (strcmp(file->path, path) == 0)
			return file;
	if (cache->file_count == SOURCE_FILES_MAX)
		return NULL;
	file = calloc(1, sizeof(*file) + strlen(path) + 1);
	if (!file)
		return NULL;
	memcpy(file->path, path, strlen(path) + 1);
	source_load(cache, file);
	file->next = *bucket;
	*bucket = file;
	cache->file_count++;
	return file;
}

static bool is_space(char c)
{
	return c == ' ' || c == '\t' || c == '\f' || c == '\v';
}

/*
 * Makes the line fit to show, in place: its end may go, but what stays stays where
 * it is, byte for byte. Doing it twice changes nothing.
 */
static const char *clean(char *line)
{
	size_t length;

	while (is_space(*line))
		line++;
	length = strnlen(line, SOURCE_LINE_BYTES_MAX + 1);
	if (length > SOURCE_LINE_BYTES_MAX) {
		length = SOURCE_LINE_BYTES_MAX;
		/* Not through the middle of a character. */
		while (length > 0 && ((unsigned char)line[length] & 0xc0) == 0x80)
			length--;
		line[length] = '\0';
	}
	while (length > 0 && is_space(line[length - 1]))
		length--;
	for (size_t i = 0; i < length;) {
		uint32_t code_point = 0;
		size_t bytes = utf8_decode(line + i, length - i, &code_point);

		if (bytes == 0)
			bytes = 1;
		else if (code_point_printable(code_point)) {
			i += bytes;
			continue;
		}
		memset(line + i, is_space(line[i]) ? ' ' : '?', bytes);
		i += bytes;
	}
	line[length] = '\0';
	return line;
}

static char *find_line(struct source_cache *cache, const char *path, int line, bool utf8)
{
	struct source_file *file;

	if (!path || line < 1)
		return NULL;
	file = find_or_load(cache, path);
	if (!file || !file->text || (uint32_t)line > file->line_count || (utf8 && !file->utf8))
		return NULL;
	return file->text + file->lines[line - 1];
}

const char *source_cache_line(struct source_cache *cache, const char *path, int line)
{
	char *text = find_line(cache, path, line, false);

	return text ? clean(text) : NULL;
}

const char *source_cache_columns(struct source_cache *cache, const char *path, int line)
{
	char *text = find_line(cache, path, line, true);

	if (text)
		(void)clean(text);
	return text;
}

int source_cache_indent(struct source_cache *cache, const char *path, int line)
{
	const char *text = source_cache_columns(cache, path, line);

	return text ? (int)(source_cache_line(cache, path, line) - text) : -1;
}

const char *source_cache_file(const struct source_cache *cache, size_t index,
			      struct source_version *ret_version)
{
	if (index >= cache->readable_count)
		return NULL;
	*ret_version = cache->readable[index]->version;
	return cache->readable[index]->path;
}

struct source_refusals source_cache_refusals(const struct source_cache *cache)
{
	return cache->refusals;
}

int source_version_read(int fd, struct source_version *ret_version)
{
	size_t size;
	bool cut;
	char *text = read_regular(fd, SOURCE_FILE_BYTES_MAX, &size, &cut, ret_version);

	if (!text)
		return -EINVAL;
	free(text);
	return 0;
}

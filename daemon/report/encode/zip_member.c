/* SPDX-License-Identifier: Apache-2.0 */
#include "daemon/report/encode/zip_member.h"

#include <endian.h>
#include <errno.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include <zlib.h>

enum {
	END_SIZE = 22,
	END_MAGIC = 0x06054b50,
	END_DISK = 4,
	END_DIRECTORY_SIZE = 12,
	END_DIRECTORY_OFFSET = 16,
	ENTRY_SIZE = 46,
	ENTRY_MAGIC = 0x02014b50,
	ENTRY_FLAGS = 8,
	ENTRY_METHOD = 10,
	ENTRY_PACKED = 20,
	ENTRY_UNPACKED = 24,
	ENTRY_NAME = 28,
	ENTRY_EXTRA = 30,
	ENTRY_COMMENT = 32,
	ENTRY_OFFSET = 42,
	LOCAL_SIZE = 30,
	LOCAL_MAGIC = 0x04034b50,
	LOCAL_NAME = 26,
	LOCAL_EXTRA = 28,
	FLAG_ENCRYPTED = 1,
	METHOD_STORED = 0,
	METHOD_DEFLATED = 8,
};

#define COMMENT_MAX 65535
/* Deflate makes no more of a byte. */
#define DEFLATE_RATIO_MAX 1032

static uint32_t number32(const uint8_t *at)
{
	uint32_t value;

	memcpy(&value, at, sizeof(value));
	return le32toh(value);
}

static uint16_t number16(const uint8_t *at)
{
	uint16_t value;

	memcpy(&value, at, sizeof(value));
	return le16toh(value);
}

static int read_at(int fd, uint64_t offset, void *bytes, size_t size)
{
	size_t used = 0;

	while (used < size) {
		ssize_t got = pread(fd, (char *)bytes + used, size - used, (off_t)(offset + used));

		if (got < 0 && errno != EINTR)
			return -errno;
		if (got == 0)
			return -EBADMSG;
		used += got > 0 ? (size_t)got : 0;
	}
	return 0;
}

/* Where the central directory is. What stands before the archive shifts all that it says. */
struct directory {
	uint64_t offset, shift;
	uint32_t size;
};

static int find_directory(int fd, struct directory *ret_directory)
{
	struct stat status;
	uint8_t *tail;
	size_t size;
	int error;

	if (fstat(fd, &status))
		return -errno;
	if (status.st_size < END_SIZE)
		return -ENOENT;
	size = (uint64_t)status.st_size < END_SIZE + COMMENT_MAX ? (size_t)status.st_size
								 : END_SIZE + COMMENT_MAX;
	tail = malloc(size);
	if (!tail)
		return -ENOMEM;
	error = read_at(fd, (uint64_t)status.st_size - size, tail, size);
	if (!error)
		error = -ENOENT;
	for (size_t i = size - END_SIZE + 1; error == -ENOENT && i-- > 0;) {
		uint64_t end = (uint64_t)status.st_size - size + i, offset;

		if (number32(tail + i) != END_MAGIC)
			continue;
		error = number32(tail + i + END_DISK) ? -ENOTSUP : 0;
		ret_directory->size = number32(tail + i + END_DIRECTORY_SIZE);
		offset = number32(tail + i + END_DIRECTORY_OFFSET);
		if (ret_directory->size > end || end - ret_directory->size < offset)
			error = -EBADMSG;
		ret_directory->offset = end - ret_directory->size;
		ret_directory->shift = ret_directory->offset - offset;
	}
	free(tail);
	return error;
}

/* Its entry in the directory; -ENOENT. */
static int find_entry(const uint8_t *bytes, size_t size, const char *name,
		      const uint8_t **ret_entry)
{
	size_t length = strlen(name);

	for (size_t at = 0; size - at >= ENTRY_SIZE;) {
		const uint8_t *entry = bytes + at;
		size_t whole = (size_t)ENTRY_SIZE + number16(entry + ENTRY_NAME) +
			       number16(entry + ENTRY_EXTRA) + number16(entry + ENTRY_COMMENT);

		if (number32(entry) != ENTRY_MAGIC || whole > size - at)
			return -EBADMSG;
		if (number16(entry + ENTRY_NAME) == length &&
		    !memcmp(entry + ENTRY_SIZE, name, length)) {
			*ret_entry = entry;
			return 0;
		}
		at += whole;
	}
	return -ENOENT;
}

static int unpack(const uint8_t *packed, size_t packed_size, char *text, size_t size)
{
	z_stream stream = { .next_in = (Bytef *)(uintptr_t)packed,
			    .avail_in = (uInt)packed_size,
			    .next_out = (Bytef *)text,
			    .avail_out = (uInt)size };
	int result;

	/* Without a header of its own. */
	if (inflateInit2(&stream, -MAX_WBITS) != Z_OK)
		return -ENOMEM;
	result = inflate(&stream, Z_FINISH);
	inflateEnd(&stream);
	return result == Z_STREAM_END && !stream.avail_out ? 0
	       : result == Z_MEM_ERROR                     ? -ENOMEM
							   : -EBADMSG;
}

static int read_data(int fd, const uint8_t *entry, uint64_t shift, size_t limit, char **ret_text,
		     size_t *ret_size)
{
	uint32_t packed_size = number32(entry + ENTRY_PACKED);
	uint32_t size = number32(entry + ENTRY_UNPACKED);
	uint16_t method = number16(entry + ENTRY_METHOD);
	uint64_t offset = shift + number32(entry + ENTRY_OFFSET);
	bool stored = method == METHOD_STORED;
	uint8_t local[LOCAL_SIZE], *packed;
	char *text;
	int error;

	if (number16(entry + ENTRY_FLAGS) & FLAG_ENCRYPTED ||
	    (!stored && method != METHOD_DEFLATED))
		return -ENOTSUP;
	if (size > limit || packed_size > limit)
		return -E2BIG;
	if (stored ? size != packed_size : size / DEFLATE_RATIO_MAX > packed_size)
		return -EBADMSG;
	error = read_at(fd, offset, local, sizeof(local));
	if (!error && number32(local) != LOCAL_MAGIC)
		error = -EBADMSG;
	if (error)
		return error;
	offset += LOCAL_SIZE + number16(local + LOCAL_NAME) + number16(local + LOCAL_EXTRA);
	packed = malloc((size_t)packed_size + 1);
	text = malloc((size_t)size + 1);
	if (!packed || !text)
		error = -ENOMEM;
	if (!error)
		error = read_at(fd, offset, packed, packed_size);
	if (!error && stored)
		memcpy(text, packed, size);
	else if (!error)
		error = unpack(packed, packed_size, text, size);
	free(packed);
	if (error) {
		free(text);
		return error;
	}
	text[size] = '\0';
	*ret_text = text;
	*ret_size = size;
	return 0;
}

int zip_member_read(int fd, const char *name, size_t limit, char **ret_text, size_t *ret_size)
{
	struct directory directory = { 0 };
	const uint8_t *entry = NULL;
	uint8_t *bytes;
	int error = find_directory(fd, &directory);

	if (error)
		return error;
	if (directory.size > ZIP_DIRECTORY_MAX)
		return -E2BIG;
	bytes = malloc((size_t)directory.size + 1);
	if (!bytes)
		return -ENOMEM;
	error = read_at(fd, directory.offset, bytes, directory.size);
	if (!error)
		error = find_entry(bytes, directory.size, name, &entry);
	if (!error)
		error = read_data(fd, entry, directory.shift, limit, ret_text, ret_size);
	free(bytes);
	return error;
}

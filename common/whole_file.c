/* SPDX-License-Identifier: Apache-2.0 */
#include "common/whole_file.h"

#include "common/interrupted.h"

#include <fcntl.h>
#include <stdlib.h>
#include <unistd.h>

#define FIRST_BYTES 4096

ssize_t whole_file_fill(int fd, void *bytes, size_t size)
{
	unsigned interruptions = 0;
	size_t used = 0;

	while (used < size) {
		ssize_t got = read(fd, (char *)bytes + used, size - used);

		if (interrupted(got, &interruptions))
			continue;
		if (got < 0)
			return -errno;
		if (got == 0)
			break;
		used += (size_t)got;
	}
	return (ssize_t)used;
}

static int read_to_limit(int fd, size_t limit, char **ret_text, size_t *ret_size)
{
	size_t capacity = FIRST_BYTES, size = 0;
	char *text = malloc(capacity);

	while (text) {
		size_t room =
			capacity - 1 - size < limit - size ? capacity - 1 - size : limit - size;
		ssize_t got = whole_file_fill(fd, text + size, room);
		char *larger;

		if (got < 0) {
			free(text);
			return (int)got;
		}
		size += (size_t)got;
		if ((size_t)got < room || size == limit) {
			text[size] = '\0';
			*ret_text = text;
			*ret_size = size;
			return 0;
		}
		capacity *= 2;
		larger = realloc(text, capacity);
		if (!larger)
			free(text);
		text = larger;
	}
	return -ENOMEM;
}

int whole_file_read(const char *path, size_t limit, char **ret_text, size_t *ret_size)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC), error;

	if (fd < 0)
		return -errno;
	error = read_to_limit(fd, limit, ret_text, ret_size);
	close(fd);
	return error;
}

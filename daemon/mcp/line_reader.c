/* SPDX-License-Identifier: Apache-2.0 */
#include "daemon/mcp/line_reader.h"

#include <errno.h>
#include <string.h>
#include <unistd.h>

void line_reader_init(struct line_reader *reader, int fd)
{
	reader->fd = fd;
	reader->begin = reader->used = 0;
	reader->skipping = reader->ended = false;
}

int line_reader_fill(struct line_reader *reader)
{
	ssize_t count;

	if (reader->ended)
		return 0;
	if (reader->begin) {
		memmove(reader->bytes, reader->bytes + reader->begin, reader->used - reader->begin);
		reader->used -= reader->begin;
		reader->begin = 0;
	}
	/* All lines are taken out before: it is full of one that has no end. */
	if (reader->used == sizeof(reader->bytes))
		return -ENOBUFS;
	count = read(reader->fd, reader->bytes + reader->used,
		     sizeof(reader->bytes) - reader->used);
	if (count < 0)
		return errno == EINTR || errno == EAGAIN ? 0 : -errno;
	reader->ended = count == 0;
	reader->used += (size_t)count;
	return 0;
}

enum line_outcome line_reader_next(struct line_reader *reader, const char **ret_line,
				   size_t *ret_length)
{
	const char *from = reader->bytes + reader->begin;
	size_t rest = reader->used - reader->begin;
	const char *newline = memchr(from, '\n', rest);
	bool skipped = reader->skipping;

	if (!newline) {
		if (reader->ended)
			return LINE_END;
		if (rest == sizeof(reader->bytes) || skipped) {
			reader->begin = reader->used;
			reader->skipping = true;
		}
		return LINE_NONE;
	}
	reader->begin += (size_t)(newline - from) + 1;
	reader->skipping = false;
	if (skipped)
		return LINE_TOO_LONG;
	*ret_line = from;
	*ret_length = (size_t)(newline - from);
	return LINE_READ;
}

/* SPDX-License-Identifier: Apache-2.0 */
/* Lines of a descriptor, each of bounded length: what is longer is passed over, and told. */
#ifndef PIEPROFD_DAEMON_MCP_LINE_READER_H
#define PIEPROFD_DAEMON_MCP_LINE_READER_H

#include <stdbool.h>
#include <stddef.h>

/* A message is a name and a few short arguments. */
#define LINE_BYTES_MAX (64u << 10)

struct line_reader {
	int fd;
	size_t begin, used;
	bool skipping; /* a line that was too long */
	bool ended;
	char bytes[LINE_BYTES_MAX];
};

enum line_outcome {
	LINE_NONE, /* nothing more until the descriptor has something */
	LINE_READ,
	LINE_TOO_LONG,
	LINE_END, /* what stood behind the last newline is no line */
};

void line_reader_init(struct line_reader *reader, int fd);

/* One read(2). 0, also at the end of the input, or a negative errno. */
__attribute__((warn_unused_result)) int line_reader_fill(struct line_reader *reader);

/* The line, without its newline, lies in the reader until the next call of either function. */
enum line_outcome line_reader_next(struct line_reader *reader, const char **ret_line,
				   size_t *ret_length);

#endif

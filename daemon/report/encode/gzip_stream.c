/* SPDX-License-Identifier: Apache-2.0 */
#include "daemon/report/encode/gzip_stream.h"

#include <errno.h>
#include <limits.h>

#define WINDOW_BITS 15
#define GZIP_WRAPPER                                                                               \
	16             /* added to the window's bits; the header then names no file and no time    \
			*/
#define MEMORY_LEVEL 8 /* zlib's default */

int gzip_stream_init(struct gzip_stream *stream, FILE *file)
{
	*stream = (struct gzip_stream){ .file = file };
	if (deflateInit2(&stream->deflate, Z_DEFAULT_COMPRESSION, Z_DEFLATED,
			 WINDOW_BITS + GZIP_WRAPPER, MEMORY_LEVEL, Z_DEFAULT_STRATEGY) != Z_OK)
		return -ENOMEM;
	return 0;
}

/* Until the input is used up and, when flushing, the output is complete. */
static int gzip_run(struct gzip_stream *stream, int flush)
{
	unsigned char output[16384];
	int status;

	do {
		size_t size;

		stream->deflate.next_out = output;
		stream->deflate.avail_out = sizeof(output);
		status = deflate(&stream->deflate, flush);
		if (status == Z_STREAM_ERROR)
			return -EIO;
		size = sizeof(output) - stream->deflate.avail_out;
		if (fwrite(output, 1, size, stream->file) != size)
			return -EIO;
	} while (stream->deflate.avail_out == 0);
	return 0;
}

int gzip_stream_put(struct gzip_stream *stream, const void *bytes, size_t size)
{
	const unsigned char *from = bytes;

	while (size > 0) {
		unsigned step = size > UINT_MAX ? UINT_MAX : (unsigned)size;
		int result;

		stream->deflate.next_in = from;
		stream->deflate.avail_in = step;
		result = gzip_run(stream, Z_NO_FLUSH);
		if (result < 0)
			return result;
		from += step;
		size -= step;
	}
	return 0;
}

int gzip_stream_finish(struct gzip_stream *stream)
{
	stream->deflate.next_in = NULL;
	stream->deflate.avail_in = 0;
	return gzip_run(stream, Z_FINISH);
}

void gzip_stream_deinit(struct gzip_stream *stream)
{
	(void)deflateEnd(&stream->deflate);
}

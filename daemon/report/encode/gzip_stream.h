/* SPDX-License-Identifier: Apache-2.0 */
/* What is put in comes out of a stdio stream as a gzip file, the same for the same input. */
#ifndef PIEPROFD_DAEMON_REPORT_ENCODE_GZIP_STREAM_H
#define PIEPROFD_DAEMON_REPORT_ENCODE_GZIP_STREAM_H

#include <stdio.h>

#define ZLIB_CONST /* it only reads its input, and then says so */
#include <zlib.h>

struct gzip_stream {
	z_stream deflate;
	FILE *file; /* borrowed */
};

/* 0, -ENOMEM or -EIO. After a successful init, deinit in any case. */
__attribute__((warn_unused_result)) int gzip_stream_init(struct gzip_stream *stream, FILE *file);
__attribute__((warn_unused_result)) int gzip_stream_put(struct gzip_stream *stream,
							const void *bytes, size_t size);
/* The end of the file; nothing can be put after it. */
__attribute__((warn_unused_result)) int gzip_stream_finish(struct gzip_stream *stream);
void gzip_stream_deinit(struct gzip_stream *stream);

#endif

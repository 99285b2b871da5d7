/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What is answered: written to a stream, kept in memory, up to a limit. An answer is
 * complete before it is sent, so that a slow reader holds no profile.
 */
#ifndef PIEPROFD_DAEMON_SERVE_BODY_H
#define PIEPROFD_DAEMON_SERVE_BODY_H

#include <stddef.h>
#include <stdio.h>

#define BODY_BYTES_MAX ((size_t)64 << 20)

struct body {
	FILE *file; /* to write to; NULL: finished */
	char *bytes;
	size_t size, capacity;
	int error; /* the first */
};

/* 0 or -ENOMEM. */
__attribute__((warn_unused_result)) int body_open(struct body *body);

/* 0, -ENOMEM or -EFBIG: then there is none. The bytes are the body's until body_deinit(). */
__attribute__((warn_unused_result)) int body_finish(struct body *body);
void body_deinit(struct body *body);

#endif

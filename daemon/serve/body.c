/* SPDX-License-Identifier: Apache-2.0 */
#include "daemon/serve/body.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define FIRST_BYTES 4096

/* 0 is an error to stdio. */
static ssize_t body_append(void *cookie, const char *bytes, size_t size)
{
	struct body *body = cookie;

	if (size > BODY_BYTES_MAX - body->size) {
		body->error = -EFBIG;
		return 0;
	}
	if (body->size + size > body->capacity) {
		size_t capacity = body->capacity ? body->capacity : FIRST_BYTES;
		char *grown;

		while (capacity < body->size + size)
			capacity *= 2;
		grown = realloc(body->bytes, capacity);
		if (!grown) {
			body->error = -ENOMEM;
			return 0;
		}
		body->bytes = grown;
		body->capacity = capacity;
	}
	memcpy(body->bytes + body->size, bytes, size);
	body->size += size;
	return (ssize_t)size;
}

int body_open(struct body *body)
{
	const cookie_io_functions_t functions = { .write = body_append };

	*body = (struct body){ 0 };
	body->file = fopencookie(body, "w", functions);
	return body->file ? 0 : -ENOMEM;
}

int body_finish(struct body *body)
{
	int failed = ferror(body->file);

	failed |= fclose(body->file);
	body->file = NULL;
	if (!failed && !body->error)
		return 0;
	failed = body->error ? body->error : -ENOMEM;
	body_deinit(body);
	return failed;
}

void body_deinit(struct body *body)
{
	if (body->file)
		(void)fclose(body->file);
	free(body->bytes);
	*body = (struct body){ 0 };
}

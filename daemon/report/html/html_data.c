/* SPDX-License-Identifier: Apache-2.0 */
/*
 *   put() --> write_data --+--> plain, up to a limit        --.
 *                          `--> gzip --> write_base64 --------+--> file
 *
 * Which way is known once the limit is passed; until then nothing is written.
 */
#include "daemon/report/html/html_data.h"

#include "daemon/report/encode/base64.h"
#include "daemon/report/encode/gzip_stream.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

struct data {
	FILE *file;
	const char *id;
	char *plain; /* HTML_DATA_PLAIN_MAX bytes */
	size_t size;
	FILE *encoded; /* NULL: plain so far */
	struct gzip_stream gzip;
	uint8_t group[3]; /* not yet encoded */
	size_t group_size;
};

static ssize_t write_base64(void *context, const char *bytes, size_t size)
{
	struct data *data = context;
	char text[4];

	for (size_t i = 0; i < size; i++) {
		data->group[data->group_size++] = (uint8_t)bytes[i];
		if (data->group_size < sizeof(data->group))
			continue;
		base64_group(data->group, data->group_size, text);
		fwrite(text, 1, sizeof(text), data->file);
		data->group_size = 0;
	}
	return ferror(data->file) ? 0 : (ssize_t)size;
}

static int close_base64(void *context)
{
	struct data *data = context;
	char text[4];

	if (data->group_size) {
		base64_group(data->group, data->group_size, text);
		fwrite(text, 1, sizeof(text), data->file);
	}
	return ferror(data->file) ? EOF : 0;
}

static int start_gzip(struct data *data)
{
	const cookie_io_functions_t functions = { .write = write_base64, .close = close_base64 };
	int result;

	data->encoded = fopencookie(data, "w", functions);
	if (!data->encoded)
		return -ENOMEM;
	result = gzip_stream_init(&data->gzip, data->encoded);
	if (result) {
		fclose(data->encoded);
		data->encoded = NULL;
		return result;
	}
	fprintf(data->file, "<script type=\"application/gzip\" id=\"%s\">", data->id);
	return gzip_stream_put(&data->gzip, data->plain, data->size);
}

static ssize_t write_data(void *context, const char *bytes, size_t size)
{
	struct data *data = context;

	if (!data->encoded && size <= HTML_DATA_PLAIN_MAX - data->size) {
		memcpy(data->plain + data->size, bytes, size);
		data->size += size;
		return (ssize_t)size;
	}
	if ((!data->encoded && start_gzip(data)) || gzip_stream_put(&data->gzip, bytes, size))
		return 0;
	return (ssize_t)size;
}

static void put_plain(const struct data *data)
{
	fprintf(data->file, "<script type=\"application/json\" id=\"%s\">", data->id);
	for (size_t i = 0; i < data->size; i++) {
		char byte = data->plain[i];

		if (byte == '<' || byte == '>' || byte == '&')
			fprintf(data->file, "\\u%04x", (unsigned)byte);
		else
			putc(byte, data->file);
	}
}

static int html_data_finish(struct data *data)
{
	int result = 0;

	if (data->encoded) {
		result = gzip_stream_finish(&data->gzip);
		gzip_stream_deinit(&data->gzip);
		if (fclose(data->encoded) != 0 && !result)
			result = -EIO;
	} else {
		put_plain(data);
	}
	fputs("</script>", data->file);
	return result ? result : ferror(data->file) ? -EIO : 0;
}

int html_data(FILE *file, const char *id, const void *context,
	      int (*put)(FILE *file, const void *context))
{
	const cookie_io_functions_t functions = { .write = write_data };
	struct data data = { .file = file, .id = id, .plain = malloc(HTML_DATA_PLAIN_MAX) };
	FILE *stream = data.plain ? fopencookie(&data, "w", functions) : NULL;
	int result = -ENOMEM, finished;

	if (stream) {
		result = put(stream, context);
		if (fclose(stream) != 0 && !result)
			result = -EIO;
		finished = html_data_finish(&data);
		result = result ? result : finished;
	}
	free(data.plain);
	return result;
}

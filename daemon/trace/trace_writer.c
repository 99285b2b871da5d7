/* SPDX-License-Identifier: Apache-2.0 */
#include "daemon/trace/trace_writer.h"

#include "daemon/report/format/output_file.h"
#include "daemon/trace/trace_recording.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

static const struct trace_writer writers[] = {
	{ "html", ".html", trace_html_write, { { NULL, NULL } } },
	{ "recording", TRACE_RECORDING_EXTENSION, trace_recording_write, { { NULL, NULL } } },
	{ "chrome", ".json", trace_chrome_write, { { NULL, NULL } } },
	{ "perfetto", ".perfetto-trace", trace_perfetto_write, { { NULL, NULL } } },
	{ "paraver",
	  ".prv",
	  trace_prv_write,
	  { { ".pcf", trace_pcf_write }, { ".row", trace_row_write } } },
};

const struct trace_writer *trace_writer_by_path(const char *path)
{
	size_t length = strlen(path);

	for (size_t i = 0; i < sizeof(writers) / sizeof(writers[0]); i++) {
		size_t wanted = strlen(writers[i].extension);

		if (length > wanted && !strcmp(path + length - wanted, writers[i].extension))
			return &writers[i];
	}
	return NULL;
}

const char *trace_writer_extensions(void)
{
	return ".html, .json, .perfetto-trace, .prv and .pietrace";
}

struct shown {
	const struct trace_analysis *analysis;
	int (*write)(const struct trace_analysis *analysis, FILE *file);
};

static int put(void *context, FILE *file)
{
	const struct shown *shown = context;
	int error = shown->write(shown->analysis, file);

	return error ? error : ferror(file) ? -EIO : 0;
}

static int write_one(const struct trace_analysis *analysis, const char *path,
		     int (*write)(const struct trace_analysis *analysis, FILE *file))
{
	struct shown shown = { analysis, write };

	return output_file_write(path, put, &shown);
}

int trace_writer_write(const struct trace_writer *writer, const struct trace_analysis *analysis,
		       const char *path)
{
	int stem = (int)(strlen(path) - strlen(writer->extension));
	int error = write_one(analysis, path, writer->write);

	for (size_t i = 0; i < 2 && !error && writer->companions[i].write; i++) {
		char *beside;

		if (asprintf(&beside, "%.*s%s", stem, path, writer->companions[i].extension) < 0)
			return -ENOMEM;
		error = write_one(analysis, beside, writer->companions[i].write);
		free(beside);
	}
	return error;
}

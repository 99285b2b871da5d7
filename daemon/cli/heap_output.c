/* SPDX-License-Identifier: Apache-2.0 */
#include "daemon/cli/heap_output.h"

#include "daemon/cli/standard_output.h"
#include "daemon/heap/heap_comparison.h"
#include "daemon/heap/heap_diff_writers.h"
#include "daemon/heap/heap_formats.h"
#include "daemon/report/format/output_file.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

struct shown {
	const struct heap_look *look; /* NULL: the difference */
	const struct heap_diff *diff;
	struct writer_options options;
	const struct writer *writer;
};

static int put(void *context, FILE *file)
{
	const struct shown *shown = context;

	if (shown->look)
		return heap_write_of(shown->writer)(shown->look, &shown->options, file);
	return heap_diff_write_of(shown->writer)(shown->diff, &shown->options, file);
}

/* A file has all of it; what is on the screen depends on the screen. */
static enum exit_code write_files(const struct options *options, struct shown *shown,
				  bool *ret_stdout)
{
	enum exit_code code = EXIT_OK;

	*ret_stdout = false;
	for (unsigned i = 0; i < options->output_count; i++) {
		const char *path = options->outputs[i].path;
		bool is_stdout = !strcmp(path, "-");
		int failure;

		shown->options =
			is_stdout ? standard_output_options(options) : (struct writer_options){ 0 };
		shown->writer = options->outputs[i].writer;
		failure = output_file_write(path, put, shown);
		*ret_stdout |= is_stdout;
		if (!failure || (failure == -EPIPE && is_stdout))
			continue;
		fprintf(stderr, "pieprofd: %s could not be written: %s\n", path,
			strerror(-failure));
		code = EXIT_INTERNAL;
	}
	return code;
}

static enum exit_code write_all(const struct options *options, struct shown *shown)
{
	bool is_stdout;
	enum exit_code code = write_files(options, shown, &is_stdout);
	int failure;

	if (is_stdout || options->quiet)
		return code;
	shown->options = standard_output_options(options);
	shown->writer = &writer_text;
	failure = put(shown, stdout);
	if (!failure && fflush(stdout))
		failure = -errno;
	return standard_output_end("heap", failure, code);
}

enum exit_code heap_output_look(const struct options *options, const struct heap_look *look)
{
	struct shown shown = { .look = look };

	return write_all(options, &shown);
}

enum exit_code heap_output_difference(const struct options *options, const struct heap_file *base,
				      const struct heap_file *now)
{
	struct heap_diff *diff = heap_comparison_create(base, now);
	struct shown shown = { .diff = diff };
	enum exit_code code;

	if (!diff) {
		fprintf(stderr, "pieprofd: out of memory\n");
		return EXIT_INTERNAL;
	}
	code = write_all(options, &shown);
	heap_diff_destroy(diff);
	return code;
}

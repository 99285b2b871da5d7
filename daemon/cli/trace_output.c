/* SPDX-License-Identifier: Apache-2.0 */
#include "daemon/cli/trace_output.h"

#include "daemon/cli/standard_output.h"
#include "daemon/trace/trace_writer.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

static enum exit_code write_files(const struct options *options,
				  const struct trace_analysis *analysis)
{
	enum exit_code code = EXIT_OK;

	for (unsigned i = 0; i < options->output_count; i++) {
		const char *path = options->outputs[i].path;
		int failure = trace_writer_write(trace_writer_by_path(path), analysis, path);

		if (!failure)
			continue;
		fprintf(stderr, "pieprofd: %s could not be written: %s\n", path,
			strerror(-failure));
		code = EXIT_INTERNAL;
	}
	return code;
}

static enum exit_code write_analysis(const struct options *options,
				     const struct trace_analysis *analysis, enum exit_code code)
{
	const struct writer_options writer = standard_output_options(options);
	int failure;

	failure = options->json ? trace_json_write(analysis, stdout)
				: trace_text_write(analysis, &writer, stdout);
	if (!failure && fflush(stdout))
		failure = -errno;
	return standard_output_end("trace", failure, code);
}

enum exit_code trace_output(const struct options *options, const struct trace *trace, bool speaks)
{
	struct trace_analysis analysis = { .trace = trace };
	int failure = trace_analysis_init(&analysis, trace);
	enum exit_code code;

	if (failure) {
		fprintf(stderr, "pieprofd: the trace cannot be read: %s\n", strerror(-failure));
		code = EXIT_INTERNAL;
	} else {
		code = write_files(options, &analysis);
		if (speaks)
			code = write_analysis(options, &analysis, code);
	}
	trace_analysis_deinit(&analysis);
	return code;
}

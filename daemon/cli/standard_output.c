/* SPDX-License-Identifier: Apache-2.0 */
#include "daemon/cli/standard_output.h"

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

#define TOOL_COLUMNS 200

struct writer_options standard_output_options(const struct options *options)
{
	struct writer_options writer = {
		.lines_max = options->lines_max,
		.pairs_max = options->pairs_max,
		.editor_url = options->editor_url,
		.source_url = options->source_url,
		.link_root = options->link_root[0] ? options->link_root : options->source_root,
		.brief = !options->details,
		.verdict_last = isatty(options->command ? STDERR_FILENO : STDOUT_FILENO),
	};
	static char folder[PATH_MAX];
	struct winsize size;

	if (!ioctl(STDOUT_FILENO, TIOCGWINSZ, &size))
		writer.columns = size.ws_col;
	/* Who reads there wants whole names. */
	if (options->for_tool)
		writer.columns = TOOL_COLUMNS;
	writer.colour = options->colour == OPTIONS_COLOUR_ALWAYS ||
			(options->colour == OPTIONS_COLOUR_AUTO && isatty(STDOUT_FILENO) &&
			 !getenv("NO_COLOR"));
	writer.source_root = options->source_root             ? options->source_root
			     : getcwd(folder, sizeof(folder)) ? folder
							      : NULL;
	return writer;
}

enum exit_code standard_output_end(const char *what, int failure, enum exit_code code)
{
	if (!failure || failure == -EPIPE)
		return code;
	fprintf(stderr, "pieprofd: the %s could not be written: %s\n", what, strerror(-failure));
	return EXIT_INTERNAL;
}

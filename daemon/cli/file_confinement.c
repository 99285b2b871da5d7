/* SPDX-License-Identifier: Apache-2.0 */
#include "daemon/cli/file_confinement.h"

#include "daemon/cli/confinement.h"
#include "daemon/cli/message.h"

#include <stdio.h>
#include <string.h>

/* Those that are read and written: only what they need is kept. */
static int give_up_for_files(const struct options *options, const char *const *read,
			     size_t read_count)
{
	const char *written[OPTIONS_OUTPUTS_MAX];
	struct confinement_files files = { .read = read,
					   .read_count = read_count,
					   .written = written };

	for (unsigned i = 0; i < options->output_count; i++)
		if (strcmp(options->outputs[i].path, "-") != 0)
			written[files.written_count++] = options->outputs[i].path;
	return confinement_give_up_for_files(&files);
}

enum exit_code file_confinement_begin(const struct options *options, const char *const *read,
				      size_t read_count)
{
	int failure;

	if (message_privileges_are_kept(give_up_for_files(options, read, read_count)))
		return EXIT_INTERNAL;
	failure = confinement_filter_files();
	if (message_privileges_are_kept(failure))
		return EXIT_INTERNAL;
	if (failure && options->verbosity)
		fprintf(stderr, "pieprofd: system calls are not filtered: %s\n",
			strerror(-failure));
	return EXIT_OK;
}

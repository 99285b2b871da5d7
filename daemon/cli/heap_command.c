/* SPDX-License-Identifier: Apache-2.0 */
#include "daemon/cli/commands.h"

#include "attach/impersonator.h"
#include "daemon/cli/confinement.h"
#include "daemon/cli/file_limit.h"
#include "daemon/cli/hint.h"
#include "daemon/cli/message.h"
#include "daemon/cli/profile_output.h"
#include "daemon/cli/standard_output.h"
#include "daemon/cli/target_choice.h"
#include "daemon/heap/heap_formats.h"
#include "daemon/report/format/output_file.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

struct heap_output {
	const struct heap_look *look;
	struct writer_options writer;
	heap_write *write;
};

static int put(void *context, FILE *file)
{
	const struct heap_output *output = context;

	return output->write(output->look, &output->writer, file);
}

/* A file has all of it; what is on the screen depends on the screen. */
static enum exit_code write_files(const struct options *options, const struct heap_look *look,
				  bool *ret_stdout)
{
	enum exit_code code = EXIT_OK;

	*ret_stdout = false;
	for (unsigned i = 0; i < options->output_count; i++) {
		const char *path = options->outputs[i].path;
		bool is_stdout = !strcmp(path, "-");
		struct heap_output output = {
			.look = look,
			.writer = is_stdout ? standard_output_options(options)
					    : (struct writer_options){ 0 },
			.write = heap_write_of(options->outputs[i].writer),
		};
		int failure = output_file_write(path, put, &output);

		*ret_stdout |= is_stdout;
		if (!failure || (failure == -EPIPE && is_stdout))
			continue;
		fprintf(stderr, "pieprofd: %s could not be written: %s\n", path,
			strerror(-failure));
		code = EXIT_INTERNAL;
	}
	return code;
}

static enum exit_code write_look(const struct options *options, const struct heap_look *look)
{
	struct writer_options writer = standard_output_options(options);
	bool is_stdout;
	enum exit_code code = write_files(options, look, &is_stdout);
	int failure;

	if (is_stdout || options->quiet)
		return code;
	failure = heap_write_text(look, &writer, stdout);
	if (!failure && fflush(stdout))
		failure = -errno;
	return standard_output_end("heap", failure, code);
}

static enum exit_code look_at(const struct options *options)
{
	struct heap_look_options look_options = { .no_holders = options->no_holders,
						  .memory_bytes = options->max_memory };
	struct heap_look *look;
	enum exit_code code;
	struct error error;

	file_limit_raise();
	look_options.impersonator = impersonator_create();
	if (message_privileges_are_kept(
		    confinement_give_up(CONFINEMENT_READS_TARGETS | CONFINEMENT_WRITES_FILES))) {
		impersonator_destroy(look_options.impersonator);
		return EXIT_INTERNAL;
	}
	look = heap_look_take(options->pid, &look_options, &error);
	if (!look) {
		hint_python_child(options, &error);
		message_error(&error);
		impersonator_destroy(look_options.impersonator);
		return error.exit_code;
	}
	code = write_look(options, look);
	heap_look_destroy(look);
	impersonator_destroy(look_options.impersonator);
	return code;
}

enum exit_code heap_command(struct options *options)
{
	struct pid_list targets = { 0 };
	enum exit_code code = profile_output_check(options);

	if (code == EXIT_OK)
		code = target_choice(options, &targets);
	pid_list_deinit(&targets);
	return code == EXIT_OK ? look_at(options) : code;
}

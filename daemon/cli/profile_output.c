/* SPDX-License-Identifier: Apache-2.0 */
#include "daemon/cli/profile_output.h"

#include "daemon/cli/standard_output.h"
#include "daemon/push/push.h"
#include "daemon/report/encode/figure.h"
#include "daemon/report/format/output_file.h"
#include "daemon/report/format/writer.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

void profile_output_step(const struct options *options, const char *step)
{
	if (!options->quiet && isatty(STDERR_FILENO))
		fprintf(stderr, "\r\033[K%s", step ? step : "");
	fflush(stderr);
}

enum exit_code profile_output_check(const struct options *options)
{
	for (unsigned i = 0; i < options->output_count; i++) {
		int failure = output_file_check(options->outputs[i].path);

		if (!failure)
			continue;
		fprintf(stderr, "pieprofd: %s cannot be written: %s\n", options->outputs[i].path,
			strerror(-failure));
		return EXIT_INTERNAL;
	}
	return EXIT_OK;
}

void profile_output_note_file(struct profile_output_note *note, const char *path)
{
	size_t used = strlen(note->text);
	struct stat status;

	if (!strcmp(path, "-") || lstat(path, &status))
		return;
	snprintf(note->text + used, sizeof(note->text) - used, "%s%s", used ? ", " : "Wrote ",
		 path);
	used = strlen(note->text);
	if (S_ISREG(status.st_mode))
		snprintf(note->text + used, sizeof(note->text) - used, " (%s)",
			 figure_bytes((uint64_t)status.st_size).text);
}

enum exit_code profile_output_files(const struct options *options, const struct profile *profile,
				    struct profile_output_note *ret_note)
{
	struct writer_options writer_options = standard_output_options(options);
	enum exit_code code = EXIT_OK;

	for (unsigned i = 0; i < options->output_count; i++) {
		const struct options_output *output = &options->outputs[i];
		char step[64];
		int failure;

		snprintf(step, sizeof(step), "writing %s, file %u of %u", output->writer->name,
			 i + 1, options->output_count);
		/* Standard output may be the same terminal. */
		if (strcmp(output->path, "-") != 0)
			profile_output_step(options, step);
		failure = writer_write_file(output->writer, profile, &writer_options, output->path);
		profile_output_step(options, NULL);
		/* EPIPE on stdout: its reader has seen enough. */
		if (failure && !(failure == -EPIPE && !strcmp(output->path, "-"))) {
			fprintf(stderr, "pieprofd: %s could not be written: %s\n", output->path,
				strerror(-failure));
			code = EXIT_INTERNAL;
		}
		if (!failure && ret_note)
			profile_output_note_file(ret_note, output->path);
	}
	return code;
}

static bool writes_to_stdout(const struct options *options)
{
	for (unsigned i = 0; i < options->output_count; i++)
		if (!strcmp(options->outputs[i].path, "-"))
			return true;
	return false;
}

/* For a person: on stdout, or on stderr where stdout is a command's. */
static int write_summary(const struct options *options, const struct profile *profile,
			 const struct profile_output_note *note)
{
	struct writer_options writer_options = standard_output_options(options);

	writer_options.notes = note->text[0] ? note->text : NULL;
	if (options->command)
		return writer_text.write(profile, &writer_options, stderr);
	return writer_write_file(&writer_text, profile, &writer_options, "-");
}

enum exit_code profile_output_reports(const struct options *options, struct profile *profile,
				      struct hint_children *hint, struct push *push)
{
	struct profile_output_note note = { "" };
	enum exit_code code;

	if (!profile) {
		fprintf(stderr, "pieprofd: out of memory\n");
		return EXIT_INTERNAL;
	}
	code = profile_output_files(options, profile, &note);
	if (push) {
		int failure = push_profile(push, profile);

		if (failure) {
			fprintf(stderr, "pieprofd: the profile could not be pushed: %s\n",
				strerror(-failure));
			code = EXIT_INTERNAL;
		}
	}
	/* Before the summary, whose end is what a terminal's reader sees. */
	if (hint)
		hint_children_tell(stderr, hint, &profile->facts);
	if (!options->quiet && !writes_to_stdout(options)) {
		int failure = write_summary(options, profile, &note);

		if (failure && failure != -EPIPE)
			code = EXIT_INTERNAL;
	}
	if (code == EXIT_OK && !profile->facts.samples && !side_time_waiting_ns(&profile->side)) {
		fprintf(stderr,
			"pieprofd: no samples: process %d used %s of CPU time meanwhile, and one "
			"is taken every %s of time in user code\n",
			profile->facts.target.pid, figure_ns(profile->facts.cpu_ns).text,
			figure_ns(profile->facts.period_ns).text);
		code = EXIT_NO_SAMPLES;
	}
	profile_destroy(profile);
	return code;
}

enum exit_code profile_output_code(const struct options *options, bool degraded,
				   enum exit_code code)
{
	if (!options->strict || !degraded || (code != EXIT_OK && code != EXIT_NO_SAMPLES))
		return code;
	fprintf(stderr, "pieprofd: less was measured than asked for, as said above "
			"(--strict)\n");
	return EXIT_DEGRADED;
}

/* SPDX-License-Identifier: Apache-2.0 */
#include "daemon/cli/commands.h"

#include "daemon/cli/confinement.h"
#include "daemon/cli/message.h"
#include "daemon/cli/standard_output.h"
#include "daemon/report/diff/diff.h"
#include "daemon/report/format/output_file.h"
#include "daemon/report/html/html.h"
#include "daemon/report/model/profile_sources.h"
#include "daemon/report/recording/recording.h"

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>

struct shown {
	const struct writer *writer;
	const struct profile *profile;
	const struct diff *diff; /* NULL: the profile itself */
	const struct writer_options *options;
};

static struct recording *open_recording(const char *path, enum exit_code *ret_code)
{
	struct error error;
	struct recording *recording = recording_open(path, &error);

	if (recording)
		return recording;
	fprintf(stderr, "pieprofd: %s\n", error.cause);
	if (error.cure[0])
		fprintf(stderr, "  %s\n", error.cure);
	*ret_code = error.exit_code;
	return NULL;
}

/* What a person is to know of it besides what it says. */
static void say_unfinished(const struct options *options, const char *path,
			   const struct profile *profile)
{
	if (profile->facts.unfinished && !options->quiet)
		fprintf(stderr,
			"pieprofd: %s was written while sampling went on: it covers the first %.1f "
			"s\n",
			path, (double)profile->facts.duration_ns / 1e9);
}

static int put_diff_data(const void *diff, FILE *file)
{
	return diff_write_json(diff, file);
}

static int put_diff_page(const struct shown *shown, FILE *file)
{
	const struct diff *diff = shown->diff;
	char headline[512];
	const struct html_base base = {
		.profile = diff->profiles[DIFF_BASE],
		.headline = headline,
		.put_diff = put_diff_data,
		.diff = diff,
	};

	diff_headline(diff, headline, sizeof(headline));
	return html_write_compared(diff->profiles[DIFF_NOW], &base, shown->options, file);
}

static int put_diff(void *context, FILE *file)
{
	const struct shown *shown = context;

	if (shown->writer == &writer_html)
		return put_diff_page(shown, file);

	if (shown->writer == &writer_json)
		return diff_write_json(shown->diff, file);
	return diff_write_text(shown->diff, shown->options, file);
}

static int write_one(const struct shown *shown, const char *path)
{
	struct writer_options options = *shown->options;
	struct shown plain = *shown;

	if (!shown->diff)
		return writer_write_file(shown->writer, shown->profile, shown->options, path);
	if (strcmp(path, "-") != 0)
		options.colour = false;
	plain.options = &options;
	return output_file_write(path, put_diff, &plain);
}

static enum exit_code write_all(const struct options *options, struct shown *shown)
{
	const struct options_output terminal = { .path = "-", .writer = &writer_text };
	const struct options_output *outputs = options->outputs;
	unsigned count = options->output_count;
	enum exit_code code = EXIT_OK;

	/* A conversion is quiet; without a file to write, the terminal is what is meant. */
	if (!count && !options->quiet) {
		outputs = &terminal;
		count = 1;
	}
	for (unsigned i = 0; i < count; i++) {
		int failure;

		shown->writer = outputs[i].writer;
		failure = write_one(shown, outputs[i].path);
		if (failure && !(failure == -EPIPE && !strcmp(outputs[i].path, "-"))) {
			fprintf(stderr, "pieprofd: %s could not be written: %s\n", outputs[i].path,
				strerror(-failure));
			code = EXIT_INTERNAL;
		}
	}
	return code;
}

/* Says which line broke which of them. */
static enum exit_code check_thresholds(const struct options *options, const struct diff *diff)
{
	enum exit_code code = EXIT_OK;

	for (unsigned i = 0; i < options->threshold_count; i++) {
		const struct options_threshold *given = &options->thresholds[i];
		const struct diff_entry *worst = NULL;
		size_t count = threshold_broken(&given->threshold, diff, &worst);
		char text[4096];

		if (!count)
			continue;
		threshold_describe(&given->threshold, worst, text, sizeof(text));
		fprintf(stderr, "pieprofd: --fail-if %s: %s", given->text, text);
		if (count > 1)
			fprintf(stderr, "; and %zu more line%s", count - 1, count > 2 ? "s" : "");
		fputc('\n', stderr);
		code = EXIT_CHANGED;
	}
	return code;
}

static enum exit_code write_diff(const struct options *options,
				 const struct writer_options *terminal,
				 const struct profile *profile)
{
	enum exit_code code = EXIT_INTERNAL;
	struct recording *base = open_recording(options->base, &code);
	struct shown shown = { .options = terminal };
	struct diff *diff;

	if (!base)
		return code;
	say_unfinished(options, options->base, &base->profile);
	diff = diff_create(&base->profile, profile);
	if (diff) {
		shown.diff = diff;
		code = write_all(options, &shown);
		if (code == EXIT_OK)
			code = check_thresholds(options, diff);
	} else {
		fprintf(stderr, "pieprofd: out of memory\n");
		code = EXIT_INTERNAL;
	}
	diff_destroy(diff);
	recording_close(base);
	return code;
}

static enum exit_code report_recording(const struct options *options,
				       const struct writer_options *terminal)
{
	enum exit_code code = EXIT_INTERNAL;
	struct recording *recording = open_recording(options->recording, &code);
	struct shown shown = { .options = terminal };

	if (!recording)
		return code;
	say_unfinished(options, options->recording, &recording->profile);
	if (profile_sources_compare(&recording->profile, &recording->arena)) {
		fprintf(stderr, "pieprofd: out of memory\n");
	} else if (options->base) {
		code = write_diff(options, terminal, &recording->profile);
	} else {
		shown.profile = &recording->profile;
		code = write_all(options, &shown);
	}
	recording_close(recording);
	return code;
}

/* Those that are read and written: only what they need is kept. */
static int give_up_for_files(const struct options *options)
{
	const char *read[2] = { options->recording, options->base };
	const char *written[OPTIONS_OUTPUTS_MAX];
	struct confinement_files files = {
		.read = read,
		.read_count = options->base ? 2 : 1,
		.written = written,
	};

	for (unsigned i = 0; i < options->output_count; i++)
		if (strcmp(options->outputs[i].path, "-") != 0)
			written[files.written_count++] = options->outputs[i].path;
	return confinement_give_up_for_files(&files);
}

enum exit_code report_command(const struct options *options)
{
	const struct writer_options terminal = standard_output_options(options);
	int failure;

	signal(SIGPIPE, SIG_IGN);
	/* What it reads may come from anywhere. */
	if (message_privileges_are_kept(give_up_for_files(options)))
		return EXIT_INTERNAL;
	failure = confinement_filter_files();
	if (message_privileges_are_kept(failure))
		return EXIT_INTERNAL;
	if (failure && options->verbosity)
		fprintf(stderr, "pieprofd: system calls are not filtered: %s\n",
			strerror(-failure));
	return report_recording(options, &terminal);
}

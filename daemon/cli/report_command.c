/* SPDX-License-Identifier: Apache-2.0 */
#include "daemon/cli/commands.h"

#include "daemon/cli/file_confinement.h"
#include "daemon/cli/file_limit.h"
#include "daemon/cli/fleet_diff.h"
#include "daemon/cli/fleet_table.h"
#include "daemon/cli/message.h"
#include "daemon/cli/profile_output.h"
#include "daemon/cli/recording_fold.h"
#include "daemon/cli/recording_list.h"
#include "daemon/cli/standard_output.h"
#include "daemon/cli/threshold_check.h"
#include "daemon/cli/trace_output.h"
#include "daemon/mcp/tool_writer.h"
#include "daemon/report/diff/diff_writers.h"
#include "daemon/report/format/output_file.h"
#include "daemon/report/html/html.h"
#include "daemon/report/writer_table.h"
#include "daemon/trace/trace_set.h"

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

struct shown {
	const struct writer *writer;
	const struct profile *profile;
	const struct diff *diff; /* NULL: the profile itself */
	const struct writer_options *options;
};

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

/* As of one profile, what tool_writer.h has. */
static int put_diff_for_tool(const struct shown *shown, FILE *file)
{
	int result = diff_write_markdown(shown->diff, shown->options, file);

	fputc('\0', file);
	return result ? result : diff_write_json(shown->diff, file);
}

static int put_diff(void *context, FILE *file)
{
	const struct shown *shown = context;
	diff_write *write = diff_write_of(shown->writer);

	if (shown->writer == &writer_tool)
		return put_diff_for_tool(shown, file);
	return write ? write(shown->diff, shown->options, file) : put_diff_page(shown, file);
}

static int write_one(const struct shown *shown, const char *path)
{
	struct writer_options options = *shown->options;
	struct shown plain = *shown;

	if (!shown->diff)
		return writer_write_file(shown->writer, shown->profile, shown->options, path);
	if (strcmp(path, "-") != 0)
		options.colour = options.brief = false;
	plain.options = &options;
	return output_file_write(path, put_diff, &plain);
}

static enum exit_code write_all(const struct options *options, struct shown *shown)
{
	const struct options_output terminal = { .path = "-", .writer = &writer_text };
	const struct options_output *outputs = options->outputs;
	unsigned count = options->output_count;
	struct profile_output_note note = { "" };
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
		if (!failure)
			profile_output_note_file(&note, outputs[i].path);
	}
	if (note.text[0] && !options->quiet && isatty(STDERR_FILENO))
		fprintf(stderr, "%s\n", note.text);
	return code;
}

static enum exit_code compare(const struct options *options, const struct writer_options *terminal,
			      const struct recording_fold folds[DIFF_SIDES])
{
	const struct profile *const profiles[DIFF_SIDES] = { folds[DIFF_BASE].profile,
							     folds[DIFF_NOW].profile };
	const struct spread *const spreads[DIFF_SIDES] = { folds[DIFF_BASE].spread,
							   folds[DIFF_NOW].spread };
	struct shown shown = { .options = terminal };
	struct diff *diff = diff_create_of_sets(profiles, spreads);
	enum exit_code code;

	if (!diff) {
		fprintf(stderr, "pieprofd: out of memory\n");
		return EXIT_INTERNAL;
	}
	shown.diff = diff;
	code = write_all(options, &shown);
	if (code == EXIT_OK)
		code = threshold_check(options, diff, "");
	diff_destroy(diff);
	return code;
}

static enum exit_code open_fold(const struct options *options, const struct recording_list *list,
				struct recording_fold *fold)
{
	enum exit_code code = recording_fold_open(fold, list->paths, list->count,
						  options->base != NULL, options->quiet);

	if (!code && recording_fold_mark_sources(fold)) {
		fprintf(stderr, "pieprofd: out of memory\n");
		code = EXIT_INTERNAL;
	}
	return code;
}

static enum exit_code report_folded(const struct options *options,
				    const struct writer_options *terminal,
				    const struct recording_list *list,
				    const struct recording_list *base)
{
	struct recording_fold folds[DIFF_SIDES] = { { 0 } };
	struct shown shown = { .options = terminal };
	enum exit_code code = open_fold(options, list, &folds[DIFF_NOW]);

	if (!code && options->base)
		code = open_fold(options, base, &folds[DIFF_BASE]);
	shown.profile = folds[DIFF_NOW].profile;
	if (!code)
		code = options->base ? compare(options, terminal, folds)
				     : write_all(options, &shown);
	for (unsigned s = 0; s < DIFF_SIDES; s++)
		recording_fold_close(&folds[s]);
	return code;
}

/* For a tool, of a report instead of a recording. */
static enum exit_code answer_from_json(const char *path)
{
	int failure = tool_write_report(path, stdout);

	if (failure == -EINVAL)
		fprintf(stderr, "pieprofd: %s is no report that pieprofd wrote as JSON\n", path);
	else if (failure)
		fprintf(stderr, "pieprofd: %s could not be read: %s\n", path, strerror(-failure));
	return !failure ? EXIT_OK : failure == -EINVAL ? EXIT_USAGE : EXIT_INTERNAL;
}

/* ---- rows of each recording, for tables that add up themselves ---- */

struct listed {
	const struct recording_list *list;
	const struct writer_options *options;
	enum exit_code code;
};

static int put_each(void *context, FILE *file)
{
	struct listed *listed = context;
	int result = 0;

	for (size_t i = 0; i < listed->list->count && !result; i++) {
		struct recording *recording =
			recording_fold_read(listed->list->paths[i], &listed->code);

		if (!recording)
			return -ECANCELED;
		result = writer_rows.write(&recording->profile, listed->options, file);
		recording_close(recording);
	}
	return result;
}

static enum exit_code write_rows(const struct options *options,
				 const struct writer_options *terminal,
				 const struct recording_list *list)
{
	struct listed listed = { list, terminal, EXIT_OK };

	for (unsigned i = 0; i < options->output_count && !listed.code; i++) {
		const char *path = options->outputs[i].path;
		int failure = output_file_write(path, put_each, &listed);

		if (!failure || listed.code || (failure == -EPIPE && !strcmp(path, "-")))
			continue;
		fprintf(stderr, "pieprofd: %s could not be written: %s\n", path,
			strerror(-failure));
		listed.code = EXIT_INTERNAL;
	}
	return listed.code;
}

/* They are of the recordings, not of what is folded of them. */
static bool is_of_rows(const struct options *options)
{
	unsigned rows = 0;

	for (unsigned i = 0; i < options->output_count; i++)
		rows += options->outputs[i].writer == &writer_rows;
	return rows && rows == options->output_count;
}

static enum exit_code report_lists(const struct options *options, const struct recording_list *list,
				   const struct recording_list *base)
{
	const struct writer_options terminal = standard_output_options(options);

	if (options->by && options->base)
		return fleet_diff_report(options, &terminal, list, base);
	if (options->by)
		return fleet_table_report(options, &terminal, list);
	if (is_of_rows(options))
		return write_rows(options, &terminal, list);
	return report_folded(options, &terminal, list, base);
}

/*
 * The recordings, and behind them those of the base. Lists are read before anything is given up:
 * what they name is what rights may be needed for.
 */
static enum exit_code read_lists(const struct options *options, struct recording_list *list,
				 size_t *ret_count)
{
	struct error error = { 0 };
	int failed = 0;

	for (unsigned i = 0; i < options->recording_count && !failed; i++)
		failed = recording_list_add(list, options->recordings[i], &error);
	*ret_count = list->count;
	if (!failed && options->base)
		failed = recording_list_add(list, options->base, &error);
	if (!failed)
		return EXIT_OK;
	message_error(&error);
	return error.exit_code;
}

/* Of several nodes or processes, as one. */
static enum exit_code merge_traces(const struct options *options, const struct recording_list *list)
{
	struct trace_set set;
	struct error error;
	enum exit_code code;

	if (trace_set_read(&set, list->paths, list->count, &error)) {
		message_error(&error);
		code = error.exit_code;
	} else {
		/* A conversion is quiet, as of recordings. */
		code = trace_output(options, &set.trace,
				    !options->quiet && (!options->output_count || options->json));
	}
	trace_set_deinit(&set);
	return code;
}

enum exit_code report_command(const struct options *options)
{
	struct recording_list all = { 0 };
	size_t count;
	enum exit_code code = read_lists(options, &all, &count);

	signal(SIGPIPE, SIG_IGN);
	/* Each process of a trace has a file of its own. */
	if (options->of_traces)
		file_limit_raise();
	if (!code)
		code = file_confinement_begin(options, all.paths, all.count);
	if (!code && options->of_traces)
		code = merge_traces(options, &all);
	else if (!code && options->for_tool && !options->base &&
		 writer_by_path(all.paths[0]) == &writer_json) {
		code = answer_from_json(all.paths[0]);
	} else if (!code) {
		const struct recording_list list = { .paths = all.paths, .count = count };
		const struct recording_list base = { .paths = all.paths + count,
						     .count = all.count - count };

		code = report_lists(options, &list, &base);
	}
	recording_list_deinit(&all);
	return code;
}

/* SPDX-License-Identifier: Apache-2.0 */
#include "daemon/cli/commands.h"

#include "daemon/cli/file_confinement.h"
#include "daemon/cli/profile_output.h"
#include "daemon/cli/standard_output.h"
#include "daemon/mcp/tool_writer.h"
#include "daemon/report/diff/diff_writers.h"
#include "daemon/report/format/output_file.h"
#include "daemon/report/html/html.h"
#include "daemon/report/merge/profile_merge.h"
#include "daemon/report/model/arena.h"
#include "daemon/report/model/profile_sources.h"
#include "daemon/report/recording/recording.h"
#include "daemon/report/writer_table.h"

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

/* Of marks on the sources of several recordings. */
#define SOURCES_BYTES_MAX (64u << 20)

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

/* Of the parts, which have lost their histograms: bounds. */
static void bound_stops(struct stop_times *into, const struct stop_times *part)
{
	into->count += part->count;
	into->p50_ns = part->p50_ns > into->p50_ns ? part->p50_ns : into->p50_ns;
	into->p99_ns = part->p99_ns > into->p99_ns ? part->p99_ns : into->p99_ns;
	into->max_ns = part->max_ns > into->max_ns ? part->max_ns : into->max_ns;
}

/* What is shown: a recording's profile, or that of several. */
struct subject {
	struct profile *profile;
	struct recording *recording; /* NULL: of several */
	struct profile_merge *merge;
	struct arena arena; /* of several: for the sources' */
	/* Of the parts. */
	struct profile_facts facts;
	bool one_process;
	uint64_t duration_ns;
};

static void note_part(struct subject *subject, const struct profile_facts *facts, bool first)
{
	if (first) {
		subject->facts.target = facts->target;
		subject->one_process = true;
	}
	subject->one_process &= facts->target.pid == subject->facts.target.pid &&
				facts->target.start_time == subject->facts.target.start_time;
	subject->duration_ns += facts->duration_ns;
	bound_stops(&subject->facts.stops, &facts->stops);
	bound_stops(&subject->facts.sample_stops, &facts->sample_stops);
	bound_stops(&subject->facts.breakpoint_stops, &facts->breakpoint_stops);
}

/* Twice: whether all are of one process is to be known before the first is added. */
static enum exit_code read_parts(const struct options *options, struct subject *subject, bool add)
{
	for (unsigned i = 0; i < options->recording_count; i++) {
		enum exit_code code = EXIT_OK;
		struct recording *recording = open_recording(options->recordings[i], &code);
		int failure = 0;

		if (!recording)
			return code;
		if (add) {
			failure = profile_merge_add(subject->merge, &recording->profile);
		} else {
			say_unfinished(options, options->recordings[i], &recording->profile);
			note_part(subject, &recording->profile.facts, i == 0);
			if (recording->profile.process_count)
				subject->one_process = false;
		}
		recording_close(recording);
		if (failure) {
			fprintf(stderr, "pieprofd: out of memory\n");
			return EXIT_INTERNAL;
		}
	}
	return EXIT_OK;
}

static enum exit_code merge_parts(const struct options *options, struct subject *subject)
{
	enum exit_code code;
	struct profile_facts *facts;

	arena_init(&subject->arena, SOURCES_BYTES_MAX);
	subject->merge = profile_merge_create();
	code = subject->merge ? read_parts(options, subject, false) : EXIT_INTERNAL;
	if (!code && subject->one_process)
		profile_merge_set_one_process(subject->merge);
	if (!code)
		code = read_parts(options, subject, true);
	if (code)
		return code;
	subject->profile = profile_merge_build(subject->merge, false);
	if (!subject->profile) {
		fprintf(stderr, "pieprofd: out of memory\n");
		return EXIT_INTERNAL;
	}
	facts = &subject->profile->facts;
	if (!facts->stops.count) {
		facts->stops = subject->facts.stops;
		facts->sample_stops = subject->facts.sample_stops;
		facts->breakpoint_stops = subject->facts.breakpoint_stops;
	}
	/* The time between two of them was not watched. */
	if (facts->duration_ns > subject->duration_ns)
		facts->duration_ns = subject->duration_ns;
	return EXIT_OK;
}

static enum exit_code subject_open(const struct options *options, struct subject *subject)
{
	enum exit_code code = EXIT_OK;

	*subject = (struct subject){ 0 };
	if (options->recording_count > 1)
		return merge_parts(options, subject);
	subject->recording = open_recording(options->recordings[0], &code);
	if (!subject->recording)
		return code;
	subject->profile = &subject->recording->profile;
	say_unfinished(options, options->recordings[0], subject->profile);
	return EXIT_OK;
}

static void subject_close(struct subject *subject)
{
	if (subject->recording) {
		recording_close(subject->recording);
		return;
	}
	profile_destroy(subject->profile);
	profile_merge_destroy(subject->merge);
	arena_deinit(&subject->arena);
}

static enum exit_code report_subject(const struct options *options,
				     const struct writer_options *terminal)
{
	struct subject subject;
	enum exit_code code = subject_open(options, &subject);
	struct shown shown = { .options = terminal, .profile = subject.profile };

	if (!code &&
	    profile_sources_compare(subject.profile, subject.recording ? &subject.recording->arena
								       : &subject.arena)) {
		fprintf(stderr, "pieprofd: out of memory\n");
		code = EXIT_INTERNAL;
	}
	if (!code)
		code = options->base ? write_diff(options, terminal, subject.profile)
				     : write_all(options, &shown);
	subject_close(&subject);
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

enum exit_code report_command(const struct options *options)
{
	const struct writer_options terminal = standard_output_options(options);
	enum exit_code code;

	signal(SIGPIPE, SIG_IGN);
	code = file_confinement_begin(options);
	if (code != EXIT_OK)
		return code;
	if (options->for_tool && !options->base &&
	    writer_by_path(options->recordings[0]) == &writer_json)
		return answer_from_json(options->recordings[0]);
	return report_subject(options, &terminal);
}

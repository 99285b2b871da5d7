/* SPDX-License-Identifier: Apache-2.0 */
#include "daemon/mcp/tool_writer.h"

#include "common/whole_file.h"
#include "daemon/report/encode/markdown_text.h"
#include "daemon/report/format/json_finding.h"
#include "daemon/report/format/json_value.h"

#include <errno.h>
#include <stdlib.h>

/* Reports of hours are some megabytes. As values they take ten times that. */
#define REPORT_BYTES_MAX (64u << 20)
/* In columns of a terminal. */
#define WORDS_MAX 600
#define CODE_MAX  120
#define LIST_MAX  32

static json_t *tool_json(const struct profile *profile)
{
	const struct profile_facts *facts = &profile->facts;
	json_t *object = json_with(json_object(), "pieprofd", json_text(facts->version));

	object = json_with(object, "target", json_target(&facts->target));
	object = json_with(object, "duration_ns", json_count(facts->duration_ns));
	object = json_with(object, "cpu_ns", json_count(facts->cpu_ns));
	object = json_with(object, "samples", json_count(facts->samples));
	object = json_with(object, "overhead", json_figure(facts->overhead));
	object = json_with(object, "verdict", json_verdict(profile));
	return json_with(object, "findings", json_findings(profile));
}

static int tool_write(const struct profile *profile, const struct writer_options *options,
		      FILE *file)
{
	int result = writer_markdown.write(profile, options, file);

	fputc('\0', file);
	return result ? result : json_put(file, tool_json(profile));
}

const struct writer writer_tool = { .name = "tool", .extension = "", .write = tool_write };

/* ---- a report as JSON ---- */

static void put_words(FILE *file, const json_t *value)
{
	if (!json_is_string(value))
		return;
	fputc(' ', file);
	markdown_text(file, json_string_value(value), WORDS_MAX);
}

static void put_code(FILE *file, const json_t *value)
{
	if (!json_is_string(value))
		return;
	fputc(' ', file);
	markdown_code(file, json_string_value(value), CODE_MAX);
}

static void put_place(FILE *file, const json_t *finding)
{
	const json_t *own = json_object_get(finding, "own_line");
	const json_t *place = json_is_object(own) ? own : finding;
	const json_t *line = json_object_get(place, "line");

	put_code(file, json_object_get(place, "file"));
	if (json_integer_value(line) > 0)
		fprintf(file, " line %lld", (long long)json_integer_value(line));
	fputs(" in", file);
	put_code(file, json_object_get(place, "function"));
	fputc(':', file);
}

static void put_report(FILE *file, const json_t *verdict, const json_t *findings)
{
	static const char *const members[] = { "what", "gain", "evidence", "caution", "advice" };
	const json_t *sentences = json_object_get(verdict, "sentences");

	fputs("## pieprofd:", file);
	put_words(file, json_object_get(verdict, "headline"));
	fputs("\n\n", file);
	for (size_t i = 0; i < json_array_size(sentences) && i < LIST_MAX; i++) {
		fputc('-', file);
		put_words(file, json_array_get(sentences, i));
		fputc('\n', file);
	}
	if (json_array_size(findings))
		fputs("\n### Findings\n\n", file);
	for (size_t i = 0; i < json_array_size(findings) && i < LIST_MAX; i++) {
		const json_t *finding = json_array_get(findings, i);

		fputc('-', file);
		put_place(file, finding);
		put_code(file, json_object_get(finding, "source"));
		for (size_t k = 0; k < sizeof(members) / sizeof(members[0]); k++)
			put_words(file, json_object_get(finding, members[k]));
		if (json_is_string(json_object_get(finding, "example"))) {
			fputs(" For example:", file);
			put_code(file, json_object_get(finding, "example"));
		}
		fputc('\n', file);
	}
}

static json_t *report_json(const json_t *report)
{
	static const char *const members[] = { "pieprofd", "target",   "duration_ns", "cpu_ns",
					       "samples",  "overhead", "verdict",     "findings" };
	json_t *object = json_object();

	for (size_t i = 0; i < sizeof(members) / sizeof(members[0]); i++) {
		json_t *value = json_object_get(report, members[i]);

		if (value)
			object = json_with(object, members[i], json_incref(value));
	}
	return object;
}

int tool_write_report(const char *path, FILE *file)
{
	char *text = NULL;
	size_t size = 0;
	int result = whole_file_read(path, REPORT_BYTES_MAX, &text, &size);
	const json_t *verdict, *findings;
	json_error_t error;
	json_t *report;

	if (result)
		return result;
	report = json_loadb(text, size, JSON_REJECT_DUPLICATES, &error);
	free(text);
	verdict = json_object_get(report, "verdict");
	findings = json_object_get(report, "findings");
	if (!json_object_get(report, "pieprofd") || !json_is_object(verdict) ||
	    !json_is_array(findings)) {
		json_decref(report);
		return -EINVAL;
	}
	put_report(file, verdict, findings);
	fputc('\0', file);
	result = json_put(file, report_json(report));
	json_decref(report);
	return result;
}

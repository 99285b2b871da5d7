/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The report in Markdown, for a pull request, a note on an incident or a language model: what was
 * profiled, the verdict, the findings, the lines with most time, and what speaks for it. Of bounded
 * length, whatever the target's names are.
 */
#include "daemon/report/format/markdown.h"
#include "daemon/report/encode/figure.h"
#include "daemon/report/encode/file_uri.h"
#include "daemon/report/encode/markdown_text.h"
#include "daemon/report/format/writer.h"
#include "daemon/report/model/container_text.h"
#include "daemon/report/model/profile_facts.h"
#include "daemon/report/model/verdict.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>

#define LINES_DEFAULT 10
#define LINES_MAX     100
/* In columns of a terminal. */
#define SENTENCE_MAX 600
#define WHERE_MAX    200

struct markdown {
	FILE *file;
	const struct profile *profile;
	const char *root;
};

static void put_words(const struct markdown *markdown, const char *text)
{
	markdown_text(markdown->file, text, SENTENCE_MAX);
}

void markdown_put_line(FILE *file, const char *path, int line, const char *root)
{
	char *where = NULL;
	int length = line ? asprintf(&where, "%s:%d", path_below(path, root), line)
			  : asprintf(&where, "%s", path_below(path, root));

	markdown_code(file, length < 0 ? "?" : where, WHERE_MAX);
	if (length >= 0)
		free(where);
}

static void markdown_put_where(const struct markdown *markdown, const struct profile_line *line)
{
	markdown_put_line(markdown->file, line->file, line->line, markdown->root);
}

static const char *text_of(const struct profile_line *line)
{
	return line->source && *line->source ? line->source : line->function;
}

void markdown_put_target(FILE *file, const char *label, const struct profile *profile)
{
	const struct profile_facts *facts = &profile->facts;
	const struct profile_target *target = &facts->target;
	struct container_text container = container_words(&target->container);
	char command[512], words[160];
	size_t used = 0;

	for (size_t i = 0; target->command && target->command[i] && used < sizeof(command); i++)
		used += (size_t)snprintf(command + used, sizeof(command) - used, "%s%s",
					 i ? " " : "", target->command[i]);
	if (!used)
		snprintf(command, sizeof(command), "%.*s", (int)sizeof(target->comm), target->comm);
	fprintf(file, "%s: ", label);
	markdown_code(file, command, MARKDOWN_CODE_MAX);
	snprintf(words, sizeof(words), " (pid %d", (int)target->pid);
	fputs(words, file);
	if (profile->process_count > 1)
		fprintf(file, " and %zu more", profile->process_count - 1);
	fputs(")", file);
	if (container.text[0]) {
		fputs(" in container ", file);
		markdown_code(file, container.text, MARKDOWN_CODE_MAX);
	}
	if (target->python.major)
		fprintf(file, ", Python %d.%d.%d", target->python.major, target->python.minor,
			target->python.micro);
	fprintf(file, ", %s, %" PRIu64 " sample%s%s, %s of CPU time, overhead %s, ",
		figure_ns(facts->duration_ns).text, facts->samples, figure_plural(facts->samples),
		profile_roughness(facts), figure_ns(time_sum(profile->time_ns)).text,
		figure_share(facts->overhead).text);
	snprintf(words, sizeof(words), "pieprofd %s", facts->version);
	markdown_text(file, words, SENTENCE_MAX);
	fputs("\n\n", file);
}

static void markdown_put_verdict(const struct markdown *markdown, const struct verdict *verdict)
{
	for (size_t i = 0, place = 0; i <= verdict->sentence_count; i++) {
		for (; place < verdict->place_count && verdict->places[place].position == i;
		     place++) {
			const struct profile_line *line = &verdict->places[place].line;

			fputs("- ", markdown->file);
			markdown_put_where(markdown, line);
			fputs(" in ", markdown->file);
			markdown_code(markdown->file, line->function, MARKDOWN_CODE_MAX);
			if (line->source && *line->source) {
				fputs(": ", markdown->file);
				markdown_code(markdown->file, line->source, MARKDOWN_CODE_MAX);
			}
			fputc('\n', markdown->file);
		}
		if (i < verdict->sentence_count) {
			fputs("- ", markdown->file);
			put_words(markdown, verdict->sentences[i]);
			fputc('\n', markdown->file);
		}
	}
}

static void put_findings(const struct markdown *markdown, const struct finding *findings,
			 size_t count)
{
	if (!count)
		return;
	fputs("\n### What it could save\n\n"
	      "| could save | between | certainty | line | code | kind |\n"
	      "| ---: | :---: | --- | --- | --- | --- |\n",
	      markdown->file);
	for (size_t i = 0; i < count; i++) {
		const struct finding *finding = &findings[i];

		/* Of a slow pattern alone it is not known. */
		if (finding->saving_ns)
			fprintf(markdown->file, "| %.0f%% | %.0f to %.0f%% | %s | ",
				100 * finding->saving, 100 * finding->saving_low,
				100 * finding->saving_high,
				finding_certainty_name(finding->certainty));
		else
			fputs("| ? | ? | not measured | ", markdown->file);
		markdown_put_where(markdown, finding_place(finding));
		fputs(" | ", markdown->file);
		markdown_code(markdown->file,
			      finding->expression ? finding->expression : text_of(finding->line),
			      MARKDOWN_CODE_MAX);
		fprintf(markdown->file, " | %s |\n", finding_rule(finding));
	}
}

static int put_lines(const struct markdown *markdown, size_t maximum)
{
	const struct profile *profile = markdown->profile;
	uint64_t total_ns = time_sum(profile->time_ns), samples = profile->facts.samples;
	const struct profile_line **lines = calloc(profile->line_count + 1, sizeof(*lines));
	size_t count = profile->line_count;

	if (!lines)
		return -ENOMEM;
	for (size_t i = 0; i < count; i++)
		lines[i] = &profile->lines[i];
	qsort(lines, count, sizeof(*lines), profile_line_by_self);
	for (size_t i = 0; i < count && i < maximum && time_sum(lines[i]->self_ns); i++) {
		if (!i)
			fputs("\n### Lines with most CPU time\n\n"
			      "| self | total | line | code |\n"
			      "| ---: | ---: | --- | --- |\n",
			      markdown->file);
		fprintf(markdown->file, "| %s | %s | ",
			figure_sampled(time_sum(lines[i]->self_ns), total_ns, samples).text,
			figure_sampled(lines[i]->total_ns, total_ns, samples).text);
		markdown_put_where(markdown, lines[i]);
		fputs(" | ", markdown->file);
		markdown_code(markdown->file, text_of(lines[i]), MARKDOWN_CODE_MAX);
		fputs(" |\n", markdown->file);
	}
	free(lines);
	return 0;
}

static void put_evidence(const struct markdown *markdown, const struct finding *findings,
			 size_t count)
{
	if (count)
		fputs("\n### Evidence\n\n", markdown->file);
	for (size_t i = 0; i < count; i++) {
		const struct finding *finding = &findings[i];

		fputs("- ", markdown->file);
		markdown_put_where(markdown, finding->line);
		fputs(": ", markdown->file);
		if (finding->what[0]) {
			put_words(markdown, finding->what);
			fputc(' ', markdown->file);
		}
		put_words(markdown, finding->evidence);
		if (finding->caution[0]) {
			fputc(' ', markdown->file);
			put_words(markdown, finding->caution);
		}
		if (finding->advice[0]) {
			fputc(' ', markdown->file);
			put_words(markdown, finding->advice);
		}
		if (finding->example) {
			fputs(" For example: ", markdown->file);
			markdown_code(markdown->file, finding->example, MARKDOWN_CODE_MAX);
		}
		fputc('\n', markdown->file);
	}
}

static int markdown_write(const struct profile *profile, const struct writer_options *options,
			  FILE *file)
{
	const struct markdown markdown = { file, profile, options->source_root };
	size_t maximum = options->lines_max ? options->lines_max : LINES_DEFAULT;
	struct findings findings;
	struct verdict verdict;
	int result = findings_of(profile, &findings);

	if (!result)
		result = verdict_find(profile, &verdict);
	if (result) {
		findings_deinit(&findings);
		return result;
	}
	fputs("## pieprofd: ", file);
	put_words(&markdown, verdict.headline);
	fputs("\n\n", file);
	markdown_put_target(file, "Profiled", profile);
	markdown_put_verdict(&markdown, &verdict);
	put_findings(&markdown, findings.items, findings.count);
	result = put_lines(&markdown, maximum < LINES_MAX ? maximum : LINES_MAX);
	put_evidence(&markdown, findings.items, findings.count);
	findings_deinit(&findings);
	return result ? result : ferror(file) ? -EIO : 0;
}

const struct writer writer_markdown = { .name = "markdown",
					.extension = ".md",
					.write = markdown_write };

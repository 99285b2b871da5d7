/* SPDX-License-Identifier: Apache-2.0 */
/* What changed, in Markdown: of the findings, and of lines by more than chance. */
#include "daemon/report/diff/diff_writers.h"
#include "daemon/report/diff/finding_change.h"
#include "daemon/report/encode/markdown_text.h"
#include "daemon/report/format/markdown.h"

#include <errno.h>

#define LINES_DEFAULT 10
#define LINES_MAX     100
#define HEADLINE_MAX  600

static struct figure figure_of(const struct diff *diff, const struct diff_entry *entry,
			       const double share[DIFF_SIDES], enum diff_side side)
{
	struct figure figure = { .text = "-" };

	return entry->present[side] ? diff_share(diff, side, share[side]) : figure;
}

static void put_finding_row(FILE *file, const struct diff *diff,
			    const struct finding_change *change, const char *root)
{
	const struct finding *finding = finding_change_shown(change);
	const struct profile_line *place = finding_place(finding);

	fprintf(file, "| %s%s | %s | %s | ", finding_change_name(change->kind),
		change->chance ? ", by chance?" : "",
		figure_of(diff, change->entry, change->share, DIFF_BASE).text,
		figure_of(diff, change->entry, change->share, DIFF_NOW).text);
	markdown_put_line(file, place->file, place->line, root);
	fputs(" | ", file);
	markdown_code(file, finding_change_code(change), MARKDOWN_CODE_MAX);
	fprintf(file, " | %s |\n", finding_rule(finding));
}

static void put_finding_rows(FILE *file, const struct finding_changes *changes, const char *root)
{
	if (!changes->count) {
		fputs("\nNeither has a finding.\n", file);
		return;
	}
	fputs("\n### Findings\n\n"
	      "What each could save, of the CPU time; of a slow pattern alone, the time it "
	      "takes.\n\n"
	      "| | before | now | line | code | kind |\n"
	      "| --- | ---: | ---: | --- | --- | --- |\n",
	      file);
	for (size_t i = 0; i < changes->count; i++)
		put_finding_row(file, changes->diff, &changes->items[i], root);
}

static void put_line_row(FILE *file, const struct diff *diff, const struct diff_entry *entry,
			 const char *root)
{
	const struct diff_figure *time = &entry->time;
	enum diff_side side = entry->present[DIFF_NOW] ? DIFF_NOW : DIFF_BASE;

	fprintf(file, "| %s | %s | %+.0f (%+.0f to %+.0f) | ",
		figure_of(diff, entry, time->share, DIFF_BASE).text,
		figure_of(diff, entry, time->share, DIFF_NOW).text,
		time->rate[DIFF_NOW] - time->rate[DIFF_BASE], time->rate_change.low,
		time->rate_change.high);
	markdown_put_line(file, entry->file, entry->line[side], root);
	fputs(" | ", file);
	markdown_code(file, entry->source && *entry->source ? entry->source : entry->function,
		      MARKDOWN_CODE_MAX);
	fputs(" |\n", file);
}

static void put_line_rows(FILE *file, const struct diff *diff, size_t maximum, const char *root)
{
	size_t loud = 0, shown;

	while (loud < diff->line_count && !diff->lines[loud].time.noise)
		loud++;
	shown = loud < maximum ? loud : maximum;
	if (shown)
		fputs("\n### Lines whose own time changed by more than chance\n\n"
		      "| before | now | CPU ms a second (95% interval) | line | code |\n"
		      "| ---: | ---: | ---: | --- | --- |\n",
		      file);
	for (size_t i = 0; i < shown; i++)
		put_line_row(file, diff, &diff->lines[i], root);
	fprintf(file, "\n%zu more line%s changed by more than chance; %zu did not.\n", loud - shown,
		figure_plural(loud - shown), diff->line_count - loud);
}

int diff_write_markdown(const struct diff *diff, const struct writer_options *options, FILE *file)
{
	size_t maximum = options->lines_max ? options->lines_max : LINES_DEFAULT;
	struct finding_changes *changes = finding_changes_find(diff);
	char headline[512];

	if (!changes)
		return -ENOMEM;
	diff_headline(diff, headline, sizeof(headline));
	fputs("## pieprofd: ", file);
	markdown_text(file, headline, HEADLINE_MAX);
	fputs("\n\n", file);
	markdown_put_target(file, "Base", diff->profiles[DIFF_BASE]);
	markdown_put_target(file, "Now", diff->profiles[DIFF_NOW]);
	fprintf(file,
		"All lines together could save %.1f ms of CPU a second before (95%% interval %.1f "
		"to %.1f), %.1f now (%.1f to %.1f)%s.\n",
		diff->avoidable_rate[DIFF_BASE], diff->avoidable[DIFF_BASE].low,
		diff->avoidable[DIFF_BASE].high, diff->avoidable_rate[DIFF_NOW],
		diff->avoidable[DIFF_NOW].low, diff->avoidable[DIFF_NOW].high,
		diff->avoidable_noise ? ": the difference is within noise" : "");
	put_finding_rows(file, changes, options->source_root);
	put_line_rows(file, diff, maximum < LINES_MAX ? maximum : LINES_MAX, options->source_root);
	finding_changes_destroy(changes);
	return ferror(file) ? -EIO : 0;
}

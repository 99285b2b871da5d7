/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Workflow commands of GitHub's runners, which show the findings beside the lines of a pull
 * request: one a finding, where the program itself can be changed.
 *
 *   ::warning file=app/model.py,line=7,col=5,endColumn=21,title=...::text
 */
#include "daemon/report/format/github.h"
#include "daemon/report/encode/figure.h"
#include "daemon/report/encode/file_uri.h"
#include "daemon/report/encode/workflow_command.h"
#include "daemon/report/format/writer.h"
#include "daemon/report/model/line_mark.h"
#include "daemon/report/model/profile_facts.h"
#include "daemon/report/model/verdict.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>

#define MESSAGE_BYTES 4096

/* Columns are of the expression; none where it goes on in further lines. */
int github_put_finding(FILE *file, const struct finding *finding, const struct github_note *note,
		       const char *root)
{
	const struct profile_line *line = finding_place(finding);
	bool mild = note->mild || finding->certainty == FINDING_POSSIBLE;
	char message[MESSAGE_BYTES];
	size_t from, to, used = 0;

	if (note->sentence)
		used = (size_t)snprintf(message, sizeof(message), "%.256s ", note->sentence);
	finding_message(finding, message + used, sizeof(message) - used);
	fprintf(file, "::%s file=", mild ? "notice" : "warning");
	if (workflow_property(file, path_below(line->file, root)) < 0)
		return -ENOMEM;
	if (line->line > 0)
		fprintf(file, ",line=%d", line->line);
	if (line->line > 0 && line_mark_columns(line, &from, &to)) {
		if (line->end_line > line->line)
			fprintf(file, ",endLine=%d", line->end_line);
		else
			fprintf(file, ",col=%zu,endColumn=%zu", from, to);
	}
	fputs(",title=", file);
	if (workflow_property(file, finding->headline) < 0)
		return -ENOMEM;
	fputs("::", file);
	if (workflow_message(file, message) < 0)
		return -ENOMEM;
	fputc('\n', file);
	return 0;
}

int github_put_notice(FILE *file, const char *words)
{
	fputs("::notice title=pieprofd::", file);
	if (workflow_message(file, words) < 0)
		return -ENOMEM;
	fputc('\n', file);
	return 0;
}

int github_put_roughness(FILE *file, const struct profile *profile)
{
	const struct profile_facts *facts = &profile->facts;
	const char *roughness = profile_roughness(facts);
	char words[96];

	if (!*roughness)
		return 0;
	snprintf(words, sizeof(words), "%" PRIu64 " sample%s%s", facts->samples,
		 figure_plural(facts->samples), roughness);
	return github_put_notice(file, words);
}

/* That it was looked at, and nothing found, or what else there was. */
static int put_verdict(FILE *file, const struct profile *profile)
{
	struct verdict verdict;

	return verdict_find(profile, &verdict) ? -ENOMEM
					       : github_put_notice(file, verdict.headline);
}

static int github_write(const struct profile *profile, const struct writer_options *options,
			FILE *file)
{
	struct findings findings;
	int result = findings_of(profile, &findings);

	if (!result)
		result = github_put_roughness(file, profile);
	for (size_t i = 0; i < findings.count && !result; i++)
		result = github_put_finding(file, &findings.items[i],
					    &(struct github_note){ NULL, false },
					    options->source_root);
	if (!findings.count && !result)
		result = put_verdict(file, profile);
	findings_deinit(&findings);
	return result ? result : ferror(file) ? -EIO : 0;
}

const struct writer writer_github = { .name = "github",
				      .extension = ".github.txt",
				      .write = github_write };

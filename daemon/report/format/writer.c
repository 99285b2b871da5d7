/* SPDX-License-Identifier: Apache-2.0 */
#include "daemon/report/format/writer.h"

#include "daemon/report/format/output_file.h"

#include <string.h>

struct report {
	const struct writer *writer;
	const struct profile *profile;
	struct writer_options options;
};

static int writer_put_report(void *context, FILE *file)
{
	const struct report *report = context;

	return report->writer->write(report->profile, &report->options, file);
}

int writer_write_file(const struct writer *writer, const struct profile *profile,
		      const struct writer_options *options, const char *path)
{
	struct report report = { writer, profile, *options };

	if (strcmp(path, "-") != 0) {
		report.options.colour = report.options.brief = report.options.verdict_last = false;
		report.options.notes = NULL;
	}
	return output_file_write(path, writer_put_report, &report);
}

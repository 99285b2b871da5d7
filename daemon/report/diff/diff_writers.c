/* SPDX-License-Identifier: Apache-2.0 */
#include "daemon/report/diff/diff_writers.h"

static int write_json(const struct diff *diff, const struct writer_options *options, FILE *file)
{
	(void)options;
	return diff_write_json(diff, file);
}

diff_write *diff_write_of(const struct writer *writer)
{
	static const struct {
		const struct writer *writer;
		diff_write *write;
	} rows[] = {
		{ &writer_text, diff_write_text },         { &writer_json, write_json },
		{ &writer_sarif, diff_write_sarif },       { &writer_github, diff_write_github },
		{ &writer_markdown, diff_write_markdown },
	};

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++)
		if (rows[i].writer == writer)
			return rows[i].write;
	return NULL;
}

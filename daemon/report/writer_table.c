/* SPDX-License-Identifier: Apache-2.0 */
#include "daemon/report/writer_table.h"

#include "daemon/report/html/html.h"
#include "daemon/report/recording/recording.h"

#include <string.h>

static const struct writer *const writers[] = {
	&writer_text,       &writer_json,    &writer_collapsed, &writer_pprof,
	&writer_speedscope, &writer_firefox, &writer_html,      &writer_recording,
	&writer_sarif,      &writer_github,  &writer_markdown,  &writer_rows,
};

#define WRITER_COUNT (sizeof(writers) / sizeof(writers[0]))

const struct writer *writer_by_name(const char *name)
{
	for (size_t i = 0; i < WRITER_COUNT; i++)
		if (strcmp(writers[i]->name, name) == 0)
			return writers[i];
	return NULL;
}

const struct writer *writer_by_path(const char *path)
{
	size_t length = strlen(path), longest = 0;
	const struct writer *found = NULL;

	if (strcmp(path, "-") == 0)
		return &writer_text;
	/* The longest extension: ".speedscope.json" goes before ".json". */
	for (size_t i = 0; i < WRITER_COUNT; i++) {
		size_t extension = strlen(writers[i]->extension);

		if (length <= extension || extension <= longest ||
		    strcmp(path + length - extension, writers[i]->extension) != 0)
			continue;
		found = writers[i];
		longest = extension;
	}
	return found;
}

void writer_names(FILE *file)
{
	for (size_t i = 0; i < WRITER_COUNT; i++)
		fprintf(file, "%s%s", i ? ", " : "", writers[i]->name);
}

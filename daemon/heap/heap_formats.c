/* SPDX-License-Identifier: Apache-2.0 */
#include "daemon/heap/heap_formats.h"

#include "daemon/report/html/html.h"

static int write_json(const struct heap_look *look, const struct writer_options *options,
		      FILE *file)
{
	(void)options;
	return heap_write_json(look, file);
}

heap_write *heap_write_of(const struct writer *writer)
{
	static const struct {
		const struct writer *writer;
		heap_write *write;
	} rows[] = {
		{ &writer_text, heap_write_text },   { &writer_json, write_json },
		{ &writer_html, heap_write_html },   { &writer_collapsed, heap_write_collapsed },
		{ &writer_pprof, heap_write_pprof },
	};

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++)
		if (rows[i].writer == writer)
			return rows[i].write;
	return NULL;
}

/* SPDX-License-Identifier: Apache-2.0 */
#include "daemon/heap/heap_diff_writers.h"

#include "daemon/report/html/html.h"

heap_diff_write *heap_diff_write_of(const struct writer *writer)
{
	if (writer == &writer_text)
		return heap_diff_write_text;
	if (writer == &writer_json)
		return heap_diff_write_json;
	return writer == &writer_html ? heap_diff_write_html : NULL;
}

/* SPDX-License-Identifier: Apache-2.0 */
#include "daemon/heap/heap_diff_writers.h"

heap_diff_write *heap_diff_write_of(const struct writer *writer)
{
	if (writer == &writer_text)
		return heap_diff_write_text;
	return writer == &writer_json ? heap_diff_write_json : NULL;
}

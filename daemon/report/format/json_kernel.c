/* SPDX-License-Identifier: Apache-2.0 */
#include "daemon/report/format/json_kernel.h"

#include "daemon/report/model/frame_function.h"
#include "daemon/report/model/kernel_lines.h"

static json_t *json_functions(const struct kernel_line *line)
{
	json_t *array = json_array();

	for (size_t i = 0; i < line->function_count; i++) {
		json_t *object = json_object();

		object = json_with(object, "function", json_text(line->functions[i].function));
		object = json_with(object, "system_ns", json_count(line->functions[i].time_ns));
		object = json_with(object, "samples", json_count(line->functions[i].samples));
		array = json_appended(array, object);
	}
	return array;
}

static json_t *json_kernel_line(const struct kernel_line *line)
{
	const struct profile_frame *frame = line->frame;
	char buffer[FRAME_FUNCTION_BYTES];
	json_t *object = json_object();

	object = json_with(object, "file", json_text_or_null(frame ? frame->file : NULL));
	object = json_with(object, "line",
			   json_integer(frame && frame->kind == FRAME_PYTHON ? frame->line : 0));
	object = json_with(
		object, "function",
		json_text_or_null(frame ? frame_function(frame, false, buffer, sizeof(buffer))
					: NULL));
	object = json_with(object, "call", json_text_or_null(line->call[0] ? line->call : NULL));
	object = json_with(object, "entry", json_text(line->entry));
	object = json_with(object, "system_ns", json_count(line->time_ns));
	object = json_with(object, "samples", json_count(line->samples));
	return json_with(object, "functions", json_functions(line));
}

json_t *json_kernel(const struct profile *profile)
{
	struct kernel_lines lines;
	json_t *array = kernel_lines_find(&lines, profile) ? NULL : json_array();

	for (size_t i = 0; array && i < lines.count; i++)
		array = json_appended(array, json_kernel_line(&lines.items[i]));
	kernel_lines_deinit(&lines);
	return array;
}

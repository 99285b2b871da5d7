/* SPDX-License-Identifier: Apache-2.0 */
#include "daemon/inspect/doctor_report.h"

#include <stdarg.h>
#include <stdio.h>

const char *doctor_state_name(enum doctor_state state)
{
	static const char *const names[DOCTOR_STATE_COUNT] = {
		[DOCTOR_OK] = "OK",
		[DOCTOR_LIMITED] = "limited",
		[DOCTOR_MISSING] = "missing",
		[DOCTOR_FACT] = "fact",
	};

	return names[state];
}

struct doctor_line *doctor_add(struct doctor_report *report, const char *id,
			       enum doctor_state state, const char *found_format, ...)
{
	struct doctor_line *line;
	va_list arguments;

	if (report->count < DOCTOR_LINES_MAX)
		report->count++;
	line = &report->lines[report->count - 1];
	*line = (struct doctor_line){ .id = id, .state = state, .of_process = report->pid != 0 };
	va_start(arguments, found_format);
	vsnprintf(line->found, sizeof(line->found), found_format, arguments);
	va_end(arguments);
	return line;
}

void doctor_meaning(struct doctor_line *line, const char *format, ...)
{
	va_list arguments;

	va_start(arguments, format);
	vsnprintf(line->meaning, sizeof(line->meaning), format, arguments);
	va_end(arguments);
}

void doctor_cure(struct doctor_line *line, const char *format, ...)
{
	va_list arguments;

	va_start(arguments, format);
	vsnprintf(line->cure, sizeof(line->cure), format, arguments);
	va_end(arguments);
}

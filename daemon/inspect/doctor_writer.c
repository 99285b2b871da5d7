/* SPDX-License-Identifier: Apache-2.0 */
#include "daemon/inspect/doctor_writer.h"

#include "daemon/report/format/json_value.h"
#include "daemon/report/format/text_layout.h"

static void doctor_put_line(const struct text_layout *layout, const struct doctor_line *line)
{
	const char *word = line->state == DOCTOR_FACT ? "" : doctor_state_name(line->state);
	char label[64];

	snprintf(label, sizeof(label), "%-7s %-13s ", word, line->id);
	text_wrapped(layout, label, line->found);
	if (line->meaning[0])
		text_wrapped(layout, "                      ", line->meaning);
	if (line->cure[0])
		text_wrapped(layout, "                      cure: ", line->cure);
}

void doctor_write_text(const struct doctor_report *report, const struct writer_options *options,
		       FILE *file)
{
	struct text_layout layout = {
		.file = file,
		.columns = options->columns ? options->columns : TEXT_COLUMNS_DEFAULT,
		.colour = options->colour,
	};
	bool of_process = false;

	if (layout.columns < TEXT_COLUMNS_MIN)
		layout.columns = TEXT_COLUMNS_MIN;
	if (layout.columns > TEXT_COLUMNS_MAX)
		layout.columns = TEXT_COLUMNS_MAX;
	for (size_t i = 0; i < report->count; i++) {
		if (report->lines[i].of_process && !of_process)
			fputc('\n', file);
		of_process = report->lines[i].of_process;
		doctor_put_line(&layout, &report->lines[i]);
	}
	fputc('\n', file);
	text_wrapped(&layout, "", report->verdict);
}

static json_t *doctor_json_line(const struct doctor_line *line)
{
	json_t *object = json_object();

	object = json_with(object, "id", json_text(line->id));
	object = json_with(object, "of", json_text(line->of_process ? "process" : "machine"));
	object = json_with(object, "state", json_text(doctor_state_name(line->state)));
	object = json_with(object, "found", json_text(line->found));
	object = json_with(object, "meaning",
			   json_text_or_null(line->meaning[0] ? line->meaning : NULL));
	return json_with(object, "cure", json_text_or_null(line->cure[0] ? line->cure : NULL));
}

int doctor_write_json(const struct doctor_report *report, FILE *file)
{
	json_t *object = json_object(), *lines = json_array();
	int error;

	for (size_t i = 0; i < report->count; i++)
		lines = json_appended(lines, doctor_json_line(&report->lines[i]));
	object = json_with(object, "pid", report->pid ? json_integer(report->pid) : json_null());
	object = json_with(object, "exit_code", json_integer(report->exit_code));
	object = json_with(object, "verdict", json_text(report->verdict));
	error = json_put(file, json_with(object, "lines", lines));
	if (!error)
		fputc('\n', file);
	return error;
}

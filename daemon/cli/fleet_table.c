/* SPDX-License-Identifier: Apache-2.0 */
#include "daemon/cli/fleet_table.h"

#include "daemon/cli/fleet_groups.h"
#include "daemon/report/format/json_value.h"
#include "daemon/report/format/output_file.h"
#include "daemon/report/format/text_layout.h"
#include "daemon/report/model/avoidable_sum.h"
#include "daemon/report/model/finding.h"

#include <errno.h>
#include <string.h>

#define ROWS_DEFAULT 20
#define WHERE_BYTES  512

struct group_row {
	const struct fleet_group *group;
	struct avoidable_sum avoidable;
	/* Its most avoidable line. */
	char where[WHERE_BYTES], source[WHERE_BYTES];
	uint64_t where_ns;
};

struct fleet_table {
	const struct options *options;
	const struct writer_options *terminal;
	const struct writer *writer; /* of the output in hand */
	struct fleet_groups groups;
	struct group_row *rows; /* of each group, most time first */
	enum exit_code code;    /* what is to be ended with; EXIT_OK: all went well */
};

bool fleet_table_writes(const struct writer *writer)
{
	return writer == &writer_text || writer == &writer_json || writer == &writer_rows;
}

static int by_time(const void *left, const void *right)
{
	const struct group_row *a = left, *b = right;

	if (a->group->cpu_ns != b->group->cpu_ns)
		return a->group->cpu_ns > b->group->cpu_ns ? -1 : 1;
	return a->group < b->group ? -1 : a->group > b->group;
}

static enum exit_code make_rows(struct fleet_table *table)
{
	size_t count = table->groups.count;

	table->rows = calloc(count ? count : 1, sizeof(table->rows[0]));
	if (!table->rows) {
		fprintf(stderr, "pieprofd: out of memory\n");
		return EXIT_INTERNAL;
	}
	for (size_t i = 0; i < count; i++)
		table->rows[i].group = &table->groups.items[i];
	qsort(table->rows, count, sizeof(table->rows[0]), by_time);
	return EXIT_OK;
}

/* ---- one group after the other */

static void note_worst(struct group_row *row, const struct profile *profile)
{
	for (size_t i = 0; i < profile->line_count; i++) {
		const struct profile_line *line = &profile->lines[i];

		/* As a finding has it: of other lines it may be nothing. */
		if (line->avoidable_ns <= row->where_ns || !profile_line_is_supported(line))
			continue;
		row->where_ns = line->avoidable_ns;
		snprintf(row->where, sizeof(row->where), "%s:%d", line->file, line->line);
		snprintf(row->source, sizeof(row->source), "%s", line->source ? line->source : "");
	}
}

/* Keeps what went wrong; 0 or a negative errno for output_file_write(). */
static int fold_group(struct fleet_table *table, const struct group_row *row,
		      struct recording_fold *fold)
{
	table->code = fleet_group_fold(&table->groups, row->group, false, fold);
	return table->code ? -ECANCELED : 0;
}

/* Not again for a further output. */
static int judge_groups(struct fleet_table *table)
{
	for (size_t i = 0; i < table->groups.count; i++) {
		struct group_row *row = &table->rows[i];
		struct recording_fold fold;
		int failure;

		if (row->avoidable.interval.high > 0)
			continue;
		failure = fold_group(table, row, &fold);
		if (failure)
			return failure;
		row->avoidable = avoidable_sum_of(fold.profile);
		note_worst(row, fold.profile);
		recording_fold_close(&fold);
	}
	return 0;
}

/* ---- as text */

static struct figure figure_saving(const struct group_row *row)
{
	struct figure figure = { "-" };
	double whole = (double)row->group->cpu_ns;

	if (row->group->cpu_ns)
		snprintf(figure.text, sizeof(figure.text), "%.0f%% (%.0f to %.0f%%)",
			 100 * row->avoidable.ns / whole, 100 * row->avoidable.interval.low / whole,
			 100 * row->avoidable.interval.high / whole);
	return figure;
}

static void put_text_row(const struct fleet_table *table, const struct text_layout *layout,
			 const struct group_row *row)
{
	const char *value = row->group->value;

	text_cell(layout, value[0] ? value : "-", 24);
	fprintf(layout->file, " %10zu %9s %7s  ", row->group->recordings,
		figure_ns(row->group->cpu_ns).text,
		figure_part(row->group->cpu_ns, table->groups.cpu_ns).text);
	text_cell(layout, figure_saving(row).text, 18);
	fputs("  ", layout->file);
	text_path_cell(layout, row->where[0] ? row->where : "-", "", layout->columns - 75, false);
	fputc('\n', layout->file);
	if (row->source[0]) {
		fprintf(layout->file, "%26s", "");
		text_last_cell(layout, row->source, layout->columns - 26);
	}
}

static int put_text(struct fleet_table *table, FILE *file)
{
	const struct writer_options *options = table->terminal;
	struct text_layout layout = { .file = file, .columns = text_columns(options->columns) };
	size_t maximum = options->lines_max ? options->lines_max : ROWS_DEFAULT;

	fprintf(file, "%-24s recordings  CPU time   share  could save          most of it at\n",
		table->options->by->name);
	for (size_t i = 0; i < table->groups.count && i < maximum; i++)
		put_text_row(table, &layout, &table->rows[i]);
	if (table->groups.count > maximum)
		fprintf(file, "  (%zu more; --lines N shows more)\n",
			table->groups.count - maximum);
	return ferror(file) ? -EIO : 0;
}

/* ---- as JSON */

static json_t *json_row(const struct fleet_table *table, const struct group_row *row)
{
	json_t *object = json_object();

	object = json_with(object, table->options->by->name, json_text(row->group->value));
	object = json_with(object, "recordings", json_count(row->group->recordings));
	object = json_with(object, "cpu_ns", json_count(row->group->cpu_ns));
	object = json_with(object, "avoidable_ns", json_count((uint64_t)row->avoidable.ns));
	object = json_with(object, "avoidable_low_ns",
			   json_count((uint64_t)row->avoidable.interval.low));
	object = json_with(object, "avoidable_high_ns",
			   json_count((uint64_t)row->avoidable.interval.high));
	object = json_with(object, "most_at", json_text_or_null(row->where[0] ? row->where : NULL));
	object = json_with(object, "most_source",
			   json_text_or_null(row->source[0] ? row->source : NULL));
	return json_with(object, "most_avoidable_ns", json_count(row->where_ns));
}

static int put_json(struct fleet_table *table, FILE *file)
{
	int result = 0;

	fputs("[", file);
	for (size_t i = 0; i < table->groups.count && !result; i++) {
		fputs(i ? ",\n" : "\n", file);
		result = json_put(file, json_row(table, &table->rows[i]));
	}
	fputs("\n]\n", file);
	return result;
}

/* ---- as rows */

static int put_rows(struct fleet_table *table, FILE *file)
{
	int result = 0;

	for (size_t i = 0; i < table->groups.count && !result; i++) {
		struct recording_fold fold;

		result = fold_group(table, &table->rows[i], &fold);
		if (result)
			break;
		result = writer_rows.write(fold.profile, table->terminal, file);
		recording_fold_close(&fold);
	}
	return result;
}

static int put_table(void *context, FILE *file)
{
	struct fleet_table *table = context;
	int result;

	if (table->writer == &writer_rows)
		return put_rows(table, file);
	result = judge_groups(table);
	if (result)
		return result;
	return table->writer == &writer_json ? put_json(table, file) : put_text(table, file);
}

static enum exit_code write_outputs(struct fleet_table *table)
{
	const struct options_output terminal = { .path = "-", .writer = &writer_text };
	unsigned count = table->options->output_count;
	const struct options_output *outputs = count ? table->options->outputs : &terminal;

	for (unsigned i = 0; i < (count ? count : 1) && !table->code; i++) {
		int failure;

		table->writer = outputs[i].writer;
		failure = output_file_write(outputs[i].path, put_table, table);
		if (!failure || table->code || (failure == -EPIPE && !strcmp(outputs[i].path, "-")))
			continue;
		fprintf(stderr, "pieprofd: %s could not be written: %s\n", outputs[i].path,
			strerror(-failure));
		table->code = EXIT_INTERNAL;
	}
	return table->code;
}

enum exit_code fleet_table_report(const struct options *options,
				  const struct writer_options *terminal,
				  const struct recording_list *list)
{
	struct fleet_table table = { .options = options, .terminal = terminal };
	enum exit_code code = fleet_groups_find(&table.groups, options->by, list);

	if (!code)
		code = make_rows(&table);
	if (!code)
		code = write_outputs(&table);
	free(table.rows);
	fleet_groups_deinit(&table.groups);
	return code;
}

/* SPDX-License-Identifier: Apache-2.0 */
#include "daemon/cli/fleet_diff.h"

#include "common/printable.h"
#include "daemon/cli/fleet_groups.h"
#include "daemon/cli/threshold_check.h"
#include "daemon/report/diff/diff.h"
#include "daemon/report/format/json_value.h"
#include "daemon/report/format/output_file.h"
#include "daemon/report/format/text_layout.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#define ROWS_DEFAULT  20
#define WHERE_BYTES   512
#define VALUE_WIDTH   24
#define VALUE_COLUMNS 80 /* on stderr */

/* The line whose own time changed most, of those that stand out. */
struct changed_line {
	char where[WHERE_BYTES], source[WHERE_BYTES]; /* "": there is none */
	double rate[DIFF_SIDES];                      /* ms of CPU a second */
	struct interval change;
};

struct value_row {
	const char *value;
	const struct fleet_group *groups[DIFF_SIDES]; /* NULL: that set has none */
	double cpu_rate[DIFF_SIDES], avoidable_rate[DIFF_SIDES];
	/* Of values that both sets have. */
	struct interval avoidable[DIFF_SIDES];
	bool avoidable_noise;
	size_t lines_changed;
	struct changed_line most;
};

struct fleet_diff {
	const struct options *options;
	const struct writer_options *terminal;
	const struct writer *writer; /* of the output in hand */
	struct fleet_groups groups[DIFF_SIDES];
	struct value_row *rows;
	size_t count;
	enum exit_code changed; /* EXIT_CHANGED: a threshold was broken */
};

bool fleet_diff_writes(const struct writer *writer)
{
	return writer == &writer_text || writer == &writer_json;
}

static enum exit_code refuse_memory(void)
{
	fprintf(stderr, "pieprofd: out of memory\n");
	return EXIT_INTERNAL;
}

/* ---- which values there are, of either set */

static int add_values(struct fleet_diff *fleet, struct string_table *values, enum diff_side side)
{
	for (size_t i = 0; i < fleet->groups[side].count; i++) {
		const struct fleet_group *group = &fleet->groups[side].items[i];
		struct value_row *row;
		uint32_t number;

		if (string_table_find(values, group->value, &number))
			return -ENOMEM;
		row = &fleet->rows[number];
		fleet->count = values->count;
		row->value = group->value;
		row->groups[side] = group;
		row->cpu_rate[side] = group->duration_ns ? 1e3 * (double)group->cpu_ns /
								   (double)group->duration_ns
							 : 0;
	}
	return 0;
}

static enum exit_code make_rows(struct fleet_diff *fleet)
{
	size_t most = fleet->groups[DIFF_BASE].count + fleet->groups[DIFF_NOW].count;
	struct string_table values = { 0 };
	enum exit_code code = EXIT_OK;

	fleet->rows = calloc(most ? most : 1, sizeof(fleet->rows[0]));
	if (!fleet->rows || add_values(fleet, &values, DIFF_NOW) ||
	    add_values(fleet, &values, DIFF_BASE))
		code = refuse_memory();
	string_table_deinit(&values);
	return code;
}

static bool is_of_both(const struct value_row *row)
{
	return row->groups[DIFF_BASE] && row->groups[DIFF_NOW];
}

/* ---- one value after the other */

static double change_of(const struct diff_entry *entry)
{
	return fabs(entry->time.rate[DIFF_NOW] - entry->time.rate[DIFF_BASE]);
}

static void note_lines(struct value_row *row, const struct diff *diff)
{
	const struct diff_entry *most = NULL;
	enum diff_side side;

	for (size_t i = 0; i < diff->line_count; i++) {
		const struct diff_entry *entry = &diff->lines[i];

		if (entry->time.noise)
			continue;
		row->lines_changed++;
		if (!most || change_of(entry) > change_of(most))
			most = entry;
	}
	if (!most)
		return;
	side = most->present[DIFF_NOW] ? DIFF_NOW : DIFF_BASE;
	snprintf(row->most.where, sizeof(row->most.where), "%s:%d", most->file, most->line[side]);
	snprintf(row->most.source, sizeof(row->most.source), "%s",
		 most->source && most->source[0] ? most->source : most->function);
	memcpy(row->most.rate, most->time.rate, sizeof(row->most.rate));
	row->most.change = most->time.rate_change;
}

static void check_row(struct fleet_diff *fleet, const struct value_row *row,
		      const struct diff *diff)
{
	char value[PRINTABLE_BYTES(VALUE_COLUMNS)], of[sizeof(value) + 64];

	printable_fit(value, sizeof(value), row->value[0] ? row->value : "-", VALUE_COLUMNS, false);
	snprintf(of, sizeof(of), "%s %s: ", fleet->options->by->name, value);
	if (threshold_check(fleet->options, diff, of))
		fleet->changed = EXIT_CHANGED;
}

static enum exit_code compare_folds(struct fleet_diff *fleet, struct value_row *row,
				    const struct recording_fold folds[DIFF_SIDES])
{
	const struct profile *const profiles[DIFF_SIDES] = { folds[DIFF_BASE].profile,
							     folds[DIFF_NOW].profile };
	const struct spread *const spreads[DIFF_SIDES] = { folds[DIFF_BASE].spread,
							   folds[DIFF_NOW].spread };
	struct diff *diff = diff_create_of_sets(profiles, spreads);

	if (!diff)
		return refuse_memory();
	memcpy(row->cpu_rate, diff->cpu_rate, sizeof(row->cpu_rate));
	memcpy(row->avoidable_rate, diff->avoidable_rate, sizeof(row->avoidable_rate));
	memcpy(row->avoidable, diff->avoidable, sizeof(row->avoidable));
	row->avoidable_noise = diff->avoidable_noise;
	note_lines(row, diff);
	check_row(fleet, row, diff);
	diff_destroy(diff);
	return EXIT_OK;
}

static enum exit_code compare_row(struct fleet_diff *fleet, struct value_row *row)
{
	struct recording_fold folds[DIFF_SIDES];
	enum exit_code code = fleet_group_fold(&fleet->groups[DIFF_BASE], row->groups[DIFF_BASE],
					       true, &folds[DIFF_BASE]);

	if (code)
		return code;
	code = fleet_group_fold(&fleet->groups[DIFF_NOW], row->groups[DIFF_NOW], true,
				&folds[DIFF_NOW]);
	if (!code) {
		code = compare_folds(fleet, row, folds);
		recording_fold_close(&folds[DIFF_NOW]);
	}
	recording_fold_close(&folds[DIFF_BASE]);
	return code;
}

static enum exit_code compare_rows(struct fleet_diff *fleet)
{
	enum exit_code code = EXIT_OK;

	for (size_t i = 0; i < fleet->count && !code; i++)
		if (is_of_both(&fleet->rows[i]))
			code = compare_row(fleet, &fleet->rows[i]);
	return code;
}

/* What both have first, by how much its most changed line did; then what is new, then what is gone.
 */
static int by_change(const void *left, const void *right)
{
	const struct value_row *a = left, *b = right;
	int rank_a = is_of_both(a) ? 0 : a->groups[DIFF_NOW] ? 1 : 2;
	int rank_b = is_of_both(b) ? 0 : b->groups[DIFF_NOW] ? 1 : 2;
	double more_a = fabs(a->most.rate[DIFF_NOW] - a->most.rate[DIFF_BASE]);
	double more_b = fabs(b->most.rate[DIFF_NOW] - b->most.rate[DIFF_BASE]);

	if (rank_a != rank_b)
		return rank_a < rank_b ? -1 : 1;
	if (more_a != more_b)
		return more_a > more_b ? -1 : 1;
	return strcmp(a->value, b->value);
}

/* ---- as text */

static struct figure figure_recordings(const struct value_row *row, enum diff_side side)
{
	struct figure figure = { "-" };

	if (row->groups[side])
		snprintf(figure.text, sizeof(figure.text), "%zu", row->groups[side]->recordings);
	return figure;
}

static struct figure figure_rate(const struct value_row *row, enum diff_side side, double rate)
{
	struct figure figure = { "-" };

	if (row->groups[side])
		snprintf(figure.text, sizeof(figure.text), "%.1f", rate);
	return figure;
}

/* Of values that both sets have. */
static void put_text_changes(const struct text_layout *layout, const struct value_row *row)
{
	fprintf(layout->file, "%9.1f %7.1f%s %6zu\n", row->avoidable_rate[DIFF_BASE],
		row->avoidable_rate[DIFF_NOW], row->avoidable_noise ? " ~" : "  ",
		row->lines_changed);
	if (!row->lines_changed)
		return;
	fprintf(layout->file, "    %+.1f (%+.1f to %+.1f)  ",
		row->most.rate[DIFF_NOW] - row->most.rate[DIFF_BASE], row->most.change.low,
		row->most.change.high);
	text_path_cell(layout, row->most.where, "", (layout->columns - 36) / 2, false);
	fputs("  ", layout->file);
	text_last_cell(layout, row->most.source, (layout->columns - 36) / 2);
}

static void put_text_row(const struct text_layout *layout, const struct value_row *row)
{
	text_cell(layout, row->value[0] ? row->value : "-", VALUE_WIDTH);
	fprintf(layout->file, " %6s %6s %8s %8s ", figure_recordings(row, DIFF_BASE).text,
		figure_recordings(row, DIFF_NOW).text,
		figure_rate(row, DIFF_BASE, row->cpu_rate[DIFF_BASE]).text,
		figure_rate(row, DIFF_NOW, row->cpu_rate[DIFF_NOW]).text);
	if (is_of_both(row))
		put_text_changes(layout, row);
	else
		fprintf(layout->file, "%9s\n", row->groups[DIFF_NOW] ? "new" : "gone");
}

static int put_text(const struct fleet_diff *fleet, FILE *file)
{
	const struct writer_options *options = fleet->terminal;
	struct text_layout layout = { .file = file, .columns = text_columns(options->columns) };
	size_t maximum = options->lines_max ? options->lines_max : ROWS_DEFAULT;

	fprintf(file,
		"%*s    recordings   CPU ms a second       could save   lines\n"
		"%-*s   base    now     base      now      base     now  changed\n",
		VALUE_WIDTH - 1, "", VALUE_WIDTH, fleet->options->by->name);
	for (size_t i = 0; i < fleet->count && i < maximum; i++)
		put_text_row(&layout, &fleet->rows[i]);
	if (fleet->count > maximum)
		fprintf(file, "  (%zu more; --lines N shows more)\n", fleet->count - maximum);
	fputs("\nBelow a row: the line whose own time changed most, ms of CPU a second with the "
	      "95% "
	      "interval.\nLines and \"could save\" change by more than chance; ~: within noise.\n",
	      file);
	return ferror(file) ? -EIO : 0;
}

/* ---- as JSON */

static json_t *json_two(json_t *base, json_t *now)
{
	return json_appended(json_appended(json_array(), base), now);
}

static json_t *json_rates(const struct value_row *row, const double rates[DIFF_SIDES])
{
	return json_two(row->groups[DIFF_BASE] ? json_figure(rates[DIFF_BASE]) : json_null(),
			row->groups[DIFF_NOW] ? json_figure(rates[DIFF_NOW]) : json_null());
}

static json_t *json_interval(struct interval interval)
{
	return json_two(json_figure(interval.low), json_figure(interval.high));
}

static json_t *json_recordings(const struct fleet_group *group)
{
	return json_count(group ? group->recordings : 0);
}

static json_t *json_cpu(const struct fleet_group *group)
{
	return json_count(group ? group->cpu_ns : 0);
}

static json_t *json_most(const struct changed_line *most)
{
	json_t *object;

	if (!most->where[0])
		return json_null();
	object = json_with(json_object(), "at", json_text(most->where));
	object = json_with(object, "source", json_text(most->source));
	object = json_with(
		object, "ms_per_s",
		json_two(json_figure(most->rate[DIFF_BASE]), json_figure(most->rate[DIFF_NOW])));
	return json_with(object, "ms_per_s_change_interval", json_interval(most->change));
}

/* What only both sets together tell. */
static json_t *with_changes(json_t *object, const struct value_row *row)
{
	object = json_with(object, "avoidable_ms_per_s", json_rates(row, row->avoidable_rate));
	object = json_with(object, "avoidable_ms_per_s_interval",
			   json_two(json_interval(row->avoidable[DIFF_BASE]),
				    json_interval(row->avoidable[DIFF_NOW])));
	object = json_with(object, "avoidable_noise", json_boolean(row->avoidable_noise));
	object = json_with(object, "lines_changed", json_count(row->lines_changed));
	return json_with(object, "most_changed", json_most(&row->most));
}

static json_t *json_row(const struct fleet_diff *fleet, const struct value_row *row)
{
	const struct fleet_group *base = row->groups[DIFF_BASE], *now = row->groups[DIFF_NOW];
	json_t *object = json_object();

	object = json_with(object, fleet->options->by->name, json_text(row->value));
	object = json_with(object, "presence", json_text(!base ? "new" : !now ? "gone" : "both"));
	object = json_with(object, "recordings",
			   json_two(json_recordings(base), json_recordings(now)));
	object = json_with(object, "cpu_ns", json_two(json_cpu(base), json_cpu(now)));
	object = json_with(object, "cpu_ms_per_s", json_rates(row, row->cpu_rate));
	return is_of_both(row) ? with_changes(object, row) : object;
}

static int put_json(const struct fleet_diff *fleet, FILE *file)
{
	int result = 0;

	fputs("[", file);
	for (size_t i = 0; i < fleet->count && !result; i++) {
		fputs(i ? ",\n" : "\n", file);
		result = json_put(file, json_row(fleet, &fleet->rows[i]));
	}
	fputs("\n]\n", file);
	return result;
}

static int put_table(void *context, FILE *file)
{
	const struct fleet_diff *fleet = context;

	return fleet->writer == &writer_json ? put_json(fleet, file) : put_text(fleet, file);
}

static enum exit_code write_outputs(struct fleet_diff *fleet)
{
	const struct options_output terminal = { .path = "-", .writer = &writer_text };
	unsigned count = fleet->options->output_count;
	const struct options_output *outputs = count ? fleet->options->outputs : &terminal;
	enum exit_code code = EXIT_OK;

	for (unsigned i = 0; i < (count ? count : 1); i++) {
		int failure;

		fleet->writer = outputs[i].writer;
		failure = output_file_write(outputs[i].path, put_table, fleet);
		if (!failure || (failure == -EPIPE && !strcmp(outputs[i].path, "-")))
			continue;
		fprintf(stderr, "pieprofd: %s could not be written: %s\n", outputs[i].path,
			strerror(-failure));
		code = EXIT_INTERNAL;
	}
	return code;
}

enum exit_code fleet_diff_report(const struct options *options,
				 const struct writer_options *terminal,
				 const struct recording_list *list,
				 const struct recording_list *base)
{
	struct fleet_diff fleet = { .options = options, .terminal = terminal };
	enum exit_code code = fleet_groups_find(&fleet.groups[DIFF_BASE], options->by, base);

	if (!code)
		code = fleet_groups_find(&fleet.groups[DIFF_NOW], options->by, list);
	if (!code)
		code = make_rows(&fleet);
	if (!code)
		code = compare_rows(&fleet);
	if (!code) {
		qsort(fleet.rows, fleet.count, sizeof(fleet.rows[0]), by_change);
		code = write_outputs(&fleet);
	}
	free(fleet.rows);
	for (unsigned s = 0; s < DIFF_SIDES; s++)
		fleet_groups_deinit(&fleet.groups[s]);
	return code ? code : fleet.changed;
}
